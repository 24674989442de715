// expect: trace: a value that is computed in the body of a loop is used behind the loop; return it as a part of the state, or give it out of a scan by carry_and_out\(carry, out\)
// A value of a turn has no meaning behind its loop.
#include <eddy/trace/evaluate.hpp>

constexpr auto program = eddy::trace<eddy::Scalar>([](const auto& x) {
    auto total = x * 1.5;
    const auto last = eddy::repeat<3>(x, [&](const auto& z) {
#ifdef EDDY_BAD
        total = total + z;
#endif
        return z * z;
    });
    return last + total;
});
