#pragma once
// Several paths to a lane: what Serial makes of them, and a device, Cuda or one that is emulated.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace path_cases {

using support::Array;

/// Two noises; + and × alone. Leaves all bounds where the noise takes it far enough.
struct Pair {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0] * y[0], y[0] - p[1] * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::vec(1., 0.2 * y[1]);
    }
};

inline const eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 32, .seed = 3, .paths = 70};
inline const eddy::SolveOptions saving{
    .t1 = 1, .save_at = {0.4, 1}, .dt0 = 1. / 32, .seed = 3, .paths = 70};

auto solve(const auto& y0, const Array& p, const auto& backend) {
    return eddy::solve(Pair{}, eddy::EulerMaruyama{}, y0, p, saving, backend);
}

/// Means and variances are those of Serial, without paths that fail.
void check_means(const auto& backend) {
    const Array y0(3, 2, 0.3), p(3, 2, 2.);
    const auto expected = solve(y0, p, eddy::Serial{});
    const auto found = solve(y0, p, backend);
    std::int64_t failed = 0;
    for (int lane = 0; lane < 3; ++lane) {
        failed += expected.failed_paths(lane);
        CHECK(found.failed_paths(lane) == expected.failed_paths(lane));
        CHECK(found.result(lane) == expected.result(lane));
        CHECK(found.stats(lane).accepted == expected.stats(lane).accepted);
    }
    CHECK(failed > 0);
    CHECK(failed < 3 * 70);
    for (int k = 0; k < 2; ++k) {
        CHECK(support::same_array(found.mean(k), expected.mean(k)));
        CHECK(support::same_array(found.variance(k), expected.variance(k)));
    }
}

/// So are the mean of the loss and its gradient.
void check_gradients(const auto& backend) {
    const Array y0(3, 2, 0.3), target(1, 2, 0.1);
    const std::vector<double> p{2, 1.5};
    const auto loss = [&](const auto& by) {
        return eddy::value_and_gradient(Pair{}, eddy::EulerMaruyama{}, support::HalfSquares{},
                                        target, y0, eddy::shared(p), options, by);
    };
    const auto expected = loss(eddy::Serial{}), found = loss(backend);
    CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(support::same_array(found.gradient.p, expected.gradient.p));
    CHECK(support::same_bits(found.loss.total, expected.loss.total));
    CHECK(support::same_bits(found.loss.total_of_successful, expected.loss.total_of_successful));
    for (int lane = 0; lane < 3; ++lane) {
        CHECK(support::same_bits(found.loss(lane), expected.loss(lane)));
        CHECK(found.report.failed_paths(lane) == expected.report.failed_paths(lane));
    }
}

}  // namespace path_cases
