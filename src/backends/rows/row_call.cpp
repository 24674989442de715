// A solve over rows: groups of lanes for the workers of a call.

#include <algorithm>
#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <memory>
#include "row_solve.hpp"
#include "row_work.hpp"

namespace eddy::inline v0 {
namespace detail {
namespace {

/// Puts what save points show into the arrays of a solution.
class SolutionOfRows final : public RowRecorder {
  public:
    SolutionOfRows(Solution<double>& solution, int state_size, bool wants_steps)
        : solution_(&solution), state_size_(state_size), wants_steps_(wants_steps) {}
    [[nodiscard]] bool wants_steps() const override { return wants_steps_; }
    void save_step(std::ptrdiff_t lane, double t, const double* state) override {
        solution_->append_step(lane, t, state);
    }
    void save(std::ptrdiff_t lane, int, std::int32_t k, const double* state) override {
        const EnsembleView<double> y = solution_->y_of(k);
        for (int c = 0; c < state_size_; ++c) y(lane, c) = state[c];
    }

  private:
    Solution<double>* solution_;
    int state_size_;
    bool wants_steps_;
};

/// What a worker keeps from group to group.
struct SolveWorker {
    std::unique_ptr<FieldOnTile> field;
    ArenaMemory memory;
    std::unique_ptr<RowSolve> solve;
};

struct SolveGroups {
    const RowProblem& problem;
    const FieldMaker& field;
    const LaunchPlan& plan;
    ThreadLink link;
    Solution<double>& solution;
    bool wants_steps;
    int width;
    std::vector<SolveWorker>& workers;

    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group) const {
        ThreadTeam<1> team(link, plan, worker, group);
        SolveWorker& at = workers[static_cast<std::size_t>(worker)];
        if (!at.solve) begin(at);
        SolutionOfRows recorder(solution, problem.state_size, wants_steps);
        at.solve->run(team.first_lane(), team.num_lanes(), recorder,
                      solution.lanes().data() + team.first_lane(), team);
    }
    void begin(SolveWorker& at) const {
        at.field = tile_of(field, problem, width);
        Arena counting;
        static_cast<void>(RowSolve(problem, *at.field, false, counting));
        Arena arena = at.memory.arena(counting.num_bytes());
        at.solve = std::make_unique<RowSolve>(problem, *at.field, false, arena);
    }
    [[nodiscard]] bool attends() const { return link.call->has_poll(); }
    void attend() const { link.call->poll(); }
};

/// Groups of lanes, about four for each worker; in each, lanes follow each other in a place.
LaunchPlan plan_row_groups(std::ptrdiff_t lanes, int width, int threads) {
    constexpr std::ptrdiff_t most_refills = 64;
    const std::ptrdiff_t tiles = (lanes + width - 1) / width;
    const std::ptrdiff_t workers = workers_of_threads(threads, tiles);
    const std::ptrdiff_t wanted = workers == 1 ? 1 : 4 * workers;
    const std::ptrdiff_t of_group =
        std::clamp<std::ptrdiff_t>((tiles + wanted - 1) / wanted, 1, most_refills);
    LaunchPlan plan{lanes, of_group * width, 1};
    plan.num_workers = workers_of_threads(threads, plan.num_groups());
    return plan;
}

/// Solves all lanes, after checks.
void solve_on_rows(const RowCall& call, Solution<double>& solution) {
    const PreparedRows prepared(call, "solve");
    const SolveOptions& options = *call.options;
    const std::ptrdiff_t lanes = prepared.num_lanes();
    solution.reset(lanes, prepared.times().save_time, prepared.problem.state_size,
                   prepared.problem.state_size, {.steps = options.save_steps});
    const int width = row_width(call, lanes, false);
    static_cast<void>(
        tile_of(*call.field, prepared.problem, width));  // throws here what it cannot do
    const LaunchPlan plan = plan_row_groups(lanes, width, call.threads);
    CallLink to_caller(Cancellation{}, options);
    const auto watching = to_caller.watch(options.progress, "solve", lanes);
    KeptThreads threads;
    std::vector<SolveWorker> workers(static_cast<std::size_t>(plan.num_workers));
    SolveGroups groups{prepared.problem, *call.field,        plan,  {&to_caller, &threads},
                       solution,         options.save_steps, width, workers};
    threads.for_each_group(plan.num_groups(), plan.num_workers, groups);
    to_caller.rethrow();
}

}  // namespace
}  // namespace detail

RowSolution::RowSolution(const detail::RowCall& call)
    : call_(call),
      options_(*call.options),
      y0_(EnsembleArray<double>(call.y0)),
      p_(EnsembleArray<double>(call.p)) {
    detail::solve_on_rows(call, *this);
}

PulledGradient<double> RowSolution::pull_back(const detail::RowViews& cotangents) const {
    detail::RowCall call = call_;  // with arrays of its own
    call.y0 = y0_.view();
    call.p = p_.view();
    call.options = &options_;
    auto pulled = detail::differentiate_on_rows(call, {nullptr, cotangents}, "pullback");
    return {std::move(pulled.gradient), std::move(pulled.report)};
}

}  // namespace eddy::inline v0
