// Impulses: states and gradients are those of the closed form and of differences, and of each trajectory those that it
// has alone. That every machine has those of Serial is told on the table of oracle_cases.hpp.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "support/catch.hpp"
#include "support/same_bits.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
using eddy::Impulse;

/// A compartment, and a rate that flows into it.
struct Infused {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1] - p[0] * y[0], 0 * y[1]);
    }
};
struct Amount {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0]; }
};
struct Square {
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + t * p[0] * y[0] * y[1];
    }
};
constexpr double rate = 0.3;

TEST_CASE("impulses: a hundred doses have the gradient of the closed form") {
    std::vector<double> times, amounts;
    for (int k = 0; k < 100; ++k) {
        times.push_back(0.5 * k);
        amounts.push_back(1 + 0.25 * (k % 7));
    }
    const Array y0(1, 2, 0.), p(1, 1, rate);
    const eddy::SolveOptions options{
        .t1 = 52, .rtol = 1e-14, .atol = 1e-16, .impulses = {.times = times, .amounts = amounts}};

    const auto [loss, gradient, report] =
        eddy::value_and_gradient(Infused{}, eddy::Tsit5{}, Amount{}, y0, p, options, eddy::Serial{},
                                 eddy::differentiate_times);

    REQUIRE(report.success());
    double sum = 0, of_t1 = 0;
    for (int k = 0; k < 100; ++k) {
        const double left = std::exp(-rate * (52 - times[static_cast<std::size_t>(k)]));
        const double amount = amounts[static_cast<std::size_t>(k)];
        sum += amount * left;
        of_t1 -= rate * amount * left;
        CHECK(std::fabs(gradient.impulse_amounts(0, k) - left) <= 1e-12);
        CHECK(std::fabs(gradient.impulse_times(0, k) - rate * amount * left) <= 1e-12);
    }
    CHECK(std::fabs(loss.total - sum) <= 1e-12);
    CHECK(std::fabs(gradient.t1(0) - of_t1) <= 1e-12);
    CHECK(std::fabs(gradient.t0(0)) <= 1e-12);
}

/// A schedule of all kinds: two at once, at the ends and at save points.
struct Schedule {
    std::vector<double> times{0, 0.5, 0.5, 1, 2}, amounts{1.5, 0.8, 0.6, 0.3, 0.4},
        saves{0, 0.25, 1, 2};
    double t0 = 0, t1 = 2;
    bool saved_before = false;

    [[nodiscard]] eddy::SolveOptions options() const {
        using enum Impulse;
        return {.t0 = t0,
                .t1 = t1,
                .rtol = 1e-13,
                .atol = 1e-13,
                .save_at = saves,
                .impulses = {.times = times,
                             .components = {0, 1, 0, 0, 1},
                             .amounts = amounts,
                             .kinds = {add, add, scale, replace, add},
                             .saved_before = saved_before}};
    }
};
auto gradient_of(const eddy::SolveOptions& options, const Array& y0, const Array& p) {
    return eddy::value_and_gradient(Infused{}, eddy::Tsit5{}, Square{},
                                    std::vector(4, Array(1, 2, 0.25)), y0, p, options,
                                    eddy::Serial{}, eddy::differentiate_times);
}
auto gradient_of(const Schedule& schedule) {
    return gradient_of(schedule.options(), Array(1, 2, 0.7), Array(1, 1, rate));
}
/// The derivative of the loss along what move(schedule, distance) does, from one side: of order h^4.
template <class Move>
double slope(const Schedule& schedule, double side, const Move& move) {
    constexpr double weights[] = {-25. / 12, 4, -3, 4. / 3, -0.25};
    const double h = side * 0.004;
    double sum = 0;
    for (int k = 0; k < 5; ++k) {
        Schedule moved = schedule;
        move(moved, k * h);
        sum += weights[k] * gradient_of(moved).loss.total;
    }
    return sum / h;
}

