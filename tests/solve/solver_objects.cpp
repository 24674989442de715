// What callers hold: a solution, whose parts are checked when they are asked for, and a solver
// object, which may be called again, copied and moved.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/sanitized.hpp"

namespace {

using support::Array;
using support::Forced;
using support::HalfSquares;
using support::message_of;
using support::same_array;

const eddy::SolveOptions options{.t1 = 3, .rtol = 1e-5, .atol = 1e-8, .save_at = {1, 2, 3}};

Array some_y0(std::ptrdiff_t lanes) {
    Array y0(lanes, 2, 0.5);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) y0(lane, 0) = 0.1 * double(lane % 17);
    return y0;
}
Array some_p(std::ptrdiff_t lanes) {
    Array p(lanes, 2, 1.5);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) p(lane, 1) = 1 + 0.2 * double(lane % 13);
    return p;
}
auto solve_lanes(std::ptrdiff_t lanes, const eddy::SolveOptions& asked) {
    return eddy::solve(Forced{}, eddy::Bosh3{}, some_y0(lanes), some_p(lanes), asked);
}

/// Of this process, with the caller's.
std::ptrdiff_t num_threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
}
/// A thread that was joined is counted for a moment longer: waits for it.
bool num_threads_becomes(std::ptrdiff_t wanted) {
    for (int tries = 0; tries < 1000 && num_threads() != wanted; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return num_threads() == wanted;
}

}  // namespace

TEST_CASE("solution: what is out of range is refused with a sentence") {
    auto asked = options;
    asked.save_steps = true;
    const auto solution = solve_lanes(4, asked);
    const auto plain = solve_lanes(4, options);

    CHECK(message_of([&] { static_cast<void>(solution.y(3)); }) ==
          "solution: save point 3 is out of range; give a number from 0 to 2");
    CHECK(message_of([&] { static_cast<void>(solution.y(-1)); }) ==
          "solution: save point -1 is out of range; give a number from 0 to 2");
    CHECK(message_of([&] { static_cast<void>(solution.t(3)); }) ==
          "solution: save point 3 is out of range; give a number from 0 to 2");
    CHECK(message_of([&] { static_cast<void>(solution.tangent(0)); }) ==
          "solution: tangent(k) of a solve, which has none; call pushforward instead of solve");
    CHECK(message_of([&] { static_cast<void>(solution.tangent(3)); }) ==
          "solution: save point 3 is out of range; give a number from 0 to 2");
    for (const std::ptrdiff_t lane : {-1, 4}) {
        const auto refused = "solution: trajectory " + std::to_string(lane) +
                             " is out of range; give a number from 0 to 3";
        CHECK(message_of([&] { static_cast<void>(solution.result(lane)); }) == refused);
        CHECK(message_of([&] { static_cast<void>(solution.stats(lane)); }) == refused);
        CHECK(message_of([&] { static_cast<void>(solution.failure(lane)); }) == refused);
        CHECK(message_of([&] { static_cast<void>(solution.num_steps(lane)); }) == refused);
        CHECK(message_of([&] { static_cast<void>(plain.num_steps(lane)); }) == refused);
        CHECK(message_of([&] { static_cast<void>(solution.step_t(lane, 0)); }) == refused);
        CHECK(message_of([&] { static_cast<void>(solution.step_y(lane, 0, 0)); }) == refused);
    }
    const auto past = "solution: step " + std::to_string(solution.num_steps(1)) +
                      " is out of range; give a number from 0 to " +
                      std::to_string(solution.num_steps(1) - 1);
    CHECK(message_of([&] { static_cast<void>(solution.step_t(1, solution.num_steps(1))); }) ==
          past);
    CHECK(message_of([&] { static_cast<void>(solution.step_y(1, solution.num_steps(1), 0)); }) ==
          past);
    CHECK(message_of([&] { static_cast<void>(solution.step_y(1, 0, 2)); }) ==
          "solution: component 2 is out of range; give a number from 0 to 1");
    CHECK(message_of([&] { static_cast<void>(plain.step_t(1, 0)); }) ==
          "solution: no steps were kept; set .save_steps = true");
    CHECK(message_of([&] { static_cast<void>(solve_lanes(0, options).result(0)); }) ==
          "solution: trajectory 0 is out of range; there is none");
    CHECK(message_of([&] { static_cast<void>(eddy::Solution<double>{}.y()); }) ==
          "solution: save point 0 is out of range; there is none");
    CHECK(plain.num_steps(1) == 0);
}

