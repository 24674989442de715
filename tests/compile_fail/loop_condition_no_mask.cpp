// expect: bounded_while: the condition must be one comparison of traced values, such as abs\(x\) > 1e-12; of a vector, compare a number such as its norm
// Trajectories leave a loop by a mask.
#include <eddy/trace/evaluate.hpp>

constexpr auto program = eddy::trace<eddy::Vector<2>>([](const auto& y) {
    return eddy::bounded_while<9>(
        y,
#ifdef EDDY_BAD
        [](const auto& z) { return abs(z) > 1; },
#else
        [](const auto& z) { return norm(z) > 1; },
#endif
        [](const auto& z) { return z * 0.5; });
});
