// Gradients where the steps, chosen for the state, do not see them: problems and digits of
// docs/design/stable_gradients.md.

#include <cmath>
#include <eddy/eddy.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stability_equations.hpp"

using eddy::SolveOptions, eddy::Tsit5;
using support::Array, support::rows, support::same_row;

namespace {

using Plane = zoo::Linear<2>;

/// Loss and gradient of one lane of y' = A y.
auto gradient(const Array& y0, const Array& a, const Array& cotangent,
              const SolveOptions& options) {
    return eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, cotangent, y0, a, options);
}
SolveOptions until(double t1, double rtol = 1e-6, bool stable = true) {
    return {.t1 = t1, .rtol = rtol, .atol = rtol / 1000, .stable_gradients = stable};
}
Array decay(double rate) { return rows({{-1, 0, 0, -rate}}); }
Array row(const std::vector<double>& values) {
    Array array(1, static_cast<std::ptrdiff_t>(values.size()));
    std::copy(values.begin(), values.end(), array.data());
    return array;
}

}  // namespace

TEST_CASE("stable gradients: an ensemble whose second mode lies at zero") {
    constexpr std::ptrdiff_t num_lanes = 300;
    Array y0(num_lanes, 2), a(num_lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        y0(lane, 0) = 1;
        a(lane, 0) = -1;
        a(lane, 3) = -(1 + 99 * static_cast<double>(lane) / (num_lanes - 1));
    }
    for (const double rtol : {1e-4, 1e-6, 1e-8}) {
        const auto plain = gradient(y0, a, rows({{1, 1}}), until(10, rtol, false));
        const auto stable = gradient(y0, a, rows({{1, 1}}), until(10, rtol));
        int off = 0;
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            const double truth = std::exp(10 * a(lane, 3));
            const bool is_off = !(std::abs(plain.gradient.y0(lane, 1) - truth) <= 1e-3);
            off += is_off;
            CHECK(std::abs(stable.gradient.y0(lane, 1) - truth) <= 1e-3);
            CHECK_FALSE(stable.report.unreliable(lane));
            CHECK(stable.report.redone(lane) == bool(plain.report.unreliable(lane)));
            CHECK_FALSE(plain.report.redone(lane));
            if (is_off) CHECK(plain.report.unreliable(lane));
            if (stable.report.redone(lane)) continue;
            CHECK(same_row(stable.gradient.y0, lane, plain.gradient.y0, lane));
            CHECK(same_row(stable.gradient.p, lane, plain.gradient.p, lane));
            CHECK(support::same_bits(stable.loss(lane), plain.loss(lane)));
        }
        CHECK(off > num_lanes / 2);
        CHECK(stable.report.success());
        CHECK(stable.report.is_watched);
    }
}

TEST_CASE("stable gradients: a mode that the state has seen keeps few steps and no mark") {
    const auto result = gradient(rows({{1, 1}}), decay(50), rows({{1, 1}}), until(10));

    CHECK_FALSE(result.report.unreliable(0));
    CHECK(result.report.stats(0).accepted <= 230);
    CHECK(std::abs(result.gradient.y0(0, 1)) < 1e-6);
}

TEST_CASE("stable gradients: harmless lanes are solved once") {
    const auto of_first = gradient(rows({{1, 0}}), decay(50), rows({{1, 0}}), until(10));
    const auto non_normal =
        gradient(rows({{1, 1}}), rows({{-1, 100, 0, -2}}), rows({{1, 1}}), until(10));

    CHECK_FALSE(of_first.report.redone(0));
    CHECK_FALSE(non_normal.report.redone(0));
    for (const double rtol : {1e-4, 1e-6, 1e-8}) {
        const auto lorenz = eddy::value_and_gradient(
            zoo::Lorenz{}, Tsit5{}, zoo::Along{}, rows({{1, 1, 1}}), rows({{1, 1, 1}}),
            rows({{10, 28, 8. / 3}}), until(12, rtol), eddy::Rows{});
        CHECK_FALSE(lorenz.report.redone(0));
        CHECK_FALSE(lorenz.report.unreliable(0));
    }
}

TEST_CASE("stable gradients: a mode across the cotangent, which one product does not show") {
    const double angle = 0.7, c = std::cos(angle), s = std::sin(angle);
    const Array y0 = rows({{c, s}}), a = row(zoo::turned(1, 50, angle));
    const auto plain = gradient(y0, a, y0, until(10, 1e-6, false));
    const auto stable = gradient(y0, a, y0, until(10));

    const double truth = std::exp(-10.) * c;  // the cotangent is an eigenvector of Aᵀ
    CHECK(stable.report.redone(0));
    CHECK(std::abs(stable.gradient.y0(0, 0) - truth) < 1e-6);
    CHECK(std::abs(plain.gradient.y0(0, 0) - truth) >= 0);
    CHECK(plain.report.unreliable(0));
}

