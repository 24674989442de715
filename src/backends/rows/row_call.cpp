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
#include "joint_rows.hpp"
#include "row_arguments.hpp"
#include "row_work.hpp"

namespace eddy::inline v0 {
namespace detail {
namespace {

/// What is saved in place of states, of one lane at a time: save points are rare beside steps.
template <class Real>
class ObservedState {
  public:
    ObservedState(const RowCall& call, const RowProblem<Real>& problem)
        : field_(tile_of(*call.observed, RowProblem<Real>{}, 1)),
          problem_(&problem),
          p_(static_cast<std::size_t>(problem.parameter_size)),
          values_(static_cast<std::size_t>(call.num_observed)) {}

    /// Null where they are not finite.
    [[nodiscard]] const Real* at(std::ptrdiff_t lane, std::int32_t k, const Real* state) {
        const std::ptrdiff_t row = problem_->row_of_p(lane);
        for (std::size_t i = 0; i < p_.size(); ++i)
            p_[i] = problem_->p(row, static_cast<std::ptrdiff_t>(i));
        const auto t = static_cast<Real>(problem_->times_of(lane).save_time[k]);
        field_->f(&t, state, p_.data(), values_.data());
        const bool are_finite =
            std::all_of(values_.begin(), values_.end(), [](Real x) { return std::isfinite(x); });
        return are_finite ? values_.data() : nullptr;
    }

  private:
    std::unique_ptr<FieldOnTileOf<Real>> field_;
    const RowProblem<Real>* problem_;
    std::vector<Real> p_, values_;
};

/// Puts what save points show into the arrays of a call.
template <class Real>
class SolutionOfRows final : public RowRecorder<Real> {
  public:
    SolutionOfRows(Solution<Real>& solution, const std::vector<EnsembleView<Real>>& y,
                   ObservedState<Real>* observed, bool wants_steps)
        : solution_(&solution), y_(&y), observed_(observed), wants_steps_(wants_steps) {}
    [[nodiscard]] bool wants_steps() const override { return wants_steps_; }
    void save_step(std::ptrdiff_t lane, double t, const Real* state) override {
        solution_->append_step(lane, t, state);
    }
    [[nodiscard]] bool save(std::ptrdiff_t lane, int, std::int32_t k, const Real* state) override {
        const Real* const shown = observed_ ? observed_->at(lane, k, state) : state;
        if (!shown) return false;
        const EnsembleView<Real>& y = (*y_)[static_cast<std::size_t>(k)];
        for (std::ptrdiff_t c = 0; c < y.num_components; ++c) y(lane, c) = shown[c];
        return true;
    }

  private:
    Solution<Real>* solution_;
    const std::vector<EnsembleView<Real>>* y_;  // (save point)
    ObservedState<Real>* observed_;             // null: states are saved
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
template <class Real>
struct SolveWorker {
    std::unique_ptr<FieldOnTileOf<Real>> field;
    ArenaMemory memory;
    std::unique_ptr<RowSolve<Real>> solve;
    std::unique_ptr<ObservedState<Real>> observed;
};

/// The solves of one solver object, of arrays.
template <class Real>
class SolvesOnRows {
  public:
    Solution<Real>& run(const RowCall& call, const RowArrays<Real>& arrays,
                        const SolutionInto<Real>& into, const Cancellation& cancelled,
                        const char* where);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return link_.call->has_poll(); }
    void attend() const { link_.call->poll(); }

  private:
    void take(const SolutionInto<Real>& into, const char* where);
    void open(const SolveOptions& options);
    void plan(const RowCall& call);
    void begin(const RowCall& call, SolveWorker<Real>& at) const;
    void solve_jointly(const RowCall& call);

