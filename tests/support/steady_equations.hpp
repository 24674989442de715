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

/// Cells that eat what flows in, and a third species that follows what is left ever so fast and by which
/// they grow. y: food, cells, follower; p: dilution, inflow, largest growth, food of half of it, yield,
/// rate of the follower. Beyond zero growth has a pole.
struct Chemostat {
    static constexpr int state_size = 3, parameter_size = 6;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto growth = p[2] * y[2] / (p[3] + y[2]) * y[1];
        return eddy::vec(p[0] * (p[1] - y[0]) - growth / p[4], growth - p[0] * y[1],
                         p[5] * (y[0] - y[2]));
    }
};

}  // namespace support
