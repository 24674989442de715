#pragma once
// Stochastic equations that several tests solve.

#include <eddy/steppers/stochastic/columns.hpp>
#include <eddy/trace/functions.hpp>

namespace support {

/// Geometric Brownian motion; p = (growth, volatility).
struct GeometricBrownian {
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};

/// Two noises that do not commute, four entries that are not zero, all of + − × ÷.
struct MixedNoise {
    static constexpr int state_size = 2, parameter_size = 3;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (1. - y[0]) + 0.1 * t, y[0] - p[1] * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::columns(eddy::vec(p[2] * y[0], 0.2 * y[1]),
                             eddy::vec(0.1 * y[1], p[2] / (1. + y[0] * y[0])));
    }
};

/// More parameters than lanes sum by themselves, where they are shared.
struct CrowdedNoise {
    static constexpr int state_size = 1, parameter_size = 65;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(-1. * eddy::sum(p) * y[0]);
    }
    constexpr auto diffusion(auto, const auto&, const auto& p) const {
        return eddy::vec(10. * p[0]);
    }
};

/// The integral of one noise along another.
struct NoiseAlongNoise {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return 0. * y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::columns(eddy::vec(1., 0.), eddy::vec(0., y[0]));
    }
};

}  // namespace support
