#pragma once
// The ensemble of these programs as eddy takes it; see reference.hpp.

#include <cstddef>
#include <eddy/eddy.hpp>
#include <string>
#include <vector>

#include "reference.hpp"
#include "support/equations.hpp"
#include "table.hpp"

namespace benchmark {

using support::Lorenz;

/// y0 and p = (σ, ρ, β) of `num_lanes` lanes.
template <class Real>
struct LorenzLanes {
    eddy::EnsembleArray<Real> y0, p;

    explicit LorenzLanes(std::ptrdiff_t num_lanes) : y0(num_lanes, 3), p(num_lanes, 3) {
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            y0(lane, 0) = 1;
            p(lane, 0) = 10;
            p(lane, 1) = static_cast<Real>(rho_of(lane, num_lanes));
            p(lane, 2) = static_cast<Real>(8. / 3);
        }
    }
};

/// Rows 0, stride, 2·stride, … of a (lane, component) array, one after another.
template <class Array>
[[nodiscard]] std::vector<double> every_row(const Array& array, std::ptrdiff_t stride) {
    std::vector<double> values;
    for (std::ptrdiff_t lane = 0; lane < array.rows(); lane += stride) {
        for (std::ptrdiff_t i = 0; i < array.cols(); ++i)
            values.push_back(static_cast<double>(array(lane, i)));
    }
    return values;
}

/// |y|² at the end.
struct SquaredNorm {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto&) const {
        return eddy::dot(y, y);
    }
};

/// For the last column: the error and what a lane took on average.
[[nodiscard]] inline std::string error_and_steps(double error, const eddy::LaneStats& total,
                                                 std::ptrdiff_t num_lanes) {
    const auto lanes = static_cast<double>(num_lanes);
    return text("%.2e  (%.1f steps accepted, %.1f rejected)", error,
                static_cast<double>(total.accepted) / lanes,
                static_cast<double>(total.rejected) / lanes);
}

}  // namespace benchmark
