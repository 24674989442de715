// expect: missing_as_nan: the loss adds what reads no data to terms of several values
// One logarithm for both values: which of them is it missing with?
#include <eddy/solve/lane/objective.hpp>
#include <eddy/trace/trace.hpp>

struct Gaussian {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto r = (y - data) / p[0];
#ifdef EDDY_BAD
        return 2 * eddy::log(p[0]) + 0.5 * dot(r, r);
#else
        return sum(eddy::log(p[0]) + 0.5 * r * r);
#endif
    }
};
using Traced =
    decltype(eddy::trace<eddy::Scalar, eddy::Vector<2>, eddy::Vector<1>, eddy::Vector<2>>(
        Gaussian{}));

int size() { return eddy::Program<eddy::detail::WithoutMissing<Traced>>::graph.size(); }
