// Fields in two parts, through whole solves: reaction and diffusion, of which the one is stiff.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array, support::HalfSquares, support::rows;

/// The Brusselator in three cells of a line: p = (a, b, speed of diffusion).
struct Brusselator {
    static constexpr int state_size = 6, parameter_size = 3;
    constexpr auto stiff(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[2] * (y[2] - y[0]), p[2] * (y[3] - y[1]),
                         p[2] * (y[0] - 2.0 * y[2] + y[4]), p[2] * (y[1] - 2.0 * y[3] + y[5]),
                         p[2] * (y[2] - y[4]), p[2] * (y[3] - y[5]));
    }
    constexpr auto non_stiff(auto, const auto& y, const auto& p) const {
        return eddy::concat(cell(y[0], y[1], p),
                            eddy::concat(cell(y[2], y[3], p), cell(y[4], y[5], p)));
    }

  private:
    static constexpr auto cell(const auto& u, const auto& v, const auto& p) {
        return eddy::vec(p[0] + u * u * v - (p[1] + 1.0) * u, p[1] * u - u * u * v);
    }
};

const Array start = rows({{1, 3, 1.5, 2.5, 0.5, 2}}), rates = rows({{1, 3, 1e4}});

}  // namespace

TEST_CASE("imex: a field in parts goes wherever a field goes, with the same solution") {
    const auto end = [&](const auto& method, double rtol) {
        const auto solution = eddy::solve(Brusselator{}, method, start, rates,
                                          {.t1 = 2, .rtol = rtol, .atol = rtol}, eddy::Serial{});
        REQUIRE(solution.result(0) == eddy::Result::success);
        return std::pair(Array(solution.y()), solution.stats(0).accepted);
    };
    const auto exact = end(eddy::Rodas5P{}, 1e-10).first;
    const auto [pair, steps] = end(eddy::KenCarp4{}, 1e-6);
    const auto [explicitly, explicit_steps] = end(eddy::Tsit5{}, 1e-4);
    for (int i = 0; i < 6; ++i) {
        CHECK(pair(0, i) == Approx(exact(0, i)).epsilon(5e-5));
        CHECK(explicitly(0, i) == Approx(exact(0, i)).epsilon(5e-3));
    }
    CHECK(steps < 200);
    CHECK(explicit_steps > 5000);
}

TEST_CASE("imex: reverse mode is forward mode, and lanes have their bits in packs") {
    constexpr int lanes = 9;
    Array starts(lanes, 6), parameters(lanes, 3), direction(lanes, 3), none(lanes, 6);
    for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 6; ++i) starts(lane, i) = start(0, i);
        for (int i = 0; i < 3; ++i) parameters(lane, i) = rates(0, i) * (1 + 0.02 * lane);
        parameters(lane, 2) = std::pow(10., 0.5 * lane);
        direction(lane, lane % 3) = 1;
    }
    const Array data = rows({{1, 3, 1, 3, 1, 3}});
    const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-5, .atol = 1e-7};
    const auto reverse = [&](const auto& backend) {
        return eddy::value_and_gradient(Brusselator{}, eddy::KenCarp4{}, HalfSquares{}, data,
                                        starts, parameters, options, backend);
    };
    const auto alone = reverse(eddy::Serial{});
    const auto together = reverse(eddy::Cpu{.threads = 1});
    const auto forward = eddy::pushforward(Brusselator{}, eddy::KenCarp4{}, starts, parameters,
                                           none, direction, options, eddy::Serial{});

    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(support::same_row(alone.gradient.y0, lane, together.gradient.y0, lane));
        CHECK(support::same_row(alone.gradient.p, lane, together.gradient.p, lane));
        double slope = 0, largest = 0;
        for (int i = 0; i < 6; ++i)
            slope += (forward.y()(lane, i) - data(0, i)) * forward.tangent()(lane, i);
        for (int i = 0; i < 3; ++i)
            largest = std::max(largest, std::abs(alone.gradient.p(lane, i)));
        CHECK(alone.gradient.p(lane, lane % 3) ==
              Approx(slope).epsilon(1e-10).margin(1e-12 * largest));
    }
}
