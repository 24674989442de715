#pragma once
// The equations of the cases as eddy takes them; arms/problems.py has the same for Python.

#include <eddy/eddy.hpp>

namespace peers {

struct Lorenz {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1],
                         y[0] * y[1] - p[2] * y[2]);
    }
};

struct VanDerPol {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]);
    }
};

/// |y|² at the end.
struct SquaredNorm {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

}  // namespace peers
