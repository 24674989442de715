#pragma once
// Vector fields dy/dt = f(t, y, p) that tests and benchmarks share.

#include <eddy/core/vec_math.hpp>
#include <eddy/trace/functions.hpp>
#include <type_traits>

namespace support {

/// Lorenz 1963, J. Atmos. Sci. 20(2), eqs. 25-27, with p = (σ, ρ, β).
struct Lorenz {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1],
                         y[0] * y[1] - p[2] * y[2]);
    }
};

/// Seven bodies in the plane with masses 1 to 7 and G = 1; y = (x1..x7, y1..y7, x'1..x'7,
/// y'1..y'7). Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, II.10.
struct Pleiades {
    static constexpr int state_size = 28, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        eddy::Vec<std::remove_cvref_t<decltype(y[0])>, 28> dy{};
        for (int i = 0; i < 14; ++i) dy[i] = y[14 + i];
        for (int i = 0; i < 7; ++i) {
            const int first = i == 0 ? 1 : 0;
            for (int j = first; j < 7; ++j) {
                if (j == i) continue;
                const auto dx = y[j] - y[i], dz = y[7 + j] - y[7 + i];
                const auto squared = dx * dx + dz * dz;
                const auto cubed = squared * eddy::sqrt(squared);
                const auto x_pull = (j + 1.0) * dx / cubed, z_pull = (j + 1.0) * dz / cubed;
                dy[14 + i] = j == first ? x_pull : dy[14 + i] + x_pull;
                dy[21 + i] = j == first ? z_pull : dy[21 + i] + z_pull;
            }
        }
        return dy;
    }
};

/// A neural network 2-64-64-2 with tanh between its layers; p holds weights (row-major) and bias of
/// each layer in turn.
struct Mlp {
    static constexpr int width = 64, state_size = 2;
    static constexpr int parameter_size = (2 + 1) * width + (width + 1) * width + (width + 1) * 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto first = layer<0, width, 2>(p, y);
        const auto second = layer<3 * width, width, width>(p, eddy::tanh(first));
        return layer<3 * width + (width + 1) * width, 2, width>(p, eddy::tanh(second));
    }

  private:
    template <int begin, int rows, int columns>
    static constexpr auto layer(const auto& p, const auto& x) {
        return eddy::dense(eddy::slice<begin, rows * columns>(p),
                           eddy::slice<begin + rows * columns, rows>(p), x);
    }
};

}  // namespace support
