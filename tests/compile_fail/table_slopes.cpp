// expect: interpolate: cubic_hermite takes slopes behind the values
#include <eddy/trace/evaluate.hpp>

constexpr double knots[] = {0, 1, 2};
constexpr auto table = eddy::trace<eddy::Vector<3>, eddy::Scalar>([](const auto& v, const auto& x) {
#ifdef EDDY_BAD
    return eddy::interpolate(eddy::cubic_hermite, knots, v, x);
#else
    return eddy::interpolate(eddy::cubic_hermite, knots, v, v, x);
#endif
});
