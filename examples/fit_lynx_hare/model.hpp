#pragma once
// The model, what is observed of it, and how far it is from the data.

#include <eddy/eddy.hpp>

namespace lynx_hare {

/// Lotka 1925, Elements of Physical Biology, ch. VIII; Volterra 1926, Nature 118, 558.
/// y = (hare, lynx), p = (a, b, c, d), t in years.
struct LotkaVolterra {
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - p[1] * y[0] * y[1],   // births, and hares that are caught
                         p[3] * y[0] * y[1] - p[2] * y[1]);  // fed lynxes, and deaths
    }
};

/// What is observed: the logarithms of both counts.
struct LogCounts {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::log(y); }
};

/// One term of the sum of squares; the data are logarithms.
struct SquaredLogError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto residual = eddy::log(y) - data;
        return eddy::dot(residual, residual);
    }
};

}  // namespace lynx_hare
