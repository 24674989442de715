#pragma once
// Algebraic equations on a device, or one that is emulated: starts that are made consistent, gradients through
// them, and lanes that have nothing to begin with, as Serial has them.

#include <eddy/solvers/rodas5p.hpp>

#include "solve/device_cases.hpp"
#include "support/dae_equations.hpp"

namespace device_dae {

using support::Array;

/// Two columns, different in each lane.
inline Array varied(std::ptrdiff_t lanes, double first, double second) {
    Array array(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        array(lane, 0) = first + 0.003 * static_cast<double>(lane % 101);
        array(lane, 1) = second - 0.002 * static_cast<double>(lane % 67);
    }
    return array;
}

/// By start, rates and times; with all states kept and with three.
template <class Device>
void check_gradients(std::ptrdiff_t lanes) {
    const std::vector<Array> data(3, Array(1, 2, 0.1));
    for (const std::int64_t checkpoints : {0, 3}) {
        CAPTURE(checkpoints);
        const eddy::SolveOptions options{.t1 = 2,
                                         .rtol = 1e-6,
                                         .atol = 1e-9,
                                         .save_at = {0, 0.7, 2},
                                         .step_to = {0.5},
                                         .checkpoints = checkpoints,
                                         .stable_gradients = false};
        const auto differentiate = [&](const auto& backend) {
            return eddy::value_and_gradient(support::Equilibrium{}, eddy::Rodas5P{},
                                            support::HalfSquares{}, data, varied(lanes, 2, -4),
                                            varied(lanes, 0.7, 3), options, backend,
                                            eddy::differentiate_times);
        };

        const auto expected = differentiate(eddy::Serial{});
        const auto found = differentiate(Device{});

        CHECK(found.report.success());
        oracle::check_same(expected, found);
        CHECK(found.gradient.y0(17, 1) == 0);
        CHECK(found.gradient.p(17, 1) != 0);
    }
}

/// Lanes without a start say so, the others go on.
template <class Device>
void check_starts(std::ptrdiff_t lanes) {
    const Array y0(lanes, 2, 1.0);
    Array p(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = lane % 5 == 2 ? -1 : 0.5 + 0.01 * static_cast<double>(lane);
    const auto solve = [&](const auto& backend) {
        return eddy::solve(support::SquareRoot{}, eddy::Rodas5P{}, y0, p,
                           {.t1 = 1, .rtol = 1e-6, .save_at = {0, 0.4, 1}, .save_steps = true},
                           backend);
    };

    const auto expected = solve(eddy::Serial{});
    const auto found = solve(Device{});

    oracle::check_same(expected, found, false);
    CHECK(found.result(2) == eddy::Result::inconsistent_start);
    CHECK(found.failure(2).component == 1);
    CHECK(found.result(3) == eddy::Result::success);
}

}  // namespace device_dae
