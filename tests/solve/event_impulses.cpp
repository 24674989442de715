// Impulses of equations with events: they come behind the events of the steps up to them, are none themselves, and the
// gradients through both are those of the closed form. That all machines have the bits of Serial is told in event_oracle.cpp.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/event_fields.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Impulse;
using eddy::SolveOptions;
using events::Array;
using events::Ball;
using events::rows;

struct Place {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + 2 * y[1]; }
};
struct Time {
    constexpr auto operator()(auto t, const auto& y, const auto&) const { return t + 0 * y[0]; }
};
/// What has been given decays, until it passes a level, or a time; p = (rate, level, time).
struct Decay {
    static constexpr int state_size = 1, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0] - p[1], t - p[2]);
    }
};

/// Of (height, speed, gravity, restitution, amount, time, amount, time): where Place is at the end, after two kicks.
constexpr double end_of_flight = 1.9;
long double place_of(const long double (&x)[8]) {
    long double y = x[0], v = x[1], t = 0;
    const auto fly = [&](long double to) {
        for (;;) {
            const long double hit = (v + std::sqrt(v * v + 2 * x[2] * y)) / x[2];
            if (t + hit > to) break;
            v = x[3] * (x[2] * hit - v);
            y = 0;
            t += hit;
        }
        const long double rest = to - t;
        y += v * rest - x[2] * rest * rest / 2;
        v -= x[2] * rest;
        t = to;
    };
    fly(x[5]);
    v += x[4];
    fly(x[7]);
    v += x[6];
    fly(static_cast<long double>(end_of_flight));
    return y + 2 * v;
}
/// By x[k], of eighth order.
double slope_of_place(const long double (&x)[8], int k) {
    const long double h = 1e-3L, c[4] = {4 / 5.L, -1 / 5.L, 4 / 105.L, -1 / 280.L};
    const auto at = [&](int n) {
        long double moved[8];
        std::copy(x, x + 8, moved);
        moved[k] += static_cast<long double>(n) * h;
        return place_of(moved);
    };
    long double sum = 0;
    for (int n = 1; n <= 4; ++n) sum += c[n - 1] * (at(n) - at(-n));
    return static_cast<double>(sum / h);
}
SolveOptions doses_until(double t1, std::vector<double> times, std::vector<double> amounts) {
    return {.t1 = t1,
            .rtol = 1e-13,
            .atol = 1e-15,
            .impulses = {.times = std::move(times), .amounts = std::move(amounts)}};
}
auto end_of(const SolveOptions& options, const Array& p) {
    return eddy::value_and_gradient(Decay{}, eddy::Tsit5{}, Time{}, rows({{0}}), p, options,
                                    eddy::Serial{}, eddy::differentiate_times);
}

}  // namespace

TEST_CASE("event impulses: a bouncing ball that is kicked is that of the closed form") {
    const long double x[8] = {1, 0.5L, 9.81L, 0.8L, 1, 0.35L, -0.7L, 1.3L};
    const SolveOptions options{
        .t1 = end_of_flight,
        .rtol = 1e-12,
        .atol = 1e-12,
        .impulses = {.times = {0.35, 1.3}, .components = 1, .amounts = {1, -0.7}}};

    const auto [loss, gradient, report] = eddy::value_and_gradient(
        Ball{}, eddy::Tsit5{}, Place{}, rows({{1, 0.5}}), rows({{9.81, 0.8}}), options,
        eddy::Serial{}, eddy::differentiate_times);

    require_success(report);
    CHECK(report.stats(0).events == 3);
    const double got[] = {gradient.y0(0, 0),
                          gradient.y0(0, 1),
                          gradient.p(0, 0),
                          gradient.p(0, 1),
                          gradient.impulse_amounts(0, 0),
                          gradient.impulse_times(0, 0),
                          gradient.impulse_amounts(0, 1),
                          gradient.impulse_times(0, 1)};
    CHECK(events::relative(loss.total, static_cast<double>(place_of(x))) <= 1e-10);
    for (int k = 0; k < 8; ++k) {
        CAPTURE(k);
        CHECK(events::relative(got[k], slope_of_place(x, k)) <= 1e-10);
    }
}

TEST_CASE("event impulses: a level is passed after doses, which pass it themselves") {
    const std::vector<double> times{0, 1, 2, 8}, amounts{1, 1.5, 0.75, 1};
    const double rate = 0.3, level = 0.5;
    double sum = 0;  // of a · exp(rate · t), so far
    for (std::size_t k = 0; k < 3; ++k) sum += amounts[k] * std::exp(rate * times[k]);

    const auto [loss, gradient, report] =
        end_of(doses_until(10, times, amounts), rows({{rate, level, 100}}));

    REQUIRE(report.stats(0).events == 1);
    CHECK(report.result(0) == eddy::Result::event);
    CHECK(events::relative(loss.total, std::log(sum / level) / rate) <= 1e-10);
    CHECK(events::relative(gradient.p(0, 1), -1 / (rate * level)) <= 1e-10);
    for (std::ptrdiff_t k = 0; k < 3; ++k) {
        CAPTURE(k);
        const auto i = static_cast<std::size_t>(k);
        const double weight = std::exp(rate * times[i]) / sum;
        CHECK(std::fabs(gradient.impulse_amounts(0, k) - weight / rate) <= 1e-10);
        CHECK(std::fabs(gradient.impulse_times(0, k) - weight * amounts[i]) <= 1e-10);
    }
    CHECK(gradient.impulse_amounts(0, 3) == 0);
    CHECK(gradient.impulse_times(0, 3) == 0);
}

TEST_CASE("event impulses: one at the very time of an event that ends is not applied") {
    const Array p = rows({{0.3, 0.01, 1}});
    const auto options = doses_until(2, {0, 1}, {1, 5});

    const auto [loss, gradient, report] = end_of(options, p);
    const auto solution =
        eddy::solve(Decay{}, eddy::Tsit5{}, rows({{0}}), p, options, eddy::Serial{});

    CHECK(report.result(0) == eddy::Result::event);
    CHECK(loss.total == 1);
    CHECK(std::fabs(solution.y()(0, 0) - std::exp(-0.3)) <= 1e-12);
    CHECK(gradient.impulse_amounts(0, 1) == 0);
}

TEST_CASE("event impulses: which side of an event a trajectory is on is known anew behind them") {
    // Put below the ground, the ball is on its other side: it comes up, which counts for nothing, and falls.
    const SolveOptions options{.t1 = 2,
                               .save_at = {0.25, 2},
                               .impulses = {.times = {0.25, 0.25},
                                            .components = {0, 1},
                                            .amounts = {-1, 6},
                                            .kinds = {Impulse::replace, Impulse::replace}}};
    const auto solution = eddy::solve(Ball{}, eddy::Tsit5{}, rows({{1, 0}}), rows({{8, 0.5}}),
                                      options, eddy::Serial{});

    require_success(solution);
    CHECK(solution.y(0)(0, 0) == -1);
    REQUIRE(solution.stats(0).events == 1);
    // −1 + 6 s − 4 s² falls through 0 at s = (3 + √5) / 4.
    CHECK(std::fabs(solution.event_t(0) - (0.25 + (3 + std::sqrt(5.)) / 4)) <= 1e-12);
}
