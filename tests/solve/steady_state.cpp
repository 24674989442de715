// Steady states: which one, in how many steps, their derivatives, and lanes that have none.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/steady_state.hpp>
#include <string>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/reaction_networks.hpp"
#include "support/steady_equations.hpp"
#include "support/stiff_equations.hpp"

using support::Array, support::rows;

namespace {

/// At rest where y = (1.5, 2.25), unless a rate is zero.
struct Decoupled {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (1.5 - y[0]), p[1] * (2.25 - y[1]));
    }
};

}  // namespace

TEST_CASE("steady state: the one that each start comes to, and its derivatives") {
    const Array y0 = rows({{2, 0.1}, {0.1, 2}, {0, 0}}), p = rows({{2, 2}, {2, 2}, {2, 2}});

    const auto solution = eddy::steady_state(support::Switch{}, y0, p);

    REQUIRE(solution.success());
    REQUIRE(solution.num_saves() == 1);
    CHECK(solution.y()(0, 0) > 1.9);
    CHECK(solution.y()(1, 1) > 1.9);
    CHECK(solution.y()(2, 0) == Approx(1).epsilon(1e-14));
    const auto gradient = eddy::pullback(solution, rows({{1, 0}, {0, 1}, {0.3, -2}}));
    for (int lane = 0; lane < 3; ++lane) {
        // By f = (p0 / (1 + b⁴) − a, p1 / (1 + a⁴) − b) = 0 and Cramer's rule.
        const double a = solution.y()(lane, 0), b = solution.y()(lane, 1);
        const double u = 1 / (1 + std::pow(b, 4)), v = 1 / (1 + std::pow(a, 4));
        CHECK(a == Approx(2 * u).epsilon(1e-14));
        CHECK(b == Approx(2 * v).epsilon(1e-14));
        const double by_b = -8 * u * u * b * b * b, by_a = -8 * v * v * a * a * a;
        const double determinant = 1 - by_a * by_b;
        const double la = lane == 0   ? 1
                          : lane == 1 ? 0
                                      : 0.3,
                     lb = lane == 0   ? 0
                          : lane == 1 ? 1
                                      : -2;
        CHECK(gradient.p(lane, 0) == Approx(u * (la + lb * by_a) / determinant).epsilon(1e-12));
        CHECK(gradient.p(lane, 1) == Approx(v * (la * by_b + lb) / determinant).epsilon(1e-12));
        CHECK(gradient.y0(lane, 0) == 0);
        CHECK(gradient.y0(lane, 1) == 0);
        CHECK(solution.stats(lane).accepted > 0);
        CHECK(solution.stats(lane).accepted <= 30);
        const eddy::LaneStats stats = solution.stats(lane);
        CHECK(stats.evaluations >= stats.accepted);
        CHECK(stats.jacobians == stats.evaluations);
        CHECK(stats.factorizations == stats.accepted + stats.rejected);
    }
}

TEST_CASE("steady state: twelve decades of rates take few steps, from any side") {
    const Array y0 = rows({{2, 0.1}, {0, 0}, {1e6, -30}}), p = rows({{3, 2}, {3, 2}, {3, 2}});

    const auto solution = eddy::steady_state(support::SlowManifold{}, y0, p, {.rtol = 1e-8});

    REQUIRE(solution.success());
    for (int lane = 0; lane < 3; ++lane) {
        CHECK(solution.y()(lane, 0) == Approx(2.25).epsilon(1e-13));
        CHECK(solution.y()(lane, 1) == Approx(1.5).epsilon(1e-13));
        CHECK(solution.stats(lane).accepted < 170);
    }
}

