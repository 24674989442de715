// Cases that were once wrong, found by the fuzzer or by the extremes of options, one test each.
// Those that belong to one header stand with its tests; here are those of whole calls.

#include <cmath>
#include <limits>

#include "fuzz/memory.hpp"
#include "fuzz/problem.hpp"
#include "fuzz/scenario.hpp"
#include "support/catch.hpp"

namespace {

using fuzz::Answer;
using fuzz::Ask;
using fuzz::Kind;

const fuzz::Problem& problem_named(const std::string& name) {
    for (const auto& problem : fuzz::problems()) {
        if (problem->traits().name == name) return *problem;
    }
    throw std::logic_error("no problem is called " + name);
}
const fuzz::Problem& lotka_volterra() { return problem_named("Lotka-Volterra, Tsit5, double"); }

/// A call of `lanes` lanes, filled by chance.
Ask ask_for(const fuzz::Problem& problem, Kind kind, std::ptrdiff_t lanes,
            const eddy::SolveOptions& options) {
    fuzz::Random random(7);
    Ask ask;
    ask.options = options;
    fuzz::fill_lanes(problem, kind, random, lanes, ask);
    return ask;
}

}  // namespace

TEST_CASE("regressions: no lane makes more steps than max_steps, landings or not") {
    for (const std::int64_t limit : {1, 3, 10}) {
        Ask ask =
            ask_for(lotka_volterra(), Kind::solve, 20, {.t1 = 3, .rtol = 1e-9, .max_steps = limit});
        for (int k = 1; k < 40; ++k) ask.options.step_to.values.push_back(0.075 * k);
        ask.options.jump_times = {0.11, 1.3};

        const Answer answer = lotka_volterra().call(Kind::solve, ask);

        for (std::ptrdiff_t lane = 0; lane < answer.num_lanes(); ++lane) {
            const auto& stats = answer.stats[static_cast<std::size_t>(lane)];
            CHECK(stats.accepted + stats.rejected == limit);
        }
    }
}

TEST_CASE("regressions: the largest number of steps is no limit") {
    const Ask ask = ask_for(lotka_volterra(), Kind::loss, 5, {.t1 = 2, .max_steps = INT64_MAX});
    const Answer answer = lotka_volterra().call(Kind::loss, ask);
    for (std::ptrdiff_t lane = 0; lane < 5; ++lane) CHECK(answer.succeeded(lane));
}

TEST_CASE("regressions: a lane that never began ended at t0") {
    std::stop_source source;
    source.request_stop();
    for (const Kind kind : {Kind::solve, Kind::loss}) {
        const Ask ask = ask_for(lotka_volterra(), kind, 400,
                                {.t0 = -3, .t1 = -2, .cancelled = source.get_token()});
        const Answer answer = lotka_volterra().call(kind, ask);

        int waiting = 0;
        for (std::ptrdiff_t lane = 0; lane < answer.num_lanes(); ++lane) {
            const auto& end = answer.ends[static_cast<std::size_t>(lane)];
            CHECK(end.t >= -3);
            CHECK(end.t <= -2);
            if (end.result == eddy::Result::cancelled && end.step == 0) ++waiting;
        }
        CHECK(waiting > 0);
    }
}

TEST_CASE("regressions: a budget without limit stores every state and allocates what it needs") {
    const auto& problem = lotka_volterra();
    const Ask usual = ask_for(problem, Kind::loss, 10, {.t1 = 3, .rtol = 1e-8});
    const Answer wanted = problem.call(Kind::loss, usual);
    for (const std::size_t budget : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1}) {
        Ask ask = usual;
        ask.options.memory_budget = budget;
        fuzz::forget_peak();
        const std::int64_t held = fuzz::held_bytes();

        const Answer answer = problem.call(Kind::loss, ask);

        CHECK(fuzz::peak_bytes() - held < (std::int64_t{64} << 20));
        CHECK(answer.total_loss == wanted.total_loss);
        for (std::ptrdiff_t lane = 0; lane < 10; ++lane)
            CHECK(answer.p_gradient(lane, 0) == wanted.p_gradient(lane, 0));
    }
}

TEST_CASE("regressions: success means that every save point is finite") {
    const auto& poles = problem_named("poles, Dopri8, double");
    const Ask ask = [&] {
        Ask asked =
            ask_for(poles, Kind::solve, 2'000, {.t1 = 1, .rtol = 1e-3, .save_at = {0.5, 0.985, 1}});
        asked.serial = true;
        for (std::ptrdiff_t lane = 0; lane < 2'000; ++lane) {
            asked.p(lane, 0) = 0;
            asked.p(lane, 1) = 2;  // y1 reaches zero at √y1(0)
            asked.p(lane, 2) = 0;
            asked.y0(lane, 1) = 0.9 + 1e-4 * static_cast<double>(lane);
        }
        return asked;
    }();

    const Answer answer = poles.call(Kind::solve, ask);

    int failed = 0;
    for (std::ptrdiff_t lane = 0; lane < 2'000; ++lane) {
        if (!answer.succeeded(lane)) {
            ++failed;
            continue;
        }
        for (const fuzz::Table& y : answer.y) CHECK(std::isfinite(y(lane, 1)));
    }
    CHECK(failed > 0);
    CHECK(failed < 2'000);
}
