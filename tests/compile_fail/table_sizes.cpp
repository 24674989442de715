// expect: interpolate: there must be at least 2 knots, and a value \(and a slope\) for each
#include <eddy/trace/evaluate.hpp>

constexpr auto table = eddy::trace<eddy::Vector<3>, eddy::Scalar>([](const auto& v, const auto& x) {
#ifdef EDDY_BAD
    constexpr double knots[] = {0, 1};
#else
    constexpr double knots[] = {0, 1, 2};
#endif
    return eddy::interpolate(eddy::linear, knots, v, x);
});