TEST_CASE("stable gradients: an oscillator that nothing moves") {
    const Array y0 = rows({{0, 0}}), one = rows({{1, 0}});
    for (const double omega : {4., 8., 100.}) {
        const Array a = rows({{0, 1, -omega * omega, 0}});
        const auto plain = gradient(y0, a, one, until(10, 1e-6, false));
        const auto stable = gradient(y0, a, one, until(10));

        const double truth = std::cos(10 * omega);
        CHECK(std::abs(plain.gradient.y0(0, 0) - truth) > 1e-4);
        CHECK(stable.report.redone(0));
        CHECK(std::abs(stable.gradient.y0(0, 0) - truth) < 1e-4);
    }
}

TEST_CASE("stable gradients: a coupling that is zero") {
    const auto result =
        gradient(rows({{1, 0}}), rows({{-1, 0, 0, -300}}), rows({{1, 1}}), until(5));

    CHECK(result.report.redone(0));
    const double truth = (std::exp(-5.) - std::exp(-1500.)) / 299;
    CHECK(std::abs(result.gradient.p(0, 2) - truth) < 1e-6 * truth + 1e-9);
}

TEST_CASE("stable gradients: spans of two steps") {
    const auto result = gradient(rows({{1, 0}}), decay(50), rows({{1, 1}}), until(0.07));

    CHECK(result.report.redone(0));
    CHECK(std::abs(result.gradient.y0(0, 1) - std::exp(-3.5)) < 1e-6);
}

// From 8 a size shrinks at most fivefold by a rejection, to one that is stable where the rate is 50: below 4/50.
TEST_CASE("stable gradients: what was rejected is of the second solve, as its steps are") {
    auto options = until(10);
    options.dt0 = 8;
    const auto result = gradient(rows({{1, 0}}), decay(50), rows({{1, 1}}), options);

    CHECK(result.report.redone(0));
    CHECK(result.report.stats(0).rejected >= 3);
}

TEST_CASE("stable gradients: where the second solve runs out of steps, the report says where") {
    auto options = until(10);
    options.max_steps = 2000;
    const auto result = gradient(rows({{1, 0}}), decay(1e7), rows({{1, 1}}), options);

    REQUIRE(result.report.unreliable(0));
    CHECK_FALSE(result.report.redone(0));
    CHECK(result.report.unreliable(0).t >= 0);
    CHECK(result.report.unreliable(0).t <= 10);
    CHECK(result.report.unreliable(0).ratio > 1e3);
    const std::string text = to_text(result.report.unreliable(0));
    CHECK(text.find("dt_max") != std::string::npos);
    CHECK(text.find("stiff") != std::string::npos);
}

TEST_CASE("stable gradients: a shared gradient is the sum of what lanes bring alone") {
    for (const std::ptrdiff_t num_lanes : {5, 4200}) {
        Array y0(num_lanes, 2);
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            y0(lane, 0) = 1;
            y0(lane, 1) = lane % 2 == 0 ? 0 : 1e-3;
        }
        const std::vector<double> a{-1, 0, 0, -50};
        const auto together = eddy::value_and_gradient(
            Plane{}, Tsit5{}, zoo::Along{}, rows({{1, 1}}), y0, eddy::shared(a), until(2));
        const auto even = gradient(rows({{1, 0}}), row(a), rows({{1, 1}}), until(2));
        const auto odd = gradient(rows({{1, 1e-3}}), row(a), rows({{1, 1}}), until(2));

        CHECK(together.report.redone(0));
        const auto num_odd = static_cast<double>(num_lanes / 2);
        const auto num_even = static_cast<double>(num_lanes) - num_odd;
        for (int i = 0; i < 4; ++i) {
            const double sum = num_even * even.gradient.p(0, i) + num_odd * odd.gradient.p(0, i);
            CHECK(std::abs(together.gradient.p(0, i) - sum) <= 1e-11 * std::abs(sum) + 1e-18);
        }
    }
}

TEST_CASE("stable gradients: lanes that keep their marks stay in a shared gradient") {
    auto options = until(10);
    options.max_steps = 150;  // of 191 that the second solve wants
    const std::vector<double> a{-1, 0, 0, -50};
    const auto kept = eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, rows({{1, 1}}),
                                               rows({{1, 0}}), eddy::shared(a), options);
    options.stable_gradients = false;
    const auto plain = eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, rows({{1, 1}}),
                                                rows({{1, 0}}), eddy::shared(a), options);

    CHECK(kept.report.unreliable(0));
    for (int i = 0; i < 4; ++i)
        CHECK(support::same_bits(kept.gradient.p(0, i), plain.gradient.p(0, i)));
}

