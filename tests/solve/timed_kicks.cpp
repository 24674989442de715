// Events of time among events of the state: a ball that bounces, is kicked, and ends, on every machine.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/emulated_device.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
using eddy::Cpu, eddy::Serial, eddy::SolveOptions;

/// Falls, is thrown back from the ground, and kicked at times of its own; it ends at another.
struct Kicked {
    static constexpr int state_size = 2, parameter_size = 5;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0.1 * t - p[0] * (1 + 0.1 * y[0] * y[0]));
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return eddy::vec((t - p[2]) * (t - 2 * p[2]) * (t - 1.5), y[0], t - p[3], p[4] - t * t);
    }
    static constexpr eddy::Crossing event_direction[] = {
        eddy::Crossing::either, eddy::Crossing::falling, eddy::Crossing::rising,
        eddy::Crossing::falling};
    static constexpr bool event_terminal[] = {false, false, false, true};
    constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 1)
            return eddy::vec(-0.0 * p[1] + 0 * y[0], -p[1] * y[1]);
        else if constexpr (index == 0)
            return eddy::vec(y[0] + 0.01 * t, y[1] + 0.5);
        else
            return eddy::vec(y[0], y[1] - p[1]);
    }
};
struct Height {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return (1 + t) * y[0] * y[0] + 0.5 * p[1] * y[1];
    }
};
struct Kicks {
    static constexpr std::ptrdiff_t count = 45;
    Array y0{count, 2}, p{count, 5};

    Kicks() {
        support::Random random(5);
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            y0(lane, 0) = random.uniform(0.2, 1.5);
            y0(lane, 1) = random.uniform(-1, 2);
            p(lane, 0) = random.uniform(2, 6);
            p(lane, 1) = random.uniform(0.5, 0.9);
            p(lane, 2) = lane % 7 == 2 ? 0.5 : random.uniform(0.1, 1.2);
            p(lane, 3) = lane % 5 == 1 ? 0 : lane % 5 == 2 ? 0.5 : random.uniform(0, 2.5);
            p(lane, 4) = lane % 4 == 0 ? random.uniform(0.5, 3) : 100;
        }
    }
};
const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };

}  // namespace

TEST_CASE(
    "timed kicks: Serial, packs and devices have the same bits, each trajectory its own events") {
    const Kicks kicks;
    std::int64_t events = 0;
    for (const bool is_short : {false, true}) {
        SolveOptions options{.t1 = 2, .rtol = 1e-5, .save_at = {0, 0.5, 1.1, 2}, .max_steps = 500};
        if (is_short) options.checkpoints = 3, options.step_to = {0.5, 1.5};
        const auto gradient = [&](const auto& backend) {
            return eddy::value_and_gradient(Kicked{}, eddy::Tsit5{}, Height{}, kicks.y0, kicks.p,
                                            options, eddy::differentiate_times, backend);
        };
        const auto expected = gradient(Serial{});
        const auto check = [&](const auto& got) {
            for (std::ptrdiff_t lane = 0; lane < Kicks::count; ++lane) {
                CAPTURE(lane);
                CHECK(got.report.result(lane) == expected.report.result(lane));
                CHECK(got.report.stats(lane).events == expected.report.stats(lane).events);
                CHECK(got.report.stats(lane).rejected == expected.report.stats(lane).rejected);
                CHECK(got.report.event_index(lane) == expected.report.event_index(lane));
                CHECK(same(got.report.event_t(lane), expected.report.event_t(lane)));
                CHECK(same(got.loss(lane), expected.loss(lane)));
                for (int i = 0; i < 5; ++i)
                    CHECK(same(got.gradient.p(lane, i), expected.gradient.p(lane, i)));
                CHECK(same(got.gradient.t0(lane), expected.gradient.t0(lane)));
            }
        };
        check(gradient(Cpu{.threads = 1}));
        check(gradient(support::EmulatedDevice{}));
        for (std::ptrdiff_t lane = 0; lane < Kicks::count; ++lane) {
            CAPTURE(lane);  // one comes to rest: its bounces use up the steps
            CHECK(expected.report.result(lane) != eddy::Result::non_finite);
            events += expected.report.stats(lane).events;
        }
    }
    CHECK(events > 2 * 4 * Kicks::count);
}

TEST_CASE("timed kicks: gradients of kicks and bounces are differences of the solves") {
    const Kicks kicks;
    const SolveOptions options{.t1 = 1.3, .rtol = 1e-10, .atol = 1e-12};
    const auto solve = [&](const Array& p) {
        return eddy::value_and_gradient(Kicked{}, eddy::Tsit5{}, Height{}, kicks.y0, p, options);
    };
    const auto at = solve(kicks.p);
    for (const int i : {0, 1, 2, 3, 4}) {
        const double h = 1e-6;
        Array up = kicks.p, down = kicks.p;
        for (std::ptrdiff_t lane = 0; lane < Kicks::count; ++lane) {
            up(lane, i) += h;
            down(lane, i) -= h;
        }
        const auto above = solve(up), below = solve(down);
        int compared = 0;
        for (std::ptrdiff_t lane = 0; lane < Kicks::count; ++lane) {
            if (above.report.stats(lane).events != below.report.stats(lane).events) continue;
            if (lane % 5 == 1 || lane % 5 == 2 || lane % 7 == 2) continue;  // events change places
            const double difference = (above.loss(lane) - below.loss(lane)) / (2 * h);
            CAPTURE(lane, i);
            CHECK(at.gradient.p(lane, i) == Approx(difference).epsilon(1e-5).margin(1e-5));
            ++compared;
        }
        CHECK(compared > 15);
    }
}
