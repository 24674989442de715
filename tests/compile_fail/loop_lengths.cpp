// expect: repeat, scan: nested_lengths must be positive, and their product the number of turns
// Groups of turns that are not all of them.
#include <eddy/trace/evaluate.hpp>

constexpr auto program = eddy::trace<eddy::Scalar>([](const auto& x) {
#ifdef EDDY_BAD
    return eddy::repeat<6>(x, [](const auto& z) { return z * 0.5; }, {.nested_lengths = {2, 2}});
#else
    return eddy::repeat<6>(x, [](const auto& z) { return z * 0.5; }, {.nested_lengths = {2, 3}});
#endif
});