TEST_CASE("impulses: derivatives with respect to amounts and times are those of differences") {
    // h^4 / 5 times a fifth derivative of order 1, and rounding 1e-14 / h.
    constexpr double tolerance = 1e-9;
    for (const bool saved_before : {false, true}) {
        CAPTURE(saved_before);
        const Schedule schedule{.saved_before = saved_before};
        const auto gradient = gradient_of(schedule).gradient;

        for (std::size_t k = 0; k < 5; ++k) {
            CAPTURE(k);
            const double by_amount =
                slope(schedule, 1, [&](Schedule& of, double by) { of.amounts[k] += by; });
            CHECK(std::fabs(gradient.impulse_amounts(0, std::ptrdiff_t(k)) - by_amount) <=
                  tolerance);
        }
        const auto check_times = [&](double expected, double side, auto move) {
            CHECK(std::fabs(slope(schedule, side, move) - expected) <= tolerance);
        };
        // Two at once, together.
        CHECK(gradient.impulse_times(0, 2) == 0);
        check_times(gradient.impulse_times(0, 1), 1, [](Schedule& of, double by) {
            of.times[1] += by;
            of.times[2] += by;
        });
        // At save points: to the side on which the order stays.
        const double of_save = saved_before ? -1 : 1;
        check_times(gradient.save_at(0, 2), of_save,
                    [](Schedule& of, double by) { of.saves[2] += by; });
        check_times(gradient.impulse_times(0, 3), -of_save,
                    [](Schedule& of, double by) { of.times[3] += by; });
        // At the ends.
        check_times(gradient.t0(0), -1, [](Schedule& of, double by) { of.t0 += by; });
        if (saved_before) {
            check_times(gradient.impulse_times(0, 0), 1,
                        [](Schedule& of, double by) { of.times[0] += by; });
            check_times(gradient.save_at(0, 3), -1,
                        [](Schedule& of, double by) { of.saves[3] += by; });
        } else {
            check_times(gradient.save_at(0, 0), 1,
                        [](Schedule& of, double by) { of.saves[0] += by; });
            check_times(gradient.impulse_times(0, 4), -1,
                        [](Schedule& of, double by) { of.times[4] += by; });
        }
        check_times(gradient.t0(0) + gradient.impulse_times(0, 0) + gradient.save_at(0, 0), 1,
                    [](Schedule& of, double by) {
                        of.t0 += by;
                        of.times[0] += by;
                        of.saves[0] += by;
                    });
        check_times(gradient.t1(0) + gradient.impulse_times(0, 4) + gradient.save_at(0, 3), 1,
                    [](Schedule& of, double by) {
                        of.t1 += by;
                        of.times[4] += by;
                        of.saves[3] += by;
                    });
    }
}

TEST_CASE(
    "impulses: each trajectory has the bits that it has alone, with lists for all or its own") {
    const Schedule schedule;
    Array y0(3, 2, 0.7), p(3, 1, rate), times(3, 5), amounts(3, 5);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        p(lane, 0) += 0.1 * static_cast<double>(lane);
        for (std::ptrdiff_t k = 0; k < 5; ++k) {
            times(lane, k) = schedule.times[std::size_t(k)] / static_cast<double>(lane + 1);
            amounts(lane, k) = schedule.amounts[std::size_t(k)] + static_cast<double>(lane);
        }
    }
    auto options = schedule.options();
    options.impulses.times = eddy::each(times);
    options.impulses.amounts = eddy::each(amounts);

    const auto all = gradient_of(options, y0, p);

    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        Schedule one;
        for (std::ptrdiff_t k = 0; k < 5; ++k) {
            one.times[std::size_t(k)] = times(lane, k);
            one.amounts[std::size_t(k)] = amounts(lane, k);
        }
        const auto alone = gradient_of(one.options(), Array(1, 2, 0.7), Array(1, 1, p(lane, 0)));
        CHECK(support::same_bits(alone.loss(0), all.loss(lane)));
        for (std::ptrdiff_t k = 0; k < 5; ++k) {
            CHECK(support::same_bits(alone.gradient.impulse_amounts(0, k),
                                     all.gradient.impulse_amounts(lane, k)));
            CHECK(support::same_bits(alone.gradient.impulse_times(0, k),
                                     all.gradient.impulse_times(lane, k)));
        }
    }
}

TEST_CASE("impulses: of nothing they are stops") {
    const Schedule schedule;
    auto with = schedule.options(), without = with;
    with.impulses.amounts = 0;
    with.impulses.kinds = Impulse::add;
    without.step_to = {0.5, 1};
    without.impulses = {};

    const auto a = gradient_of(with, Array(1, 2, 0.7), Array(1, 1, rate)),
               b = gradient_of(without, Array(1, 2, 0.7), Array(1, 1, rate));

    CHECK(support::same_bits(a.loss.total, b.loss.total));
    CHECK(support::same_bits(a.gradient.y0(0, 0), b.gradient.y0(0, 0)));
    CHECK(a.report.stats(0).accepted == b.report.stats(0).accepted);
    CHECK(b.gradient.impulse_amounts.size() == 0);
}

TEST_CASE("impulses: a component that is not there is told") {
    auto options = Schedule{}.options();
    options.impulses.components = {0, 0, 2, 0, 0};
    CHECK_THROWS_WITH(gradient_of(options, Array(1, 2, 0.7), Array(1, 1, rate)),
                      "value_and_gradient: an impulse changes component 2 of y, which has 2; give "
                      "a number below that");
}

}  // namespace