TEST_CASE("solution: outcomes lie in memory as callers from other languages expect") {
    auto asked = options;
    const auto of_first = solve_lanes(40, options).stats(0);
    asked.max_steps = of_first.accepted + of_first.rejected + 3;  // too few for some of the lanes
    const auto solution = solve_lanes(40, asked);
    const std::span<const eddy::LaneOutcome> outcomes = solution.outcomes();
    const auto* bytes = reinterpret_cast<const unsigned char*>(outcomes.data());
    const auto number_at = [&]<class Number>(std::ptrdiff_t lane, std::ptrdiff_t byte,
                                             Number number) {
        std::memcpy(&number, bytes + 40 * lane + byte, sizeof number);
        return number;
    };

    REQUIRE(std::ssize(outcomes) == solution.num_lanes());
    std::ptrdiff_t failures = 0;
    for (std::ptrdiff_t lane = 0; lane < 40; ++lane) {
        const auto stats = solution.stats(lane);
        CHECK(number_at(lane, 0, std::int64_t{}) == stats.accepted);
        CHECK(number_at(lane, 8, std::int64_t{}) == stats.rejected);
        CHECK(number_at(lane, 16, std::int64_t{}) == stats.evaluations);
        CHECK(number_at(lane, 24, double{}) == solution.failure(lane).t);
        CHECK(number_at(lane, 32, std::int32_t{}) == -1);
        CHECK(bytes[40 * lane + 36] == (solution.result(lane) == eddy::Result::success ? 0 : 2));
        failures += bytes[40 * lane + 36] != 0;
    }
    CHECK(failures > 0);
    CHECK(failures < 40);
}

TEST_CASE("solution: a part of one that is about to go is an array of its own") {
    const auto kept = solve_lanes(4, options);
    const auto end = solve_lanes(4, options).y(2);

    CHECK(same_array(end, kept.y(2)));
    CHECK(std::is_same_v<decltype(solve_lanes(4, options).y()), Array>);
    CHECK(std::is_same_v<decltype(solve_lanes(4, options).tangent()), Array>);
    CHECK(std::is_same_v<decltype(kept.y()), eddy::EnsembleView<const double>>);
}

TEST_CASE("gradient: a lane that there is not is refused with a sentence") {
    const std::vector data(3, Array(1, 2, 0.25));
    const auto result =
        eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, some_y0(4),
                                 some_p(4), options, eddy::differentiate_times);

    const std::string to_do = " is out of range; give a number from 0 to 3";
    CHECK(message_of([&] { static_cast<void>(result.loss(4)); }) == "loss: trajectory 4" + to_do);
    CHECK(message_of([&] { static_cast<void>(result.gradient.t0(-1)); }) ==
          "gradient: trajectory -1" + to_do);
    CHECK(message_of([] {
              static_cast<void>(eddy::Gradient<double>{}.t0(0));
          }).find("put eddy::differentiate_times after the options") != std::string::npos);
    CHECK(message_of([&] { static_cast<void>(result.report.result(4)); }) ==
          "solution: trajectory 4" + to_do);
}

TEST_CASE("solver: a token stops one call, and the next goes on") {
    const Array y0 = some_y0(40), p = some_p(40);
    const std::vector data(3, Array(1, 2, 0.25));
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options);
    auto gradient = eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options);
    const Array end(solver(y0, p).y(2));
    const double loss = gradient(data, y0, p).loss.total;
    std::stop_source stopped;
    stopped.request_stop();
    const auto is_cancelled = [](const eddy::Outcomes& outcomes) {
        return outcomes.result(0) == eddy::Result::cancelled &&
               outcomes.result(39) == eddy::Result::cancelled;
    };

    for (int call = 0; call < 2; ++call) {
        CHECK(is_cancelled(solver(y0, p, stopped.get_token())));
        CHECK(same_array(solver(y0, p).y(2), end));
        CHECK(same_array(solver(y0, p, std::stop_token{}).y(2), end));
        CHECK(is_cancelled(solver(y0, p, y0, p, stopped.get_token())));
        CHECK(solver(y0, p, y0, p).success());
        CHECK(is_cancelled(gradient(data, y0, p, stopped.get_token()).report));
        CHECK(gradient(data, y0, p).loss.total == loss);
    }
}

