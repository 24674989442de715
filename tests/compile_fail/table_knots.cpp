// expect: interpolate: the knots must be finite and increase; sort the table by its knots
#include <eddy/trace/evaluate.hpp>

constexpr auto table = eddy::trace<eddy::Scalar>([](const auto& x) {
#ifdef EDDY_BAD
    constexpr double knots[] = {0, 2, 1};
#else
    constexpr double knots[] = {0, 1, 2};
#endif
    return eddy::interpolate(eddy::linear, knots, eddy::Vec<double, 3>{1, 2, 4}, x);
});