TEST_CASE(
    "steady state: what is conserved is told, and given as an algebraic equation it is found") {
    const Array y0 = rows({{3, 1}});

    const auto isomers = eddy::steady_state(support::Isomers{}, y0, rows({{2, 6}}));

    CHECK(isomers.result(0) == eddy::Result::singular_matrix);
    CHECK(support::mentions(isomers.message(0), "components are conserved"));
    CHECK(support::mentions(isomers.message(0), "replace one of their equations by the conserved"));
    CHECK(isomers.failure(0).component >= 0);
    CHECK(std::isnan(isomers.y()(0, 0)));
    const auto of_sum = eddy::steady_state(support::IsomersOfSum{}, y0, rows({{2, 6, 4}}));
    REQUIRE(of_sum.success());
    CHECK(of_sum.y()(0, 0) == Approx(3).epsilon(1e-14));
    CHECK(of_sum.y()(0, 1) == Approx(1).epsilon(1e-14));
    const auto gradient = eddy::pullback(of_sum, rows({{1, 0}}));  // of p1 p2 / (p0 + p1)
    CHECK(gradient.p(0, 0) == Approx(-6 * 4. / 64).epsilon(1e-13));
    CHECK(gradient.p(0, 1) == Approx(2 * 4. / 64).epsilon(1e-13));
    CHECK(gradient.p(0, 2) == Approx(6. / 8).epsilon(1e-13));
}

TEST_CASE(
    "steady state: a start at rest takes one step, and one that nothing determines is told at "
    "once") {
    // p = 0: nothing moves anywhere, and f = 0 for any state.
    const Array y0 = rows({{1, 1}, {3, 1}, {0, 0}, {1.5, 2.25}}),
                p = rows({{0, 0}, {0, 0}, {0, 0}, {2, 3}});

    const auto solution = eddy::steady_state(Decoupled{}, y0, p);

    for (int lane = 0; lane < 3; ++lane) {
        CHECK(solution.result(lane) == eddy::Result::singular_matrix);
        CHECK(solution.stats(lane).accepted == 1);
    }
    CHECK(solution.result(3) == eddy::Result::success);
    CHECK(solution.stats(3).accepted == 1);
    CHECK(solution.y()(3, 1) == 2.25);
}

TEST_CASE("steady state: a limit cycle has none, and a start that is no number ends at once") {
    const auto cycle = eddy::steady_state(support::Oregonator{}, rows({{1, 2, 3}}),
                                          rows({{77.27, 8.375e-6, 0.161}}), {.max_steps = 300});
    CHECK(cycle.result(0) == eddy::Result::max_steps_reached);
    CHECK(cycle.failure(0).step == 300);
    CHECK(std::string(cycle.message(0)).starts_with("no steady state within max_steps"));

    const auto nowhere =
        eddy::steady_state(support::Isomers{}, rows({{1e308, 0}}), rows({{1e10, 1}}));
    CHECK(nowhere.result(0) == eddy::Result::non_finite);
    CHECK(nowhere.failure(0).component == 0);
    CHECK(nowhere.failure(0).step == 0);
}

TEST_CASE(
    "steady state: a chemostat with a fast third species, on its way or along its trajectory") {
    // Euler's steps over the pole lead the first three to where there are no cells of food; the last
    // crosses zero itself, because its third species is slow.
    const Array y0 = rows({{32.3768, 29.5177, 0},
                           {20.6114, 71.5393, 0},
                           {23.1, 87.1068, 0.33},
                           {50.02, 0.0570946, 52.6923},
                           {1.11412, 6.72304, 85.6079}});
    const Array p = rows({{3.03314, 8.58735, 8.47338, 0.908497, 0.899721, 17759.2},
                          {0.203592, 0.323852, 0.579925, 0.190119, 2.03404, 7336.5},
                          {0.105815, 0.129966, 0.105741, 0.313179, 0.184061, 11337.9},
                          {3.47134, 0.498426, 10.9633, 0.137111, 0.141143, 5.19446},
                          {4.06782, 3.25723, 8.13249, 0.105856, 1.39177, 27.6692}});

    const auto solution = eddy::steady_state(support::Chemostat{}, y0, p);
    const auto gradient = eddy::pullback(solution, Array(5, 3, 1.));

    for (const int lane : {0, 1, 2, 4}) {
        CAPTURE(lane);
        REQUIRE(solution.result(lane) == eddy::Result::success);
        CHECK(solution.switched(lane) == (lane == 4));
        const auto of = [&](int i) { return p(lane, i); };
        const double food = of(3) * of(0) / (of(2) - of(0));  // where growth is dilution
        const bool cells_live = of(2) > of(0) && food < of(1);
        CHECK(solution.y()(lane, 0) == Approx(cells_live ? food : of(1)).epsilon(1e-10));
        CHECK(solution.y()(lane, 1) ==
              Approx(cells_live ? of(4) * (of(1) - food) : 0).epsilon(1e-10).margin(1e-9));
        CHECK(gradient.p(lane, 1) == Approx(cells_live ? of(4) : 2).epsilon(1e-9));
        CHECK(gradient.p(lane, 3) ==
              Approx(cells_live ? food / of(3) * (2 - of(4)) : 0).epsilon(1e-9).margin(1e-9));
    }
    CHECK(eddy::is_failure(solution.result(3)));
    CHECK(solution.num_switched() == 1);
    // Who watches a call counts it as done.
    eddy::CallCounts counts;
    counts.add(solution.outcomes()[4]);
    CHECK(counts.lanes_done() == 1);
}