TEST_CASE("solver: the token of a call takes the place of that of the options") {
    std::stop_source stopped;
    stopped.request_stop();
    auto asked = options;
    asked.cancelled = stopped.get_token();
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, asked);
    const auto solution = solve_lanes(4, asked);
    const std::vector cotangents(3, Array(4, 2, 1.));

    CHECK_FALSE(solver(some_y0(4), some_p(4)).success());
    CHECK(solver(some_y0(4), some_p(4), std::stop_token{}).success());
    CHECK(eddy::pullback(solution, cotangents).y0(0, 0) == 0);
    CHECK(eddy::pullback(solution, cotangents, std::stop_token{}).y0(0, 0) != 0);
}

TEST_CASE("solver: a copy shares nothing, and what was moved from may be assigned to") {
    const Array y0 = some_y0(40), p = some_p(40);
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options);
    const auto& solution = solver(y0, p);
    const Array end(solution.y(2));

    auto copy = solver;
    static_cast<void>(copy(some_y0(3), some_p(3)));
    CHECK(same_array(solution.y(2), end));

    std::thread elsewhere([&] {
        for (int call = 0; call < 20; ++call) static_cast<void>(copy(some_y0(7), some_p(7)));
    });
    for (int call = 0; call < 20; ++call) CHECK(same_array(solver(y0, p).y(2), end));
    elsewhere.join();

    auto moved = std::move(solver);
    CHECK(same_array(moved(y0, p).y(2), end));
    solver = moved;
    CHECK(same_array(solver(y0, p).y(2), end));
    copy = std::move(moved);
    CHECK(same_array(copy(y0, p).y(2), end));
}

TEST_CASE("solver: threads are started for long calls alone, kept, and gone with the solver") {
    auto asked = options;
    asked.rtol = 1e-9;
    asked.save_at = {};
    asked.t1 = support::sanitized ? 30 : 300;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for those of other tests
    const std::ptrdiff_t before = num_threads();
    {
        auto solver =
            eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, asked, eddy::Cpu{.threads = 2});
        for (int call = 0; call < 10; ++call) static_cast<void>(solver(some_y0(1), some_p(1)));
        CHECK(num_threads() == before);
        // Two groups: the second thread comes while the first group is worked on.
        const Array y0 = some_y0(48), p = some_p(48);
        for (int call = 0; call < 3; ++call) {
            const Array end(solver(y0, p).y());
            CHECK(num_threads() == before + 1);
            CHECK(same_array(
                end,
                eddy::solve(Forced{}, eddy::Bosh3{}, y0, p, asked, eddy::Cpu{.threads = 1}).y()));
        }
    }
    CHECK(num_threads_becomes(before));
}

TEST_CASE("solver: its type can be named, and it can be a member") {
    struct Model {
        eddy::EnsembleSolver<Forced, eddy::Bosh3> solve{options};
        eddy::EnsembleSolver<Forced, eddy::Bosh3, eddy::Serial> by_name{options};
        eddy::GradientSolver<Forced, eddy::Bosh3, HalfSquares, eddy::Cpu> differentiate{
            options, eddy::Cpu{.threads = 1}};
        eddy::GradientSolver<Forced, eddy::Bosh3, HalfSquares> later;
    };
    const Array y0 = some_y0(4), p = some_p(4);
    const std::vector data(3, Array(1, 2, 0.25));

    std::vector<Model> models(2);
    Model& model = models.back();

    CHECK(same_array(model.solve(y0, p).y(2), solve_lanes(4, options).y(2)));
    CHECK(model.by_name(y0, p).success());
    CHECK(message_of([&] { static_cast<void>(model.later(data, y0, p)); }) ==
          "value_and_gradient: t1 is missing or NaN; give the time to end at, .t1 = ...");
    model.later = eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options);
    CHECK(model.later(data, y0, p).loss.total == model.differentiate(data, y0, p).loss.total);
}