    PreparedRows<Real> prepared_;
    Solution<Real> solution_;
    std::vector<EnsembleView<Real>> y_;  // (save point)
    CallArrays arrays_;
    LaunchPlan plan_;
    int width_ = 0, num_columns_ = 0;
    bool sums_tile_ = false;
    std::vector<SolveWorker<Real>> workers_;
    std::unique_ptr<JointRows<Real>> joint_;  // where lanes share their steps
    KeptThreads threads_;
    ThreadLink link_{};
    const RowCall* call_ = nullptr;
};

template <class Real>
Solution<Real>& SolvesOnRows<Real>::run(const RowCall& call, const RowArrays<Real>& arrays,
                                        const SolutionInto<Real>& into,
                                        const Cancellation& cancelled, const char* where) {
    EmptyUnlessDone guard(solution_);
    prepared_.prepare(call, arrays, where);
    num_columns_ = call.observed ? call.num_observed : prepared_.problem.state_size;
    take(into, where);
    plan(call);
    open(call.options);
    CallLink to_caller(cancelled, call.options);
    const auto watching = to_caller.watch(call.options.progress, where, prepared_.num_lanes());
    link_ = {&to_caller, &threads_};
    call_ = &call;
    if (call.is_joint)
        solve_jointly(call);
    else
        threads_.for_each_group(plan_.num_groups(), plan_.num_workers, *this);
    to_caller.rethrow();
    guard.done();
    return solution_;
}
/// The arrays that the call is to write into, checked.
template <class Real>
void SolvesOnRows<Real>::take(const SolutionInto<Real>& into, const char* where) {
    const HostMemory memory;
    require_solution_outputs(into, memory, false, false, where);
    y_.clear();
    if (!gives_any(into)) return;
    const RowProblem<Real>& problem = prepared_.problem;
    arrays_.clear();
    arrays_.add_input(problem.y0, "y0");
    arrays_.add_input(problem.p, "p");
    collect_outputs(y_, into.y, memory, prepared_.times().num_saves,
                    {prepared_.num_lanes(), num_columns_}, "y", where, arrays_);
    arrays_.require_apart(where);
    for (const EnsembleView<Real>& view : y_)
        fill_here(memory, view, std::numeric_limits<Real>::quiet_NaN());
}
template <class Real>
void SolvesOnRows<Real>::open(const SolveOptions& options) {
    solution_.reset(prepared_.num_lanes(), prepared_.times().saved(), num_columns_,
                    prepared_.problem.state_size, {.y = y_.empty(), .steps = options.save_steps});
    if (!y_.empty()) return;
    for (std::ptrdiff_t k = 0; k < solution_.num_saves(); ++k) y_.push_back(solution_.y_of(k));
}
template <class Real>
void SolvesOnRows<Real>::plan(const RowCall& call) {
    const int width = row_width(call.field->num_states(), *call.method, prepared_.num_lanes(),
                                false, sizeof(Real));
    const bool sums_tile = prepared_.problem.sums_tile;
    if (width != width_ || sums_tile != sums_tile_) workers_.clear();
    width_ = width;
    sums_tile_ = sums_tile;
    plan_ = plan_row_groups(prepared_.num_lanes(), width, call.threads);
    const auto wanted = static_cast<std::size_t>(plan_.num_workers);
    if (workers_.size() < wanted) workers_.resize(wanted);
    begin(call, workers_.front());  // throws here what rows cannot do
}
template <class Real>
void SolvesOnRows<Real>::begin(const RowCall& call, SolveWorker<Real>& at) const {
    if (at.solve) return;
    const RowProblem<Real>& problem = prepared_.problem;
    at.field = tile_of(*call.field, problem, width_);
    if (call.observed) at.observed = std::make_unique<ObservedState<Real>>(call, problem);
    Arena counting;
    static_cast<void>(RowSolve<Real>(problem, *at.field, false, counting));
    Arena arena = at.memory.arena(counting.num_bytes());
    at.solve = std::make_unique<RowSolve<Real>>(problem, *at.field, false, arena);
}
template <class Real>
void SolvesOnRows<Real>::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    ThreadTeam<1> team(link_, plan_, worker, group);
    SolveWorker<Real>& at = workers_[static_cast<std::size_t>(worker)];
    begin(*call_, at);
    at.solve->step().take_parameters();
    SolutionOfRows<Real> recorder(solution_, y_, at.observed.get(), call_->options.save_steps);
    at.solve->run(team.first_lane(), team.num_lanes(), recorder,
                  solution_.lanes().data() + team.first_lane(), team);
}

template <class Real>
void SolvesOnRows<Real>::solve_jointly(const RowCall& call) {
    std::vector<SolutionOfRows<Real>> recorders;
    recorders.reserve(workers_.size());
    std::vector<FieldOnTileOf<Real>*> fields;
    std::vector<RowRecorder<Real>*> told;
    for (SolveWorker<Real>& at : workers_) {
        begin(call, at);
        at.solve->step().take_parameters();
        recorders.emplace_back(solution_, y_, at.observed.get(), call.options.save_steps);
        fields.push_back(at.field.get());
        told.push_back(&recorders.back());
    }
    if (!joint_) joint_ = std::make_unique<JointRows<Real>>();
    joint_->run(prepared_.problem, {prepared_.num_lanes(), width_, plan_.num_workers}, link_,
                fields, told, solution_.lanes().data(), true);
}

/// The solves of one solver object, and the arrays that they are of.
template <class Real>
struct KeptSolves {
    RowArguments<Real> arguments;
    SolvesOnRows<Real> solves;
};

}  // namespace

template <class Real>
Solution<Real>& solve_on_rows(Workspace& kept, const RowCall& call, const RowArrays<Real>& arrays,
                              const SolutionInto<Real>& into, const Cancellation& cancelled) {
    constexpr const char* where = "solve";
    const OneCall only(kept, where);
    auto& [arguments, solves] = kept.get<KeptSolves<Real>>();
    return solves.run(call, arguments.with_arrays(call, arrays, where), into, cancelled, where);
}
template Solution<double>& solve_on_rows(Workspace&, const RowCall&, const RowArrays<double>&,
                                         const SolutionInto<double>&, const Cancellation&);
template Solution<float>& solve_on_rows(Workspace&, const RowCall&, const RowArrays<float>&,
                                        const SolutionInto<float>&, const Cancellation&);

}  // namespace detail