TEST_CASE(
    "steady state: one hundred random networks of reactions, those that conserve among them") {
    std::vector<support::RandomNetwork> networks;
    std::vector<support::RandomNetwork::State> at_rest;
    for (std::uint64_t seed = 0; at_rest.size() < 100; ++seed) {
        const support::RandomNetwork network(seed, seed % 4 == 0);
        support::RandomNetwork::State y;
        if (!network.find_rest(y)) continue;
        networks.push_back(network);
        at_rest.push_back(y);
    }
    for (std::uint64_t seed = 0; seed < 100; seed += 4) networks.emplace_back(seed, true, true);
    const auto lanes = static_cast<std::ptrdiff_t>(networks.size());
    Array y0(lanes, 4), p(lanes, 60);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const auto& of_lane = networks[static_cast<std::size_t>(lane)];
        for (int i = 0; i < 4; ++i) y0(lane, i) = of_lane.y0[i];
        for (int i = 0; i < 60; ++i) p(lane, i) = of_lane.p[i];
    }
    const auto run = [&](const Array& parameters) {
        return eddy::steady_state(support::ReactionNetwork{}, y0, parameters);
    };

    const auto solution = run(p);
    const auto gradient = eddy::pullback(solution, Array(lanes, 4, 1.));

    Array more = p, less = p;  // (1 ± ε) times every second rate
    const double by = 1e-5;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 60; i += 2) more(lane, i) *= 1 + by, less(lane, i) *= 1 - by;
    }
    const auto above = run(more), below = run(less);
    for (std::ptrdiff_t lane = 0; lane < 100; ++lane) {
        CAPTURE(lane, solution.message(lane), solution.switched(lane));
        REQUIRE(solution.result(lane) == eddy::Result::success);
        double product = 0, difference = 0, size = 0, of_rounding = 0;
        for (int i = 0; i < 4; ++i) {
            const double expected = at_rest[static_cast<std::size_t>(lane)][i];
            CHECK(solution.y()(lane, i) == Approx(expected).epsilon(1e-3).margin(1e-8));
            difference += (above.y()(lane, i) - below.y()(lane, i)) / (2 * by);
            of_rounding += 1e-15 * std::abs(expected) / by;
        }
        for (int i = 0; i < 60; i += 2) {
            product += gradient.p(lane, i) * p(lane, i);
            size += std::abs(gradient.p(lane, i) * p(lane, i));
        }
        CHECK(product == Approx(difference).epsilon(1e-5).margin(1e-7 * size + of_rounding));
    }
    for (std::ptrdiff_t lane = 100; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(solution.result(lane) == eddy::Result::singular_matrix);
        CHECK(gradient.p(lane, 0) == 0);
    }
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const std::string message = solution.message(lane);
        CHECK(message.find("controller") == std::string::npos);
        CHECK(message.find("dt") == std::string::npos);
    }
}

