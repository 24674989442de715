// Calls that would run for minutes end when somebody says so, from whichever thread and in whatever part of the work, long
// before they are done: by the steps that they have made, for times depend on the machine, and are printed alone.
// Meanwhile they can be watched.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using eddy::Result;
using support::Array;

/// Turns for ever; p is the rate. A step is about a tenth of a turn, so that the time is a number of steps.
struct Turning {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1], -p[0] * y[0]);
    }
};
struct First {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0]; }
};

/// About 2e8 steps in a row: minutes, if nobody stops it.
const eddy::SolveOptions endless{.t1 = 2e7, .rtol = 1e-6, .atol = 1e-9, .max_steps = 200'000'000};
const eddy::SolveOptions brief{.t1 = 2, .rtol = 1e-6, .atol = 1e-9};

Array start(std::ptrdiff_t lanes) { return Array(lanes, 2, 1.0); }
Array rates(std::ptrdiff_t lanes) {
    Array p(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = 1 + static_cast<double>(lane % 97) / 97;
    return p;
}

/// call(token) until another thread stops it after `later`; how long it took from then on.
template <class Call>
Clock::duration stopped_after(Clock::duration later, const Call& call) {
    std::stop_source source;
    Clock::time_point asked;
    std::thread other([&] {
        std::this_thread::sleep_for(later);
        asked = Clock::now();
        source.request_stop();
    });
    call(source.get_token());
    const Clock::time_point ended = Clock::now();
    other.join();
    return ended - asked;
}
double milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// Every lane was; none had come far.
void check_cut(const eddy::Outcomes& found) {
    std::ptrdiff_t not_cancelled = 0;
    std::int64_t most_steps = 0;
    for (std::ptrdiff_t lane = 0; lane < found.num_lanes(); ++lane) {
        not_cancelled += found.result(lane) != Result::cancelled;
        most_steps = std::max(most_steps, found.failure(lane).step);
    }
    CHECK(not_cancelled == 0);
    CHECK(most_steps < endless.max_steps / 2);
    std::printf("%td lanes, %lld steps at most\n", found.num_lanes(),
                static_cast<long long>(most_steps));
}

}  // namespace