template <class Real>
RowSolutionOf<Real>::RowSolutionOf(detail::RowCall call, const detail::RowArrays<Real>& arrays)
    : call_(std::move(call)),
      shares_parameters_(arrays.shares_parameters),
      began_by_function_(arrays.start != nullptr) {
    detail::RowArguments<Real> arguments;
    const detail::RowArrays<Real>& of_numbers = arguments.with_arrays(call_, arrays, "solve");
    y0_ = EnsembleArray<Real>(of_numbers.y0);
    p_ = EnsembleArray<Real>(of_numbers.p);
    detail::Workspace of_this_call;
    static_cast<void>(Solution<Real>::operator=(
        std::move(detail::solve_on_rows<Real>(of_this_call, call_, of_numbers, {}, {}))));
}

template <class Real>
PulledGradient<Real> RowSolutionOf<Real>::pull_back(detail::RowViews<Real> cotangents,
                                                    const Cancellation& cancelled) const {
    require_argument(
        !call_.observed,
        "pullback: the solution has what observe(function) saved, not states; solve without it, or "
        "give value_and_gradient a loss");
    require_argument(!began_by_function_,
                     "pullback: the solution began by start_from(function), and goes back to no "
                     "parameters through it; solve from an array of initial values, or give "
                     "value_and_gradient a loss");
    detail::Workspace of_this_call;
    auto& pulled = detail::differentiate_on_rows<Real>(
        of_this_call, call_, {y0_.view(), p_.view(), shares_parameters_},
        {nullptr, std::move(cotangents)}, {}, cancelled);
    return {std::move(pulled.gradient), std::move(pulled.report)};
}

template class RowSolutionOf<double>;
template class RowSolutionOf<float>;

}  // namespace eddy::inline v0
