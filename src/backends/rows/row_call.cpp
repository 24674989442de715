// A solve over rows: groups of lanes for the workers of a call.

#include <algorithm>
#include <cmath>
#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/given_outputs.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <limits>
#include <memory>
#include "row_arguments.hpp"
#include "row_solve.hpp"
#include "row_work.hpp"

namespace eddy::inline v0 {
namespace detail {
namespace {

/// What is saved in place of states, of one lane at a time: save points are rare beside steps.
class ObservedState {
  public:
    ObservedState(const RowCall& call, const RowProblem& problem)
        : field_(call.observed->on_tile(1)),
          problem_(&problem),
          p_(static_cast<std::size_t>(problem.parameter_size)),
          values_(static_cast<std::size_t>(call.num_observed)) {}

    /// Null where they are not finite.
    [[nodiscard]] const double* at(std::ptrdiff_t lane, std::int32_t k, const double* state) {
        const std::ptrdiff_t row = problem_->row_of_p(lane);
        for (std::size_t i = 0; i < p_.size(); ++i)
            p_[i] = problem_->p(row, static_cast<std::ptrdiff_t>(i));
        field_->f(problem_->times_of(lane).save_time + k, state, p_.data(), values_.data());
        const bool are_finite =
            std::all_of(values_.begin(), values_.end(), [](double x) { return std::isfinite(x); });
        return are_finite ? values_.data() : nullptr;
    }

  private:
    std::unique_ptr<FieldOnTile> field_;
    const RowProblem* problem_;
    std::vector<double> p_, values_;
};

/// Puts what save points show into the arrays of a call.
class SolutionOfRows final : public RowRecorder {
  public:
    SolutionOfRows(Solution<double>& solution, const std::vector<EnsembleView<double>>& y,
                   ObservedState* observed, bool wants_steps)
        : solution_(&solution), y_(&y), observed_(observed), wants_steps_(wants_steps) {}
    [[nodiscard]] bool wants_steps() const override { return wants_steps_; }
    void save_step(std::ptrdiff_t lane, double t, const double* state) override {
        solution_->append_step(lane, t, state);
    }
    [[nodiscard]] bool save(std::ptrdiff_t lane, int, std::int32_t k,
                            const double* state) override {
        const double* const shown = observed_ ? observed_->at(lane, k, state) : state;
        if (!shown) return false;
        const EnsembleView<double>& y = (*y_)[static_cast<std::size_t>(k)];
        for (std::ptrdiff_t c = 0; c < y.num_components; ++c) y(lane, c) = shown[c];
        return true;
    }

  private:
    Solution<double>* solution_;
    const std::vector<EnsembleView<double>>* y_;  // (save point)
    ObservedState* observed_;                     // null: states are saved
    bool wants_steps_;
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

/// What a worker keeps from group to group, and from call to call.
struct SolveWorker {
    std::unique_ptr<FieldOnTile> field;
    ArenaMemory memory;
    std::unique_ptr<RowSolve> solve;
    std::unique_ptr<ObservedState> observed;
};

/// The solves of one solver object, of arrays.
class SolvesOnRows {
  public:
    Solution<double>& run(const RowCall& call, const SolutionInto<double>& into,
                          const Cancellation& cancelled, const char* where);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return link_.call->has_poll(); }
    void attend() const { link_.call->poll(); }

  private:
    void take(const SolutionInto<double>& into, const char* where);
    void open(const SolveOptions& options);
    void plan(const RowCall& call);
    void begin(const RowCall& call, SolveWorker& at) const;