TEST_CASE(
    "device stopping: a solve ends soon after a token is stopped, and the next one is whole") {
    for (const std::ptrdiff_t lanes : {1, 1009, 300'007}) {
        CAPTURE(lanes);
        auto solver = eddy::ensemble_solver(Turning{}, eddy::Tsit5{}, endless, eddy::Cuda{});
        const Array y0 = start(lanes), p = rates(lanes);

        const auto late = stopped_after(
            300ms, [&](const std::stop_token& token) { check_cut(solver(y0, p, token)); });

        std::printf("a solve of %td lanes ended %.1f ms after it was told to\n", lanes,
                    milliseconds(late));
    }
    const auto expected =
        eddy::solve(Turning{}, eddy::Tsit5{}, start(100), rates(100), brief, eddy::Serial{});
    const auto found =
        eddy::solve(Turning{}, eddy::Tsit5{}, start(100), rates(100), brief, eddy::Cuda{});
    CHECK(support::same_array(found.y(), expected.y()));
}

TEST_CASE("device stopping: the thread that called is asked now and then, and may throw") {
    const auto caller = std::this_thread::get_id();
    int times = 0;
    bool elsewhere = false;
    eddy::SolveOptions polled = endless;
    polled.poll = [&] {
        elsewhere = elsewhere || std::this_thread::get_id() != caller;
        return ++times < 6;
    };

    const auto found =
        eddy::solve(Turning{}, eddy::Tsit5{}, start(1009), rates(1009), polled, eddy::Cuda{});

    check_cut(found);
    CHECK(times == 6);
    CHECK(!elsewhere);

    times = 0;
    polled.poll = [&]() -> bool {
        if (++times == 3) throw std::runtime_error("interrupted");
        return true;
    };
    CHECK(support::message_of([&] {
              static_cast<void>(eddy::solve(Turning{}, eddy::Tsit5{}, start(1009), rates(1009),
                                            polled, eddy::Cuda{}));
          }) == "interrupted");
    CHECK(times == 3);
    const auto after =
        eddy::solve(Turning{}, eddy::Tsit5{}, start(33), rates(33), brief, eddy::Cuda{});
    CHECK(after.success());
}

TEST_CASE(
    "device stopping: lanes are counted while others are at work, and a watcher may stop them") {
    // Rates over five decades: most lanes end soon, a few never.
    constexpr std::ptrdiff_t lanes = 4096;
    Array p(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = std::pow(10., -6 + 6 * static_cast<double>(lane) / lanes);
    std::vector<std::int64_t> seen, steps;
    std::thread other;
    eddy::SolveOptions watched = endless;
    watched.progress = [&](const eddy::WatchedCall& call) {
        other = std::thread([&, call] {
            // Until some lanes have ended, however long the device takes to begin.
            constexpr int most_looks = 1200, looks_after = 6;
            for (int look = 0, left = looks_after; look < most_looks && left > 0; ++look) {
                std::this_thread::sleep_for(50ms);
                seen.push_back(call.counts->lanes_done());
                steps.push_back(call.counts->accepted());
                left -= seen.back() > 0;
            }
            call.stop(call.call);
        });
        return std::make_shared<int>();  // nothing would mean that nobody cares
    };

    const auto found =
        eddy::solve(Turning{}, eddy::Tsit5{}, start(lanes), p, watched, eddy::Cuda{});
    other.join();

    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(std::is_sorted(steps.begin(), steps.end()));
    CHECK(seen.back() > 0);
    CHECK(seen.back() < lanes);
    std::ptrdiff_t done = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        done += found.result(lane) == Result::success;
    CHECK(done >= seen.back());
    CHECK(found.result(0) == Result::success);
    CHECK(found.result(lanes - 1) == Result::cancelled);
    CHECK(found.y()(0, 0) ==
          Approx(std::sqrt(2.) * std::cos(2e7 * p(0, 0) - std::atan(1.))).margin(1e-2));
}

TEST_CASE("device stopping: a gradient ends on its way there, and on its way back") {
    constexpr std::ptrdiff_t lanes = 1009;
    const Array y0 = start(lanes), p = rates(lanes);
    struct Part {
        const char* name;
        double t1;
        std::int64_t checkpoints;
    };
    // With one checkpoint 40,000 steps are taken 8e8 times on the way back; there is a moment's work.
    for (const Part& part : {Part{"there", 2e7, 8}, Part{"back", 4e3, 1}}) {
        INFO(part.name);
        auto options = endless;
        options.t1 = part.t1;
        options.checkpoints = part.checkpoints;
        options.stable_gradients = false;
        auto solver =
            eddy::gradient_solver(Turning{}, eddy::Tsit5{}, First{}, options, eddy::Cuda{});

        const auto late = stopped_after(1500ms, [&](const std::stop_token& token) {
            const auto& found = solver(y0, p, token);
            std::ptrdiff_t cancelled = 0, without = 0;
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
                cancelled += found.report.result(lane) == Result::cancelled;
                without += found.gradient.y0(lane, 0) == 0 && found.gradient.y0(lane, 1) == 0 &&
                           found.gradient.p(lane, 0) == 0 && std::isnan(found.loss(lane));
            }
            CHECK(cancelled == lanes);
            CHECK(without == lanes);
            // Each group would take its 40,000 rounds again, 8e8 in all.
            CHECK(found.report.counters.recomputed < 32 * std::int64_t{400'000'000});
            CHECK(found.report.failure(0).step < endless.max_steps / 2);
        });

        std::printf("a gradient on its way %s ended %.1f ms after it was told to\n", part.name,
                    milliseconds(late));
    }
}

TEST_CASE("device stopping: a token that is stopped already is an empty call") {
    std::stop_source source;
    source.request_stop();
    auto options = endless;
    options.cancelled = source.get_token();

    const auto found =
        eddy::solve(Turning{}, eddy::Tsit5{}, start(1009), rates(1009), options, eddy::Cuda{});

    CHECK(found.result(0) == Result::cancelled);
    CHECK(found.result(1008) == Result::cancelled);
    CHECK(found.total_stats().accepted < 1009 * 1000);
}