TEST_CASE("stable gradients: neither neighbours nor checkpoints change a lane, redone or not") {
    constexpr std::ptrdiff_t num_lanes = 40;
    Array y0(num_lanes, 2), a(num_lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        y0(lane, 0) = 1;
        y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
        a(lane, 0) = -1;
        a(lane, 3) = -2 * static_cast<double>(lane + 1);
    }
    const auto all = gradient(y0, a, rows({{1, 1}}), until(3));
    auto few = until(3);
    few.checkpoints = 2;
    few.memory_budget = 1;  // no log: attempts are repeated
    const auto sparse = gradient(y0, a, rows({{1, 1}}), few);
    for (const std::ptrdiff_t lane : {0, 1, 7, 20, 39}) {
        const auto alone = gradient(rows({{y0(lane, 0), y0(lane, 1)}}),
                                    rows({{-1, 0, 0, a(lane, 3)}}), rows({{1, 1}}), until(3));
        CHECK(all.report.redone(lane) == alone.report.redone(0));
        CHECK(same_row(all.gradient.y0, lane, alone.gradient.y0, 0));
        CHECK(same_row(all.gradient.p, lane, alone.gradient.p, 0));
        CHECK(same_row(all.gradient.p, lane, sparse.gradient.p, lane));
    }
}

TEST_CASE("stable gradients: a pullback, whose states are given, reports") {
    auto solver = eddy::pullback_solver(Plane{}, Tsit5{}, until(10));
    const auto pulled = solver(rows({{1, 1}}), rows({{1, 0}}), decay(50));

    CHECK(pulled.report.unreliable(0));
    CHECK_FALSE(pulled.report.redone(0));
}

TEST_CASE("stable gradients: save points inside every step hide nothing") {
    auto options = until(10);
    for (int k = 0; k <= 500; ++k) options.save_at.values.push_back(0.02 * k);
    const std::vector<Array> data(501, rows({{1, 1}}));
    const auto solve = [&] {
        return eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, data, rows({{1, 0}}),
                                        decay(50), options, eddy::differentiate_times);
    };
    const auto result = solve();
    options.stable_gradients = false;
    const auto plain = solve();

    CHECK(result.report.redone(0));
    CHECK_FALSE(plain.report.redone(0));
    double off = 0, plain_off = 0;
    for (int k = 1; k < 500; ++k) {
        const double slope = -std::exp(-0.02 * k);
        off = std::max(off, std::abs(result.gradient.save_at(0, k) - slope));
        plain_off = std::max(plain_off, std::abs(plain.gradient.save_at(0, k) - slope));
    }
    // Slopes within a step are off by some h⁴/1000: stable steps are below 0.07, the others reach 0.15.
    CHECK(off < 1e-7);
    CHECK(plain_off > 2e-7);
    double truth = 0;
    for (int k = 0; k <= 500; ++k) truth += std::exp(-50 * 0.02 * k);
    CHECK(std::abs(result.gradient.y0(0, 1) - truth) < 1e-4);
}

TEST_CASE("stable gradients: Hessian products follow the second solve") {
    const auto result =
        eddy::hessian_vector_product(Plane{}, Tsit5{}, zoo::Along{}, rows({{1, 1}}), rows({{1, 0}}),
                                     decay(50), rows({{0, 0}}), rows({{0, 0, 0, 1}}), until(1));

    // ∂loss/∂y0 = exp(t a11): its derivative along a11 is t exp(t a11).
    CHECK(result.report.redone(0));
    CHECK(std::abs(result.gradient.y0(0, 1) - std::exp(-50.)) < 1e-6);
    CHECK(std::abs(result.product.y0(0, 1) - std::exp(-50.)) < 1e-5);
}

TEST_CASE("stable gradients: tangents of a pushforward in the error norm") {
    auto options = until(10);
    const auto push = [&] {
        return eddy::pushforward(Plane{}, Tsit5{}, rows({{1, 0}}), decay(50), rows({{0, 1}}),
                                 rows({{0, 0, 0, 0}}), options, eddy::Rows{});
    };
    CHECK(std::abs(push().tangent()(0, 1)) > 1e100);

    options.tangents_in_error_norm = true;
    CHECK(std::abs(push().tangent()(0, 1)) < 1e-6);
}

TEST_CASE("stable gradients: Serial marks and redoes the same lanes, bit for bit") {
    Array y0(30, 2), a(30, 4);
    for (std::ptrdiff_t lane = 0; lane < 30; ++lane) {
        y0(lane, 0) = 1;
        y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
        a(lane, 0) = -1;
        a(lane, 3) = -2 * static_cast<double>(lane + 1);
    }
    for (const bool stable : {false, true}) {
        const auto options = until(3, 1e-6, stable);
        const auto packs = gradient(y0, a, rows({{1, 1}}), options);
        const auto plain = eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, rows({{1, 1}}),
                                                    y0, a, options, eddy::Serial{});
        for (std::ptrdiff_t lane = 0; lane < 30; ++lane) {
            CHECK(packs.report.redone(lane) == plain.report.redone(lane));
            CHECK(packs.report.unreliable(lane).ratio == plain.report.unreliable(lane).ratio);
            CHECK(packs.report.unreliable(lane).t == plain.report.unreliable(lane).t);
            CHECK(same_row(packs.gradient.y0, lane, plain.gradient.y0, lane));
            CHECK(same_row(packs.gradient.p, lane, plain.gradient.p, lane));
            CHECK(packs.report.stats(lane).accepted == plain.report.stats(lane).accepted);
        }
    }
}
