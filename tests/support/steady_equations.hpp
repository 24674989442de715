#pragma once
// Equations that come to rest, some of them slowly, or not at all.

#include <eddy/core/vec_math.hpp>

namespace support {

/// Two genes that repress each other: which of them wins depends on the start. p: their strengths.
struct Switch {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto a = y[0] * y[0], b = y[1] * y[1];
        return eddy::vec(p[0] / (1.0 + b * b) - y[0], p[1] / (1.0 + a * a) - y[1]);
    }
};

/// Rates of 1e6 and 1e-6: at rest y1 = p0 / p1, y0 = y1².
struct SlowManifold {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-1e6 * (y[0] - y[1] * y[1]), 1e-6 * (p[0] - p[1] * y[1]));
    }
};

/// A ⇌ B, whose sum is conserved: as it is, and with the sum, p2, in place of the second equation.
struct Isomers {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto flow = p[0] * y[0] - p[1] * y[1];
        return eddy::vec(-flow, flow);
    }
};
struct IsomersOfSum {
    static constexpr int state_size = 2, parameter_size = 3;
    static constexpr double mass[2][2] = {{1, 0}, {0, 0}};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[1] - p[0] * y[0], y[0] + y[1] - p[2]);
    }
};

}  // namespace support
