// A solve over rows: groups of lanes for the workers of a call.

#include <algorithm>
#include <cmath>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/given_outputs.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <limits>
#include <memory>
#include "joint_rows.hpp"
#include "row_arguments.hpp"
#include "row_tangents.hpp"
#include "row_work.hpp"
#include "row_workers.hpp"

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
          values_(static_cast<std::size_t>(call.num_observed * (1 + problem.num_tangents))),
          num_shown_(call.num_observed) {}

    [[nodiscard]] double time_of(std::ptrdiff_t lane, std::int32_t k) const {
        return problem_->times_of(lane).save_time[k];
    }
    /// Null where they are not finite.
    [[nodiscard]] const Real* at(std::ptrdiff_t lane, double time, const Real* state) {
        const std::ptrdiff_t row = problem_->row_of_p(lane);
        for (std::size_t i = 0; i < p_.size(); ++i)
            p_[i] = problem_->p(row, static_cast<std::ptrdiff_t>(i));
        const auto t = static_cast<Real>(time);
        field_->f(&t, state, p_.data(), values_.data());
        const bool are_finite = std::all_of(values_.begin(), values_.begin() + num_shown_,
                                            [](Real x) { return std::isfinite(x); });
        return are_finite ? values_.data() : nullptr;
    }

  private:
    std::unique_ptr<FieldOnTileOf<Real>> field_;
    const RowProblem<Real>* problem_;
    std::vector<Real> p_, values_;
    std::ptrdiff_t num_shown_;
};

/// Puts what save points show into the arrays of a call.
template <class Real>
class SolutionOfRows final : public RowRecorder<Real> {
  public:
    SolutionOfRows(Solution<Real>& solution, const std::vector<EnsembleView<Real>>& y,
                   const std::vector<EnsembleView<Real>>& tangents, ObservedState<Real>* observed,
                   bool wants_steps)
        : solution_(&solution),
          y_(&y),
          tangents_(&tangents),
          observed_(observed),
          wants_steps_(wants_steps) {}
    [[nodiscard]] bool wants_steps() const override { return wants_steps_; }
    void save_step(std::ptrdiff_t lane, const TakenStep& step, const Real* state) override {
        solution_->append_step(lane, step.t, state);
    }
    [[nodiscard]] bool save(std::ptrdiff_t lane, int, std::int32_t k, const Real* state) override {
        return save(lane, k, observed_ ? observed_->time_of(lane, k) : 0, state);
    }
    [[nodiscard]] bool save_event(std::ptrdiff_t lane, int, double t, const Real* state) override {
        return save(lane, 0, t, state);
    }

  private:
    [[nodiscard]] bool save(std::ptrdiff_t lane, std::int32_t k, double t, const Real* state) {
        const Real* const shown = observed_ ? observed_->at(lane, t, state) : state;
        if (!shown) return false;
        const auto point = static_cast<std::size_t>(k);
        show((*y_)[point], lane, shown);
        const std::ptrdiff_t size = (*y_)[point].num_components;
        const std::size_t num_tangents = tangents_->size() / y_->size();
        for (std::size_t i = 0; i < num_tangents; ++i)
            show((*tangents_)[point * num_tangents + i], lane,
                 shown + static_cast<std::ptrdiff_t>(i + 1) * size);
        return true;
    }

    static void show(const EnsembleView<Real>& at, std::ptrdiff_t lane, const Real* numbers) {
        for (std::ptrdiff_t c = 0; c < at.num_components; ++c) at(lane, c) = numbers[c];
    }

    Solution<Real>* solution_;
    const std::vector<EnsembleView<Real>>* y_;         // (save point)
    const std::vector<EnsembleView<Real>>* tangents_;  // (save point, tangent)
    ObservedState<Real>* observed_;                    // null: states are saved
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

/// A worker, and what it shows of states.
template <class Real>
struct ShowingWorker : RowWorker<Real> {
    std::unique_ptr<ObservedState<Real>> observed;
};

/// Where the tangents of some of all directions go: (save point, component, lane, direction).
template <class Real>
struct CarriedPart {
    std::vector<Real>* numbers;
    std::ptrdiff_t first, num_directions;

