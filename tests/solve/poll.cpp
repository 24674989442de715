// The caller is asked whether to go on, by the thread that called, while a call works or waits.

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using namespace std::chrono_literals;
using support::Array;

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

/// Takes `pause` for each attempt, and none for so many first ones.
struct Slow {
    static inline std::chrono::microseconds pause{0};
    static inline std::atomic<int> at_once{0};

    template <class Real>
    eddy::StepDecision<Real> propose(const Real& squared_norm, float order,
                                     const eddy::ControllerHistory<Real>& history) const {
        if (pause > 0us && --at_once < 0) std::this_thread::sleep_for(pause);
        return eddy::PIDController{}.propose(squared_norm, order, history);
    }
};

constexpr std::ptrdiff_t num_lanes = 8;
const Array start(num_lanes, 1, 1.0), rate(num_lanes, 1, 1.0);

/// Counts its calls, and where they are made; says no at the `no_at`-th.
struct Asked {
    int no_at = -1;
    mutable int calls = 0;
    mutable bool elsewhere = false;
    std::thread::id caller = std::this_thread::get_id();

    bool operator()() const {
        elsewhere = elsewhere || std::this_thread::get_id() != caller;
        return ++calls != no_at;
    }
};

template <class Backend>
auto slow_solver(const Backend& backend, std::chrono::microseconds pause,
                 eddy::SolveOptions options = {.t1 = 1, .rtol = 1e-4}) {
    Slow::pause = pause;
    return eddy::ensemble_solver(Decay{}, eddy::Bosh3{}, options, Slow{}, backend);
}

}  // namespace

TEMPLATE_TEST_CASE("poll: a long call asks the thread that called, and goes on", "", eddy::Cpu,
                   eddy::Serial) {
    auto solver = slow_solver(TestType{}, 5ms);
    const Asked asked;

    const auto begin = std::chrono::steady_clock::now();
    const bool success = solver(start, rate, asked).success();
    const auto took = std::chrono::steady_clock::now() - begin;

    CHECK(success);
    CHECK_FALSE(asked.elsewhere);
    CHECK(asked.calls >= 1);
    CHECK(asked.calls <= took / 50ms);
}

TEST_CASE("poll: a short call asks nobody") {
    auto solver = slow_solver(eddy::Cpu{}, 0us);
    const Asked asked;

    CHECK(solver(start, rate, asked).success());

    CHECK(asked.calls == 0);
}

TEMPLATE_TEST_CASE("poll: who says no has the call cancelled, and what was done", "", eddy::Cpu,
                   eddy::Serial) {
    auto solver = slow_solver(TestType{}, 5ms, {.t1 = 1e9, .rtol = 1e-4, .dt_max = 0.01});
    const Asked asked{.no_at = 2};

    const auto& solution = solver(start, rate, asked);

    CHECK(asked.calls == 2);
    CHECK(solution.result(0) == eddy::Result::cancelled);
    CHECK(solution.stats(0).accepted > 0);
    CHECK(solution.result(num_lanes - 1) == eddy::Result::cancelled);
}

TEST_CASE("poll: what it throws ends the call, and the next is as ever") {
    // Long enough that it is asked, however many lanes a pack takes at a time.
    auto solver = slow_solver(eddy::Cpu{}, 2ms, {.t1 = 1, .rtol = 1e-4, .dt_max = 0.01});
    const Array end(solver(start, rate).y());

    const auto throws = []() -> bool { throw std::runtime_error("Ctrl-C"); };
    CHECK(support::message_of([&] { static_cast<void>(solver(start, rate, throws)); }) == "Ctrl-C");

    Slow::pause = 0us;
    CHECK(support::same_array(solver(start, rate).y(), end));
}

TEST_CASE("poll: that of the options is asked unless the call has one, and so is its token") {
    const Asked of_options, of_call;
    std::stop_source stopped;
    stopped.request_stop();
    auto solver = slow_solver(
        eddy::Cpu{}, 2ms,
        {.t1 = 1, .rtol = 1e-4, .dt_max = 0.01, .cancelled = stopped.get_token(), .poll = [&] {
             return of_options();
         }});

    CHECK(solver(start, rate, of_call).result(0) == eddy::Result::cancelled);
    CHECK(solver(start, rate, std::stop_token{}).success());
    CHECK(of_options.calls > 0);
    const int before = of_options.calls;
    CHECK(solver(start, rate, {std::stop_token{}, of_call}).success());
    CHECK(of_options.calls == before);
    CHECK(of_call.calls > 0);
}

