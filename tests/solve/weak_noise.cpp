// DRI1 for noises that do not commute, through solve: means, gradients of the computed steps, the same bits
// whatever is kept and whoever computes them.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/dri1.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::Array;
using support::HalfSquares;
using support::MixedNoise;
using support::NoiseAlongNoise;

const eddy::DRI1 method;

Array filled(std::ptrdiff_t lanes, std::initializer_list<double> row) {
    Array array(lanes, static_cast<std::ptrdiff_t>(row.size()));
    std::ptrdiff_t i = 0;
    for (const double value : row) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) array(lane, i) = value;
        ++i;
    }
    return array;
}

}  // namespace

TEST_CASE("weak noise: the integral of one noise along another has its second moment") {
    // E y2² = ½, which coarse steps know exactly; E y2⁴ = 7/4 bounds the standard error.
    const double paths = 100'000;
    const auto found =
        eddy::solve(NoiseAlongNoise{}, method, Array(1, 2, 0.), Array(1, 0),
                    {.t1 = 1, .dt0 = 0.25, .seed = 8, .paths = static_cast<std::int64_t>(paths)});
    CHECK(std::abs(found.mean()(0, 1)) < 5 * std::sqrt(0.5 / paths));
    CHECK(std::abs(found.variance()(0, 1) - 0.5) < 5 * std::sqrt((1.75 - 0.25) / paths));
    CHECK(std::abs(found.variance()(0, 0) - 1) < 5 * std::sqrt(2 / paths));
}

TEST_CASE("weak noise: reverse is forward, is the difference of the same steps") {
    const Array y0 = filled(3, {0.9, 0.4}), p = filled(3, {0.7, 0.8, 0.3});
    const eddy::SolveOptions options{
        .t1 = 1, .dt0 = 1. / 16, .seed = 4, .antithetic = true, .noise_cell = 1. / 8};
    const auto solution = eddy::solve(MixedNoise{}, method, y0, p, options);
    const auto pulled = eddy::pullback(solution, filled(3, {0.6, -1.1}));
    const auto value = [&](const Array& from, const Array& with, int lane) {
        const auto moved = eddy::solve(MixedNoise{}, method, from, with, options);
        return 0.6 * moved.y()(lane, 0) - 1.1 * moved.y()(lane, 1);
    };
    for (int i = 0; i < 5; ++i) {
        const auto moved = [&](double by) {
            std::pair<Array, Array> at{y0, p};
            for (int lane = 0; lane < 3; ++lane)
                (i < 2 ? at.first(lane, i) : at.second(lane, i - 2)) += by;
            return at;
        };
        Array y0_tangent = filled(3, {0, 0}), p_tangent = filled(3, {0, 0, 0});
        for (int lane = 0; lane < 3; ++lane)
            (i < 2 ? y0_tangent(lane, i) : p_tangent(lane, i - 2)) = 1;
        const auto forward =
            eddy::pushforward(MixedNoise{}, method, y0, p, y0_tangent, p_tangent, options);
        const auto [up_y, up_p] = moved(1e-5);
        const auto [down_y, down_p] = moved(-1e-5);
        for (int lane = 0; lane < 3; ++lane) {
            const double reverse = i < 2 ? pulled.y0(lane, i) : pulled.p(lane, i - 2);
            const double tangent =
                0.6 * forward.tangent()(lane, 0) - 1.1 * forward.tangent()(lane, 1);
            CHECK(reverse == Approx(tangent).epsilon(1e-12).margin(1e-14));
            CHECK(reverse == Approx((value(up_y, up_p, lane) - value(down_y, down_p, lane)) / 2e-5)
                                 .epsilon(1e-6)
                                 .margin(1e-8));
        }
    }
}

TEST_CASE("weak noise: gradients have the same bits whatever is kept, on any backend") {
    const Array y0 = filled(19, {0.9, 0.4}), p = filled(19, {0.7, 0.8, 0.3});
    eddy::SolveOptions options{.t1 = 2, .save_at = {0.7, 2}, .dt0 = 1. / 16, .seed = 9};
    const std::vector<Array> targets(2, filled(1, {0.1, 0.3}));
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(MixedNoise{}, method, HalfSquares{}, targets, y0, p,
                                        options, backend);
    };
    const auto expected = gradient(eddy::Serial{});
    for (const std::int64_t checkpoints : {0, 3}) {
        for (const std::size_t budget : {std::size_t{256} << 20, std::size_t{4000}}) {
            options.checkpoints = checkpoints;
            options.memory_budget = budget;
            CAPTURE(checkpoints, budget);
            const auto found = gradient(eddy::Cpu{.threads = 2});
            CHECK(support::same_array(expected.gradient.y0, found.gradient.y0));
            CHECK(support::same_array(expected.gradient.p, found.gradient.p));
        }
    }
}