    [[nodiscard]] EnsembleView<Real> view(std::ptrdiff_t k, std::ptrdiff_t direction,
                                          std::ptrdiff_t lanes, std::ptrdiff_t columns) const {
        return {numbers->data() + k * columns * lanes * num_directions + first + direction, lanes,
                columns, num_directions, lanes * num_directions};
    }
};

/// The solves of one solver object, of arrays.
template <class Real>
class SolvesOnRows {
  public:
    Solution<Real>& run(const RowCall& call, const RowArrays<Real>& arrays,
                        const SolutionInto<Real>& into, const Cancellation& cancelled,
                        const char* where, const CarriedPart<Real>* carried = nullptr);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return link_.call->has_poll(); }
    void attend() const { link_.call->poll(); }

  private:
    void take(const SolutionInto<Real>& into, const char* where);
    void open(const SolveOptions& options, const CarriedPart<Real>* carried);
    void plan(const RowCall& call);
    void begin(const RowCall& call, ShowingWorker<Real>& at) const;
    void solve_jointly(const RowCall& call);

    PreparedRows<Real> prepared_;
    Solution<Real> solution_;
    std::vector<EnsembleView<Real>> y_, tangents_;  // (save point), (save point, tangent)
    CallArrays arrays_;
    LaunchPlan plan_;
    int width_ = 0, num_columns_ = 0;
    bool sums_tile_ = false;
    std::vector<ShowingWorker<Real>> workers_;
    std::unique_ptr<JointRows<Real>> joint_;  // where lanes share their steps
    KeptThreads threads_;
    ThreadLink link_{};
    const RowCall* call_ = nullptr;
};

