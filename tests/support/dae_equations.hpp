#pragma once
// Differential-algebraic equations M dy/dt = f(t, y, p) of index 1 that tests share.

#include <cmath>
#include <eddy/core/vec_math.hpp>
#include <eddy/trace/functions.hpp>

namespace support {

/// Three reactions of Robertson 1966, the third species by conservation; p as for the ODE.
struct RobertsonDae {
    static constexpr int state_size = 3, parameter_size = 3;
    static constexpr double mass[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}};
    static constexpr double y0[] = {1, 0, 0}, p0[] = {0.04, 1e4, 3e7};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto first = p[0] * y[0], second = p[1] * y[1] * y[2], third = p[2] * y[1] * y[1];
        return eddy::vec(second - first, first - second - third, y[0] + y[1] + y[2] - 1.0);
    }
};

/// A substance in two forms that are in equilibrium, one of which decays: y = (all of it, the form that
/// decays), p = (rate k, constant of equilibrium K):
///   y0 = s exp(−k K t / (1 + K)),  y1 = K y0 / (1 + K).
struct Equilibrium {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr double mass[2][2] = {{1, 0}, {0, 0}};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[1], y[1] - p[1] * (y[0] - y[1]));
    }
};

/// A mass matrix that is not diagonal, algebraic equations in rows of components that they do not
/// contain, and time: with u = y0 + 2 y1,
///   du/dt = −p0 u,   y2 = y0 + 1,   y1 = p1 t.
struct Mixed {
    static constexpr int state_size = 3, parameter_size = 2;
    static constexpr double mass[3][3] = {{1, 2, 0}, {0, 0, 0}, {0, 0, 0}};
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * (y[0] + 2.0 * y[1]), y[2] - y[0] - 1.0, y[1] - p[1] * t);
    }
    static double exact(int component, double t0, double u0, const double (&p)[2], double t) {
        const double u = u0 * std::exp(-p[0] * (t - t0)), y1 = p[1] * t, y0 = u - 2 * y1;
        return component == 0 ? y0 : component == 1 ? y1 : y0 + 1;
    }
};

/// A pendulum's driven cousin: everything meets everything; the last component solves a cubic
/// equation, y2 + y2³ = p1 y0 + sin t.
struct Cubic {
    static constexpr int state_size = 3, parameter_size = 2;
    static constexpr double mass[3][3] = {{2, 0, 0}, {1, 1, 0}, {0, 0, 0}};
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1] * y[2], -p[0] * y[1] + y[0] * eddy::cos(t),
                         y[2] + y[2] * y[2] * y[2] - p[1] * y[0] - eddy::sin(t));
    }
};

/// dy0/dt = −y1 with y1² = p0: nothing to begin with where p0 < 0.
struct SquareRoot {
    static constexpr int state_size = 2, parameter_size = 1;
    static constexpr double mass[2][2] = {{1, 0}, {0, 0}};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[1], y[1] * y[1] - p[0]);
    }
};

}  // namespace support