TEST_CASE("solver: options without t1 are refused when it is made") {
    const std::string missing = ": t1 is missing or NaN; give the time to end at, .t1 = ...";
    const auto made = [](auto make) { return message_of([&] { static_cast<void>(make()); }); };

    CHECK(made([] { return eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, {.t0 = 1}); }) ==
          "solve" + missing);
    CHECK(made([] {
              return eddy::EnsembleSolver<Forced, eddy::Bosh3, eddy::Serial>(eddy::SolveOptions{});
          }) == "solve" + missing);
    CHECK(made([] { return eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, {}); }) ==
          "value_and_gradient" + missing);
    CHECK(made([] { return eddy::pullback_solver(Forced{}, eddy::Bosh3{}, {}); }) ==
          "pullback" + missing);
}

TEST_CASE("solver: one that was moved from says so") {
    auto solve = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, eddy::Serial{});
    const Array y0 = some_y0(4), p = some_p(4);

    auto moved = std::move(solve);

    CHECK(moved(y0, p).success());
    CHECK(message_of([&] { static_cast<void>(solve(y0, p)); }) ==
          "solve: atol has 0 numbers; give one, or one for each of the 2 components; a solver or "
          "solution that was moved from has none");
}

TEST_CASE("solver: a second call at the same time is refused, and the first goes on") {
    // Told of each call as it begins.
    std::function<void()> meanwhile = [] {};
    eddy::SolveOptions asked = options;
    asked.progress = eddy::Watcher([&](const eddy::WatchedCall&) -> std::shared_ptr<void> {
        meanwhile();
        return nullptr;
    });
    auto solve = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, asked, eddy::Serial{});
    auto differentiate =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, asked, eddy::Serial{});
    const std::vector data(3, Array(1, 2, 0.25));
    const Array y0 = some_y0(4), p = some_p(4);
    std::string said;
    const auto call_meanwhile = [&](auto call) {
        meanwhile = [&said, call] { std::thread([&] { said = message_of(call); }).join(); };
    };
    const std::string refusal =
        ": this solver object is in a call already, and serves one at a time; give each thread a "
        "copy of it";

    call_meanwhile([&] { static_cast<void>(solve(y0, p)); });
    CHECK(same_array(solve(y0, p).y(2), solve_lanes(4, options).y(2)));
    CHECK(said == "solve" + refusal);
    call_meanwhile([&] { static_cast<void>(differentiate(data, y0, p)); });
    CHECK(differentiate(data, y0, p).report.success());
    CHECK(said == "value_and_gradient" + refusal);

    // A call that ends in an exception has ended.
    meanwhile = [] { throw std::runtime_error("enough"); };
    CHECK(message_of([&] { static_cast<void>(solve(y0, p)); }) == "enough");
    meanwhile = [] {};
    CHECK(solve(y0, p).success());
}

TEST_CASE("gradient: the report has the bytes kept and the evaluations of the way back") {
    const std::vector data(3, Array(1, 2, 0.25));
    const auto report_of = [&](std::int64_t checkpoints, const auto& backend) {
        auto asked = options;
        asked.checkpoints = checkpoints;
        return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, some_y0(1),
                                        some_p(1), asked, backend)
            .report;
    };
    const auto all = report_of(0, eddy::Cpu{}), few = report_of(3, eddy::Cpu{});
    const auto serial = report_of(3, eddy::Serial{});
    const auto stats = all.stats(0);
    const std::int64_t attempts = stats.accepted + stats.rejected;

    // Three stages; the fourth belongs to the error estimate.
    CHECK(all.counters.recomputed == 0);
    CHECK(all.evaluations_back == 3 * attempts);
    CHECK(few.counters.recomputed > 0);
    CHECK(few.evaluations_back == 3 * (attempts + few.counters.recomputed));
    CHECK(serial.evaluations_back == 3 * stats.accepted);  // it keeps no rejected ones

    const std::int64_t state_bytes = 2 * sizeof(double);
    CHECK(all.bytes_kept >= attempts * state_bytes);
    CHECK(all.bytes_kept < (64 << 10));
    CHECK(few.bytes_kept >= 3 * state_bytes);
    CHECK(few.bytes_kept < all.bytes_kept);
    CHECK(serial.bytes_kept >= stats.accepted * state_bytes);
    CHECK(serial.bytes_kept < (64 << 10));
}