template <class Real>
Solution<Real>& SolvesOnRows<Real>::run(const RowCall& call, const RowArrays<Real>& arrays,
                                        const SolutionInto<Real>& into,
                                        const Cancellation& cancelled, const char* where,
                                        const CarriedPart<Real>* carried) {
    EmptyUnlessDone guard(solution_);
    prepared_.prepare(call, arrays, where);
    num_columns_ = call.observed ? call.num_observed : prepared_.problem.own_size();
    take(into, where);
    plan(call);
    open(call.options, carried);
    solution_.set_attempt_cost(cost_of_attempt(*call.method));
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
    require_solution_outputs(into, memory, prepared_.problem.num_tangents > 0, false, where);
    y_.clear();
    tangents_.clear();
    if (!gives_any(into)) return;
    const RowProblem<Real>& problem = prepared_.problem;
    arrays_.clear();
    arrays_.add_input(problem.y0, "y0");
    arrays_.add_input(problem.p, "p");
    collect_outputs(y_, into.y, memory, prepared_.times().num_saves,
                    {prepared_.num_lanes(), num_columns_}, "y", where, arrays_);
    collect_outputs(tangents_, into.tangent, memory, prepared_.times().num_saves,
                    {prepared_.num_lanes(), num_columns_}, "tangent", where, arrays_);
    arrays_.require_apart(where);
    for (const auto* views : {&y_, &tangents_})
        for (const EnsembleView<Real>& view : *views)
            fill_here(memory, view, std::numeric_limits<Real>::quiet_NaN());
}
template <class Real>
void SolvesOnRows<Real>::open(const SolveOptions& options, const CarriedPart<Real>* carried) {
    const int num_tangents = prepared_.problem.num_tangents;
    const bool has_tangents = num_tangents > 0 && !carried, owns_y = y_.empty(),
               owns_tangents = has_tangents && tangents_.empty();
    const std::ptrdiff_t lanes = prepared_.num_lanes();
    solution_.reset(lanes, prepared_.times().saved(), num_columns_, prepared_.problem.own_size(),
                    {.y = owns_y,
                     .has_tangents = has_tangents,
                     .tangent = owns_tangents,
                     .steps = options.save_steps});
    if (prepared_.problem.events) prepared_.problem.told_events = solution_.keep_events();
    const std::ptrdiff_t saves = solution_.num_saves();
    if (carried && carried->first == 0)
        carried->numbers->assign(
            static_cast<std::size_t>(saves * num_columns_ * lanes * carried->num_directions),
            std::numeric_limits<Real>::quiet_NaN());
    for (std::ptrdiff_t k = 0; k < saves; ++k) {
        if (owns_y) y_.push_back(solution_.y_of(k));
        if (owns_tangents) tangents_.push_back(solution_.tangent_of(k));
        for (int i = 0; carried && i < num_tangents; ++i)
            tangents_.push_back(carried->view(k, i, lanes, num_columns_));
    }
}
template <class Real>
void SolvesOnRows<Real>::plan(const RowCall& call) {
    const bool sums_tile = prepared_.problem.sums_tile;
    const int width =
        row_width(*call.field, *call.method, prepared_.num_lanes(), false, sums_tile, sizeof(Real));
    if (width != width_ || sums_tile != sums_tile_) workers_.clear();
    width_ = width;
    sums_tile_ = sums_tile;
    plan_ = plan_row_groups(prepared_.num_lanes(), width, call.threads);
    const auto wanted = static_cast<std::size_t>(plan_.num_workers);
    if (workers_.size() < wanted) workers_.resize(wanted);
    begin(call, workers_.front());  // throws here what rows cannot do
}
template <class Real>
void SolvesOnRows<Real>::begin(const RowCall& call, ShowingWorker<Real>& at) const {
    if (at.field) return;
    const RowProblem<Real>& problem = prepared_.problem;
    if (call.observed) at.observed = std::make_unique<ObservedState<Real>>(call, problem);
    at.field = tile_of(*call.field, problem, width_);
}
template <class Real>
void SolvesOnRows<Real>::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    ThreadTeam<1> team(link_, plan_, worker, group);
    ShowingWorker<Real>& at = workers_[static_cast<std::size_t>(worker)];
    begin(*call_, at);
    SolutionOfRows<Real> recorder(solution_, y_, tangents_, at.observed.get(),
                                  call_->options.save_steps);
    at.solve(team, prepared_.problem, recorder, solution_.lanes().data());
}

template <class Real>
void SolvesOnRows<Real>::solve_jointly(const RowCall& call) {
    std::vector<SolutionOfRows<Real>> recorders;
    recorders.reserve(workers_.size());
    std::vector<FieldOnTileOf<Real>*> fields;
    std::vector<RowRecorder<Real>*> told;
    for (ShowingWorker<Real>& at : workers_) {
        begin(call, at);
        recorders.emplace_back(solution_, y_, tangents_, at.observed.get(),
                               call.options.save_steps);
        fields.push_back(at.field.get());
        told.push_back(&recorders.back());
    }
    if (!joint_) joint_ = std::make_unique<JointRows<Real>>();
    joint_->run(prepared_.problem, {prepared_.num_lanes(), width_, plan_.num_workers}, link_,
                fields, told, solution_.lanes().data(), true);
}

/// How many tangents of so many states one solve carries: with eight, that of y is a small part of it.
[[nodiscard]] int directions_at_once(int num_states) { return std::max(8, 256 / num_states); }

