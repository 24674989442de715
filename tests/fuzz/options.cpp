// Every member of every options struct at its extremes, found from the struct: each call ends soon,
// within moderate memory, with InvalidArgument in a good sentence or with a right result. A struct
// whose name ends in Options and that is not here fails the test `fuzz_structs`.

#include <cmath>
#include <eddy/ad/residuals.hpp>
#include <eddy/backends/cpu.hpp>
#include <eddy/checkpoint/chain.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <eddy/checkpoint/hrevolve.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/tiered_store.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solve/call/steady_state.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/steppers/controller/predictive.hpp>
#include <eddy/trace/trace.hpp>
#include <sstream>

#include "fuzz/extremes.hpp"
#include "fuzz/invariants.hpp"
#include "fuzz/memory.hpp"
#include "fuzz/watchdog.hpp"
#include "support/catch.hpp"

namespace {

using fuzz::Answer;
using fuzz::Ask;
using fuzz::Kind;

/// What a call does that may be refused: the message, or nothing. It ends soon, and holds no more
/// than `most_bytes` meanwhile.
constexpr std::int64_t most_bytes = std::int64_t{300} << 20;
template <class Call>
std::string refusal_of(const std::string& name, Call call) {
    fuzz::watch(name);
    fuzz::forget_peak();
    const std::int64_t held = fuzz::held_bytes();
    std::string message;
    try {
        call();
    } catch (const eddy::InvalidArgument& error) {
        message = error.what();
        CHECK(fuzz::is_good_sentence(message));
    } catch (const std::exception& error) {
        FAIL_CHECK("neither a result nor InvalidArgument: " << error.what());
        message = error.what();
    }
    fuzz::stop_watching();
    CHECK(fuzz::peak_bytes() - held < most_bytes);
    return message;
}

const fuzz::Problem& problem_named(const std::string& name) {
    for (const auto& problem : fuzz::problems()) {
        if (problem->traits().name == name) return *problem;
    }
    throw std::logic_error("no problem is called " + name);
}

bool same_tables(const fuzz::Table& a, const fuzz::Table& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
    for (std::ptrdiff_t i = 0; i < a.rows() * a.cols(); ++i) {
        if (a.data()[i] != b.data()[i]) return false;
    }
    return true;
}
bool all_succeeded(const Answer& answer) {
    for (std::ptrdiff_t lane = 0; lane < answer.num_lanes(); ++lane) {
        if (!answer.succeeded(lane)) return false;
    }
    return true;
}
bool all_finite(const Answer& answer) {
    for (const fuzz::Table& y : answer.y) {
        for (std::ptrdiff_t i = 0; i < y.rows() * y.cols(); ++i) {
            if (!std::isfinite(y.data()[i])) return false;
        }
    }
    return true;
}

/// Another number of save points wants other seeds.
void fill_seeds(const fuzz::Problem& problem, Kind kind, Ask& ask) {
    const std::size_t saves = std::max<std::size_t>(1, ask.options.save_at.values.size());
    if (saves == ask.seeds.size()) return;
    fuzz::Random random(1);
    fuzz::fill_lanes(problem, kind, random, 3, ask);
}

/// A call of `kind` for each of the extremes of what `part(ask)` refers to.
template <class Part>
void check_calls(const fuzz::Problem& problem, Kind kind, Ask good, Part part) {
    fuzz::Random random(1);
    fuzz::fill_lanes(problem, kind, random, 3, good);
    const Answer usual = problem.call(kind, good);
    REQUIRE(usual.refusal.empty());
    REQUIRE(all_succeeded(usual));

    for (const auto& extreme : fuzz::all_extremes(part(good))) {
        Ask ask = good;
        part(ask) = extreme.value;
        fill_seeds(problem, kind, ask);
        const std::string name =
            std::string(fuzz::name_of(kind)) + " of " + problem.traits().name + ", " + extreme.text;
        INFO(name);
        Answer answer;
        const std::string refusal = refusal_of(name, [&] {
            answer = problem.call(kind, ask);
            if (answer.refused) throw eddy::InvalidArgument(answer.refusal);
        });
        if (!refusal.empty() || !all_succeeded(answer)) continue;
        CHECK(all_finite(answer));
        // With tangents in the norm of errors steps are others.
        if (!extreme.only_effort || ask.options.tangents_in_error_norm) continue;
        CHECK(answer.y.size() == usual.y.size());
        for (std::size_t k = 0; k < std::min(answer.y.size(), usual.y.size()); ++k)
            CHECK(same_tables(answer.y[k], usual.y[k]));
        CHECK(same_tables(answer.y0_gradient, usual.y0_gradient));
        CHECK(same_tables(answer.p_gradient, usual.p_gradient));
    }
}

/// Steps enough for the good call, and few for those that take all they may.
Ask plain_ask(bool serial) {
    Ask ask;
    ask.options = {.t1 = 1, .rtol = 1e-4, .max_steps = 2'000};
    ask.serial = serial;
    return ask;
}
Ask ask_with_lists(bool serial) {
    Ask ask;
    ask.options = {.t0 = 0.25,
                   .t1 = 1,
                   .rtol = 1e-4,
                   .atol = {1e-6, 1e-7},
                   .save_at = {0.25, 0.5, 1},
                   .step_to = {0.5, 0.75},
                   .jump_times = {0.6},
                   .impulses = {.times = {0.5, 1}, .components = 1, .amounts = {0.125, -0.0625}},
                   .dt0 = 0.01,
                   .dt_min = 1e-9,
                   .dt_max = 0.2,
                   .max_steps = 2'000};
    ask.serial = serial;
    return ask;
}

}  // namespace

TEST_CASE("options: SolveOptions at its extremes, with every call") {
    const auto& adaptive = problem_named("Lotka-Volterra, Tsit5, double");
    const auto options = [](Ask & ask) -> auto& { return ask.options; };
    check_calls(adaptive, Kind::solve, plain_ask(false), options);
    check_calls(adaptive, Kind::solve, ask_with_lists(true), options);
    check_calls(adaptive, Kind::pushforward, ask_with_lists(false), options);
    check_calls(adaptive, Kind::pullback, plain_ask(false), options);
    check_calls(adaptive, Kind::loss, ask_with_lists(false), options);
}

TEST_CASE("options: SolveOptions at its extremes, with steps of constant size") {
    Ask ask = plain_ask(false);
    ask.options.dt0 = 0.125;
    const auto options = [](Ask & a) -> auto& { return a.options; };
    const auto& constant = problem_named("nothing, RK4, float");
    check_calls(constant, Kind::solve, ask, options);
    check_calls(constant, Kind::loss, ask, options);
}

TEST_CASE("options: controllers and backends at their extremes") {
    const auto& problem = problem_named("Lotka-Volterra, Tsit5, double");
    const auto controller = [](Ask & ask) -> auto& { return ask.controller; };
    check_calls(problem, Kind::solve, plain_ask(true), controller);
    check_calls(problem, Kind::loss, ask_with_lists(false), controller);
    const auto cpu = [](Ask & ask) -> auto& { return ask.cpu; };
    check_calls(problem, Kind::solve, plain_ask(false), cpu);
    check_calls(problem, Kind::loss, plain_ask(false), cpu);
}

namespace {

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};

}  // namespace

TEST_CASE("options: PredictiveController at its extremes") {
    const eddy::EnsembleArray<double> y0(3, 1, 2.), p(3, 1, 0.5);
    for (const auto& extreme : fuzz::all_extremes(eddy::PredictiveController{})) {
        const std::string name = "solve with PredictiveController, " + extreme.text;
        INFO(name);
        const std::string refusal = refusal_of(name, [&] {
            const auto solution = eddy::solve(Decay{}, eddy::Bosh3{}, y0, p,
                                              {.t1 = 1, .max_steps = 10'000}, extreme.value);
            if (solution.success())
                CHECK(std::fabs(solution.y()(1, 0) - 2 * std::exp(-0.5)) < 1e-4);
        });
        CHECK((refusal.empty() || refusal.find("PredictiveController") != std::string::npos));
    }
}

TEST_CASE("options: SteadyStateOptions at its extremes") {
    const eddy::EnsembleArray<double> y0(3, 1, 2.), p(3, 1, 0.5);
    for (const auto& extreme : fuzz::all_extremes(eddy::SteadyStateOptions{})) {
        const std::string name = "steady_state, " + extreme.text;
        INFO(name);
        (void)refusal_of(name, [&] {
            const auto solution = eddy::steady_state(Decay{}, y0, p, extreme.value);
            if (solution.success()) CHECK(std::fabs(solution.y()(1, 0)) < 1e-6);
        });
    }
}

namespace {

constexpr std::int64_t loop_length = 60;

/// x + sin(x) / 10, and its derivative.
struct Body {
    double advance(const double& x, std::int64_t) const { return x + 0.1 * std::sin(x); }
    double pullback(const double& x, std::int64_t, const double& cotangent) {
        return cotangent * (1 + 0.1 * std::cos(x));
    }
};
struct BodyWithInputs {
    std::pair<double, double> advance(const double& x, const double& input, std::int64_t) const {
        return {x + 0.1 * std::sin(x) + input, x};
    }
    std::pair<double, double> pullback(const double& x, const double&, std::int64_t,
                                       const double& cotangent, const double& output) {
        return {cotangent * (1 + 0.1 * std::cos(x)) + output, cotangent};
    }
};
struct DifferentiableBody {
    struct Linearization {
        double value, slope;
        double pullback(const double& cotangent) { return cotangent * slope; }
    };
    double operator()(const double& x) const { return x + 0.1 * std::sin(x); }
    Linearization linearize(const double& x) const { return {(*this)(x), 1 + 0.1 * std::cos(x)}; }
};
double slope_after(std::int64_t steps) {
    double x = 0.3, slope = 1;
    for (std::int64_t step = 0; step < steps; ++step) {
        slope *= 1 + 0.1 * std::cos(x);
        x += 0.1 * std::sin(x);
    }
    return slope;
}
bool goes_on(const double&, std::int64_t step) { return step < loop_length; }

/// Good options of each kind of placement.
std::vector<eddy::LoopOptions> good_loops() {
    using eddy::Placement;
    return {{.checkpoints = 5},
            {.checkpoints = 5, .length = loop_length},
            {.checkpoints = 5, .placement = Placement::online_treeverse},
            {.max_steps = 100, .placement = Placement::store_all},
            {.max_steps = 100, .placement = Placement::square_root},
            {.max_steps = 100, .placement = Placement::periodic, .period = 7},
            {.placement = Placement::none},
            {.length = loop_length, .nested_lengths = {3, 4, 5}},
            {.checkpoints = 5, .determinism_check = true}};
}

/// run(options) returns the derivative of as many steps as it made.
template <class Run>
void check_loops(const char* what, Run run) {
    for (const eddy::LoopOptions& good : good_loops()) {
        for (const auto& extreme : fuzz::all_extremes(good)) {
            const std::string name = std::string(what) + ", placement " +
                                     std::to_string(static_cast<int>(good.placement)) + ", " +
                                     extreme.text;
            INFO(name);
            std::int64_t steps = 0;
            double slope = 0;
            const std::string refusal =
                refusal_of(name, [&] { slope = run(extreme.value, steps); });
            if (!refusal.empty() || steps < 0) continue;
            CHECK(steps <= loop_length);
            CHECK(std::fabs(slope - slope_after(steps)) <= 1e-12 * slope);
        }
    }
}
template <class Loop>
double run_and_reverse(Loop& loop, std::int64_t& steps) {
    loop.run(0.3, goes_on);
    steps = loop.result() == eddy::Result::cancelled ? -1 : loop.steps();
    return steps < 0 ? 0 : loop.reverse(1);
}

}  // namespace

TEST_CASE("options: LoopOptions at its extremes, in memory and on disk") {
    check_loops("CheckpointedLoop", [](const eddy::LoopOptions& options, std::int64_t& steps) {
        eddy::CheckpointedLoop<double, Body> loop(Body{}, options);
        return run_and_reverse(loop, steps);
    });
    using Tiers = eddy::TieredStore<double, eddy::MemoryStore<double>, eddy::DiskStore<double>>;
    check_loops("tiers", [](const eddy::LoopOptions& options, std::int64_t& steps) {
        eddy::CheckpointedLoop<double, Body, Tiers> loop(Body{}, options, Tiers(2));
        return run_and_reverse(loop, steps);
    });
}

TEST_CASE("options: LoopOptions at its extremes, of a while loop and of scans") {
    check_loops("while_loop", [](const eddy::LoopOptions& options, std::int64_t& steps) {
        const auto loop = eddy::while_loop(goes_on, DifferentiableBody{}, options);
        auto linearization = loop.linearize(0.3);
        steps = linearization.result() == eddy::Result::cancelled ? -1 : linearization.steps();
        return steps < 0 ? 0 : linearization.pullback(1);
    });
    check_loops("checkpoint_scan", [](const eddy::LoopOptions& options, std::int64_t& steps) {
        auto scan = eddy::checkpoint_scan(
            BodyWithInputs{}, 0.3, std::vector<double>(static_cast<std::size_t>(loop_length), 0.),
            options);
        steps = scan.result() == eddy::Result::cancelled ? -1 : loop_length;
        if (steps < 0) return 0.;
        return scan.reverse(1, std::vector<double>(static_cast<std::size_t>(loop_length), 0.))
            .first;
    });
}

TEST_CASE("options: DiskOptions and the slots of a tier at their extremes") {
    const auto check = [](const std::string& name, auto make_store) {
        INFO(name);
        std::int64_t steps = 0;
        double slope = 0;
        const std::string refusal = refusal_of(name, [&] {
            auto store = make_store();
            eddy::CheckpointedLoop<double, Body, decltype(store)> loop(Body{}, {.checkpoints = 7},
                                                                       std::move(store));
            slope = run_and_reverse(loop, steps);
        });
        if (!refusal.empty()) return;
        CHECK(steps == loop_length);
        CHECK(std::fabs(slope - slope_after(steps)) <= 1e-12 * slope);
    };
    for (const auto& extreme : fuzz::all_extremes(eddy::DiskOptions{}))
        check("DiskStore, " + extreme.text, [&] { return eddy::DiskStore<double>(extreme.value); });
    using Tiers = eddy::TieredStore<double, eddy::MemoryStore<double>, eddy::MemoryStore<double>>;
    fuzz::Extremes<std::int64_t>::each(1, [&](std::int64_t slots, const std::string& text) {
        check("TieredStore of " + text, [&] { return Tiers(slots); });
    });
}

TEST_CASE("options: the schedules' options at their extremes") {
    std::vector<eddy::ChainStep> steps(12, {.time = 1, .state_bytes = 1000});
    for (const std::int64_t units : {500, 3}) {
        const eddy::ChainOptions good{.memory_bytes = 4001, .memory_units = units};
        for (const auto& extreme : fuzz::all_extremes(good)) {
            const std::string name = "chain, ChainOptions " + extreme.text;
            INFO(name);
            double cost = 0, time = 0;
            const std::string refusal = refusal_of(name, [&] {
                cost = eddy::chain_cost(steps, extreme.value);
                time = eddy::chain_time(eddy::chain_actions(steps, extreme.value), steps);
            });
            if (refusal.empty()) CHECK(cost == time);
        }
    }
    for (const auto& extreme : fuzz::all_extremes(steps[5])) {
        steps[5] = extreme.value;
        const std::string name = "chain, ChainStep " + extreme.text;
        INFO(name);
        (void)refusal_of(name, [&] {
            (void)eddy::chain_actions(steps, {.memory_bytes = std::int64_t{1} << 40});
            (void)eddy::chain_cost(steps, {.memory_bytes = INT64_MAX});
        });
    }
    const eddy::HRevolveOptions good{
        .tiers = {{.slots = 2}, {.slots = 4, .write_cost = 2, .read_cost = 1}}};
    for (const auto& extreme : fuzz::all_extremes(good)) {
        const std::string name = "hrevolve, HRevolveOptions " + extreme.text;
        INFO(name);
        (void)refusal_of(name, [&] {
            (void)eddy::hrevolve_cost(20, extreme.value);
            (void)eddy::hrevolve_actions(20, extreme.value);
        });
    }
}

TEST_CASE("options: ResidualReportOptions at its extremes") {
    constexpr auto program = eddy::trace<eddy::Vector<2>, eddy::Vector<2>>(
        [](const auto& x, const auto& w) { return eddy::sin(x * w) + w; });
    std::ostringstream out;
    const eddy::ResidualReportOptions good{
        .names = {"x", "w"}, .with_respect_to = {1}, .out = &out};
    for (const auto& extreme : fuzz::all_extremes(good)) {
        INFO(extreme.text);
        (void)refusal_of("residuals, " + extreme.text, [&] {
            (void)eddy::saved_residuals(program, eddy::everything_saveable, extreme.value);
        });
    }
}