TEST_CASE("poll: a gradient asks on its way back as well, and gives what it has") {
    const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-4, .dt_max = 0.02, .memory_budget = 1};
    Slow::pause = 0us;
    auto gradient = eddy::gradient_solver(Decay{}, eddy::Bosh3{}, Square{}, options, Slow{},
                                          eddy::Cpu{.threads = 1});
    const double whole = gradient(start, rate).loss.total;
    // Fifty rounds forward at once, however busy the machine, and more than a thousand attempts again on the way back.
    Slow::at_once = 1000000;
    CHECK(slow_solver(eddy::Cpu{.threads = 1}, 1ms, options)(start, rate).success());
    Slow::at_once = 1000000 - Slow::at_once;
    const Asked asked{.no_at = 4};

    const auto& result = gradient(start, rate, asked);

    CHECK(asked.calls == 4);
    CHECK(result.report.counters.recomputed > 0);
    CHECK(result.report.result(0) == eddy::Result::cancelled);
    CHECK(result.gradient.y0(0, 0) == 0);
    Slow::pause = 0us;
    CHECK(gradient(start, rate).loss.total == whole);
}

TEST_CASE("poll: the caller is asked while it waits for its threads") {
    // Two groups: the caller begins with the fast lanes, a thread comes for the slow ones.
    constexpr std::ptrdiff_t places = 3 * eddy::native_lanes<double>;
    Array rates(2 * places, 1, 1.0);
    for (std::ptrdiff_t lane = places; lane < 2 * places; ++lane) rates(lane, 0) = 400;
    auto solver = slow_solver(eddy::Cpu{.threads = 2}, 1ms);
    const Asked asked;

    const auto begin = std::chrono::steady_clock::now();
    CHECK(solver(Array(2 * places, 1, 1.0), rates, asked).success());
    const auto took = std::chrono::steady_clock::now() - begin;

    CHECK_FALSE(asked.elsewhere);
    CHECK(asked.calls <= took / 50ms);
    CHECK(asked.calls >= 3);
}

TEST_CASE("poll: pushforward, pullback and Hessian product ask, too") {
    Slow::pause = 5ms;
    const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-4, .dt_max = 0.05};
    const Array direction(num_lanes, 1, 1.0), cotangents(num_lanes, 1, 1.0);
    auto solver = eddy::ensemble_solver(Decay{}, eddy::Bosh3{}, options, Slow{});
    auto gradient = eddy::gradient_solver(Decay{}, eddy::Bosh3{}, Square{}, options, Slow{});
    auto pullback = eddy::pullback_solver(Decay{}, eddy::Bosh3{}, options, Slow{});
    const Asked pushes{.no_at = 1}, multiplies{.no_at = 1}, pulls{.no_at = 1};

    CHECK(solver(start, rate, direction, direction, pushes).result(0) == eddy::Result::cancelled);
    CHECK(gradient.hessian_vector_product(start, rate, direction, direction, multiplies)
              .report.result(0) == eddy::Result::cancelled);
    CHECK(pullback(cotangents, start, rate, pulls).report.result(0) == eddy::Result::cancelled);

    CHECK(pushes.calls == 1);
    CHECK(multiplies.calls == 1);
    CHECK(pulls.calls == 1);
}

TEST_CASE("watcher: a call tells who watches it how far it is, and can be stopped by them") {
    struct Seen {
        std::string title;
        std::int64_t lanes = 0, done = 0, accepted = 0;
        bool ended = false;
    };
    Seen seen;
    const bool stops = GENERATE(false, true);
    const auto watch = [&](const eddy::WatchedCall& call) {
        seen.title = call.title;
        seen.lanes = call.num_lanes;
        if (stops) call.stop(call.call);
        return std::shared_ptr<void>(&seen, [&seen, counts = call.counts](void*) {
            seen.done = counts->lanes_done();
            seen.accepted = counts->accepted();
            seen.ended = true;
        });
    };
    Slow::pause = 0us;

    const auto solution = eddy::solve(Decay{}, eddy::Bosh3{}, start, rate,
                                      {.t1 = 1, .dt_max = 1e-3, .progress = watch});

    CHECK(seen.title == "solve");
    CHECK(seen.lanes == num_lanes);
    CHECK(seen.ended);
    CHECK(seen.done == (stops ? 0 : num_lanes));
    CHECK(seen.accepted == solution.total_stats().accepted);
    CHECK(solution.success() != stops);
}