/// The solves of one solver object, and the arrays that they are of.
template <class Real>
struct KeptSolves {
    RowArguments<Real> arguments;
    SolvesOnRows<Real> solves;
};
/// The same with a tangent.
template <class Real>
struct KeptPushes : KeptSolves<Real> {
    RowTangents<Real> tangents;
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
template <class Real>
Solution<Real>& push_forward_on_rows(Workspace& kept, const RowCall& call,
                                     const RowArrays<Real>& arrays, const RowArrays<Real>& along,
                                     const SolutionInto<Real>& into,
                                     const Cancellation& cancelled) {
    constexpr const char* where = "pushforward";
    const OneCall only(kept, where);
    auto& of_both = kept.get<KeptPushes<Real>>();
    const RowCall& with_tangent = of_both.tangents.with_tangents(call, {Direction::given}, where);
    const RowArrays<Real>& given = of_both.tangents.with_tangent(call, arrays, along, where);
    return of_both.solves.run(with_tangent,
                              of_both.arguments.with_arrays(with_tangent, given, where), into,
                              cancelled, where);
}

namespace {

/// The directions that a solve carries at once, beside each other in a tile.
template <class Real>
struct KeptCarried {
    struct Block {
        std::vector<Direction> directions;
        std::vector<int> ones;  // (direction) the component of y0 along which it begins; −1: none
        RowTangents<Real> tangents;
        SolvesOnRows<Real> solves;
    };
    std::vector<std::unique_ptr<Block>> blocks;
    std::ptrdiff_t num_directions = 0;
    std::vector<Real> carried;
    std::vector<TangentMark> no_marks;
    Sensitivities<Real> result;

    void plan(const FieldSizes& sizes, bool of_p, bool of_y0) {
        if (!blocks.empty()) return;
        const int num_p = of_p ? sizes.parameters : 0;
        num_directions = num_p + (of_y0 ? sizes.states : 0);
        const int at_once = directions_at_once(sizes.states);
        for (int k = 0; k < num_directions; ++k) {
            if (k % at_once == 0) blocks.push_back(std::make_unique<Block>());
            blocks.back()->directions.push_back(k < num_p ? Direction{k} : Direction::of_start);
            blocks.back()->ones.push_back(std::max(k - num_p, -1));
        }
    }
};

}  // namespace

template <class Real>
Sensitivities<Real>& carry_on_rows(Workspace& kept, const RowCall& call,
                                   const RowArrays<Real>& arrays, bool of_p, bool of_y0,
                                   const Cancellation& cancelled) {
    constexpr const char* where = "sensitivities";
    const OneCall only(kept, where);
    auto& all = kept.get<KeptCarried<Real>>();
    all.plan(call.field->sizes(), of_p, of_y0);
    require_argument(
        all.num_directions > 0,
        "{}: the field has no parameters to differentiate with respect to; give along_y0 after "
        "the options",
        where);
    require_arrays_of(call.field->sizes(), arrays, where);
    Solution<Real>* first = nullptr;
    std::ptrdiff_t done = 0;
    for (const auto& block : all.blocks) {
        const CarriedPart<Real> part{&all.carried, done, all.num_directions};
        const RowCall& with = block->tangents.with_tangents(call, block->directions, where);
        Solution<Real>& found = block->solves.run(
            with, block->tangents.with_ones(arrays, block->ones), {}, cancelled, where, &part);
        done += static_cast<std::ptrdiff_t>(block->ones.size());
        if (!first) first = &found;
        // Blocks differ where a call is cancelled.
        for (std::ptrdiff_t lane = 0; lane < found.num_lanes(); ++lane)
            if (!is_failure(first->result(lane)) && is_failure(found.result(lane)))
                first->lanes()[static_cast<std::size_t>(lane)] =
                    found.lanes()[static_cast<std::size_t>(lane)];
    }
    all.result.take(*first, all.carried, all.no_marks, all.num_directions);
    return all.result;
}
template Sensitivities<double>& carry_on_rows(Workspace&, const RowCall&, const RowArrays<double>&,
                                              bool, bool, const Cancellation&);
template Sensitivities<float>& carry_on_rows(Workspace&, const RowCall&, const RowArrays<float>&,
                                             bool, bool, const Cancellation&);
template Solution<double>& push_forward_on_rows(Workspace&, const RowCall&,
                                                const RowArrays<double>&, const RowArrays<double>&,
                                                const SolutionInto<double>&, const Cancellation&);
template Solution<float>& push_forward_on_rows(Workspace&, const RowCall&, const RowArrays<float>&,
                                               const RowArrays<float>&, const SolutionInto<float>&,
                                               const Cancellation&);
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