    PreparedRows prepared_;
    Solution<double> solution_;
    std::vector<EnsembleView<double>> y_;  // (save point)
    CallArrays arrays_;
    LaunchPlan plan_;
    int width_ = 0, num_columns_ = 0;
    bool sums_tile_ = false;
    std::vector<SolveWorker> workers_;
    KeptThreads threads_;
    ThreadLink link_{};
    const RowCall* call_ = nullptr;
};

Solution<double>& SolvesOnRows::run(const RowCall& call, const SolutionInto<double>& into,
                                    const Cancellation& cancelled, const char* where) {
    EmptyUnlessDone guard(solution_);
    prepared_.prepare(call, where);
    num_columns_ = call.observed ? call.num_observed : prepared_.problem.state_size;
    take(into, where);
    plan(call);
    open(call.options);
    CallLink to_caller(cancelled, call.options);
    const auto watching = to_caller.watch(call.options.progress, where, prepared_.num_lanes());
    link_ = {&to_caller, &threads_};
    call_ = &call;
    threads_.for_each_group(plan_.num_groups(), plan_.num_workers, *this);
    to_caller.rethrow();
    guard.done();
    return solution_;
}
/// The arrays that the call is to write into, checked.
void SolvesOnRows::take(const SolutionInto<double>& into, const char* where) {
    const HostMemory memory;
    require_solution_outputs(into, memory, false, false, where);
    y_.clear();
    if (!gives_any(into)) return;
    const RowProblem& problem = prepared_.problem;
    arrays_.clear();
    arrays_.add_input(problem.y0, "y0");
    arrays_.add_input(problem.p, "p");
    collect_outputs(y_, into.y, memory, prepared_.times().num_saves,
                    {prepared_.num_lanes(), num_columns_}, "y", where, arrays_);
    arrays_.require_apart(where);
    for (const EnsembleView<double>& view : y_)
        fill_here(memory, view, std::numeric_limits<double>::quiet_NaN());
}
void SolvesOnRows::open(const SolveOptions& options) {
    solution_.reset(prepared_.num_lanes(), prepared_.times().saved(), num_columns_,
                    prepared_.problem.state_size, {.y = y_.empty(), .steps = options.save_steps});
    if (!y_.empty()) return;
    for (std::ptrdiff_t k = 0; k < solution_.num_saves(); ++k) y_.push_back(solution_.y_of(k));
}
void SolvesOnRows::plan(const RowCall& call) {
    const int width = row_width(call, prepared_.num_lanes(), false);
    const bool sums_tile = prepared_.problem.sums_tile;
    if (width != width_ || sums_tile != sums_tile_) workers_.clear();
    width_ = width;
    sums_tile_ = sums_tile;
    plan_ = plan_row_groups(prepared_.num_lanes(), width, call.threads);
    const auto wanted = static_cast<std::size_t>(plan_.num_workers);
    if (workers_.size() < wanted) workers_.resize(wanted);
    begin(call, workers_.front());  // throws here what rows cannot do
}
void SolvesOnRows::begin(const RowCall& call, SolveWorker& at) const {
    if (at.solve) return;
    const RowProblem& problem = prepared_.problem;
    at.field = tile_of(*call.field, problem, width_);
    if (call.observed) at.observed = std::make_unique<ObservedState>(call, problem);
    Arena counting;
    static_cast<void>(RowSolve(problem, *at.field, false, counting));
    Arena arena = at.memory.arena(counting.num_bytes());
    at.solve = std::make_unique<RowSolve>(problem, *at.field, false, arena);
}
void SolvesOnRows::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    ThreadTeam<1> team(link_, plan_, worker, group);
    SolveWorker& at = workers_[static_cast<std::size_t>(worker)];
    begin(*call_, at);
    at.solve->step().take_parameters();
    SolutionOfRows recorder(solution_, y_, at.observed.get(), call_->options.save_steps);
    at.solve->run(team.first_lane(), team.num_lanes(), recorder,
                  solution_.lanes().data() + team.first_lane(), team);
}

/// The solves of one solver object, and the arrays that they are of.
struct KeptSolves {
    RowArguments arguments;
    SolvesOnRows solves;
};

}  // namespace

Solution<double>& solve_on_rows(Workspace& kept, const RowCall& call,
                                const SolutionInto<double>& into, const Cancellation& cancelled) {
    constexpr const char* where = "solve";
    const OneCall only(kept, where);
    auto& [arguments, solves] = kept.get<KeptSolves>();
    return solves.run(arguments.with_arrays(call, where), into, cancelled, where);
}

}  // namespace detail

RowSolution::RowSolution(detail::RowCall call) : began_by_function_(call.start != nullptr) {
    detail::RowArguments arguments;
    call_ = arguments.with_arrays(call, "solve");
    y0_ = EnsembleArray<double>(call_.y0);
    p_ = EnsembleArray<double>(call_.p);
    detail::Workspace of_this_call;
    static_cast<void>(
        Solution<double>::operator=(std::move(detail::solve_on_rows(of_this_call, call_, {}, {}))));
}

PulledGradient<double> RowSolution::pull_back(detail::RowViews cotangents,
                                              const Cancellation& cancelled) const {
    require_argument(
        !call_.observed,
        "pullback: the solution has what observe(function) saved, not states; solve without it, or "
        "give value_and_gradient a loss");
    require_argument(!began_by_function_,
                     "pullback: the solution began by start_from(function), and goes back to no "
                     "parameters through it; solve from an array of initial values, or give "
                     "value_and_gradient a loss");
    detail::RowCall call = call_;  // with arrays of its own
    call.y0 = y0_.view();
    call.p = p_.view();
    detail::Workspace of_this_call;
    auto& pulled = detail::differentiate_on_rows(
        of_this_call, call, {nullptr, std::move(cotangents)}, {}, cancelled, "pullback");
    return {std::move(pulled.gradient), std::move(pulled.report)};
}

}  // namespace eddy::inline v0
