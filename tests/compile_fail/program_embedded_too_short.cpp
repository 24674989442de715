// expect: embed: an argument has another shape than the program was traced with; give a number for a Scalar
#include <eddy/trace/evaluate.hpp>

constexpr auto energy = eddy::trace<eddy::Vector<3>>([](const auto& x) { return eddy::dot(x, x); });
constexpr auto program = eddy::trace<eddy::Vector<4>>([](const auto& x) {
#ifdef EDDY_BAD
    return energy(x);
#else
    return energy(eddy::slice<1, 3>(x));
#endif
});