TEST_CASE("steady state: lanes have the bits that they have alone, whoever fails beside them") {
    constexpr int lanes = 19;
    Array y0(lanes, 2), p(lanes, 2);
    for (int lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.1 * lane;
        y0(lane, 1) = lane == 4 ? 1e308 : 1;
        p(lane, 0) = 0.5 + 0.2 * lane;
        p(lane, 1) = lane == 4 ? -1e308 : 2;
    }
    const auto run = [&](const auto& backend) {
        return eddy::steady_state(support::Switch{}, y0, p, {.rtol = 1e-4, .atol = 1e-6}, backend);
    };
    const auto alone = run(eddy::Serial{});
    const auto together = run(eddy::Cpu{.threads = 2});
    const Array cotangents(lanes, 2, 0.7);
    const auto of_alone = eddy::pullback(alone, cotangents),
               of_together = eddy::pullback(together, cotangents);

    CHECK(eddy::is_failure(alone.result(4)));
    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(alone.result(lane) == together.result(lane));
        CHECK((lane == 4 || alone.result(lane) == eddy::Result::success));
        CHECK(alone.stats(lane).accepted == together.stats(lane).accepted);
        CHECK(alone.stats(lane).rejected == together.stats(lane).rejected);
        CHECK(alone.stats(lane).evaluations == together.stats(lane).evaluations);
        CHECK(support::same_row(alone.y(), lane, together.y(), lane));
        CHECK(support::same_row(of_alone.p, lane, of_together.p, lane));
        CHECK((lane != 4 || of_together.p(4, 0) == 0));
    }
}

TEST_CASE("steady state: lanes of single precision, of few steps and of many, in packs and alone") {
    constexpr int lanes = 45;
    eddy::EnsembleArray<float> y0(lanes, 2), p(lanes, 2);
    for (int lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = lane % 7 == 3 ? 1e6f : 1.f;
        y0(lane, 1) = 0.1f * static_cast<float>(lane);
        p(lane, 0) = 0.5f + static_cast<float>(lane % 5);
        p(lane, 1) = 2;
    }
    const auto run = [&](const auto& backend) {
        return eddy::steady_state(support::Switch{}, y0, p, {.rtol = 1e-3, .atol = 1e-5}, backend);
    };

    const auto alone = run(eddy::Serial{});
    const auto together = run(eddy::Cpu{.threads = 2});

    std::int64_t fewest = 1000, most = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        const std::int64_t steps = together.stats(lane).accepted;
        REQUIRE(together.result(lane) == eddy::Result::success);
        CHECK(steps == alone.stats(lane).accepted);
        CHECK(support::same_row(alone.y(), lane, together.y(), lane));
        fewest = std::min(fewest, steps);
        most = std::max(most, steps);
    }
    CHECK(most >= fewest + 5);
}

TEST_CASE("steady state: one row of parameters, and what observe makes of the state") {
    const Array y0 = rows({{2, 0.1}, {0, 0}}), p = rows({{3, 2}});
    constexpr auto product = [](auto, const auto& y, const auto&) { return y[0] * y[1]; };

    const auto solution = eddy::steady_state(support::SlowManifold{}, y0, eddy::shared(p), {},
                                             eddy::observe(product));

    REQUIRE(solution.success());
    CHECK(solution.y()(1, 0) == Approx(1.5 * 1.5 * 1.5).epsilon(1e-13));
    const auto gradient = eddy::pullback(solution, rows({{1}, {1}}));
    CHECK(gradient.p.rows() == 1);
    CHECK(gradient.p(0, 0) == Approx(2 * 3 * 2.25 / 2).epsilon(1e-12));
}

TEST_CASE("steady state: options are checked before any work") {
    const auto run = [](const eddy::SteadyStateOptions& options) {
        (void)eddy::steady_state(support::Isomers{}, rows({{1, 0}}), rows({{1, 1}}), options);
    };
    CHECK_THROWS_WITH(run({.rtol = -1}), support::contains("steady_state: rtol = -1"));
    CHECK_THROWS_AS(run({.atol = {1, 2, 3}}), eddy::InvalidArgument);
    CHECK_THROWS_AS(run({.max_steps = 0}), eddy::InvalidArgument);
}
