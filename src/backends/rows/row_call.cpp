// A solve over rows: groups of lanes for the workers of a call.

#include <algorithm>
#include <cmath>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/given_outputs.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <limits>
#include <memory>
#include "row_arguments.hpp"
#include "row_launches.hpp"
#include "row_tangents.hpp"
#include "row_work.hpp"

namespace eddy::inline v0 {
namespace detail {
namespace {

/// What is saved in place of states, of one lane at a time: save points are rare beside steps.
template <class Real>
class ObservedState {
  public:
    ObservedState(const RowCall& call, const RowProblem<Real>& problem)
        : maker_(call.observed),
          problem_(&problem),
          p_(static_cast<std::size_t>(problem.parameter_size)),
          values_(static_cast<std::size_t>(call.num_observed * (1 + problem.num_tangents))),
          num_shown_(call.num_observed) {}

    [[nodiscard]] explicit operator bool() const { return maker_ != nullptr; }
    [[nodiscard]] double time_of(std::ptrdiff_t lane, std::int32_t k) const {
        return problem_->times_of(lane).save_time[k];
    }
    /// Null where they are not finite.
    [[nodiscard]] const Real* at(std::ptrdiff_t lane, double time, const Real* state) {
        if (!field_) field_ = tile_of(*maker_, RowProblem<Real>{}, 1);
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
    std::shared_ptr<const FieldMaker> maker_;  // null: states are saved
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
                   const std::vector<EnsembleView<Real>>& tangents, const RowProblem<Real>& problem,
                   const RowCall& call)
        : solution_(&solution),
          y_(&y),
          tangents_(&tangents),
          observed_(call, problem),
          wants_steps_(call.options.save_steps) {}
    [[nodiscard]] bool wants_steps() const override { return wants_steps_; }
    void save_step(std::ptrdiff_t lane, const TakenStep& step, const Real* state) override {
        solution_->append_step(lane, step.t, state);
    }
    [[nodiscard]] bool save(std::ptrdiff_t lane, int, std::int32_t k, const Real* state) override {
        return save(lane, k, observed_ ? observed_.time_of(lane, k) : 0, state);
    }
    [[nodiscard]] bool save_event(std::ptrdiff_t lane, int, double t, const Real* state) override {
        return save(lane, 0, t, state);
    }

  private:
    [[nodiscard]] bool save(std::ptrdiff_t lane, std::int32_t k, double t, const Real* state) {
        const Real* const shown = observed_ ? observed_.at(lane, t, state) : state;
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
    ObservedState<Real> observed_;
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

/// Where the tangents of some of all directions go: (save point, component, lane, direction).
template <class Real>
struct CarriedPart {
    std::vector<Real>* numbers;
    std::vector<TangentMark>* marks;  // (lane, direction)
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
                        const char* where, const CarriedPart<Real>* carried = nullptr) {
        EmptyUnlessDone guard(solution_);
        prepared_.prepare(call, arrays, where);
        bool& are_numbers = prepared_.problem.sums_tile;
        are_numbers = reads_numbers(call, arrays.p.is_shared, are_numbers);
        num_columns_ = call.observed ? call.num_observed : prepared_.problem.own_size();
        take(into, where);
        open(call.options, carried);
        solution_.set_attempt_cost(cost_of_attempt(*call.method));
        CallLink to_caller(cancelled, call.options);
        const auto watching = to_caller.watch(call.options.progress, where, prepared_.num_lanes());
        solve_lanes(call, {&to_caller, &threads_});
        to_caller.rethrow();
        guard.done();
        return solution_;
    }

  private:
    /// The arrays that the call is to write into, checked.
    void take(const SolutionInto<Real>& into, const char* where) {
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
    void open(const SolveOptions& options, const CarriedPart<Real>* carried) {
        const int num_tangents = prepared_.problem.num_tangents;
        const bool has_tangents = num_tangents > 0 && !carried, owns_y = y_.empty(),
                   owns_tangents = has_tangents && tangents_.empty();
        const std::ptrdiff_t lanes = prepared_.num_lanes();
        solution_.reset(lanes, prepared_.times().saved(), num_columns_,
                        prepared_.problem.own_size(),
                        {.y = owns_y,
                         .has_tangents = has_tangents,
                         .tangent = owns_tangents,
                         .steps = options.save_steps});
        if (prepared_.problem.events) prepared_.problem.told_events = solution_.keep_events();
        watch_tangents(carried);
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
    /// Where marks go of tangents whose errors decide nothing.
    void watch_tangents(const CarriedPart<Real>* carried) {
        RowProblem<Real>& problem = prepared_.problem;
        if (problem.num_tangents == 0 || problem.counts_tangents || problem.events ||
            !problem.method->estimates_error)
            return;
        if (!carried) return static_cast<void>(problem.tangent_marks = solution_.watch_tangents());
        const auto all = static_cast<std::size_t>(prepared_.num_lanes() * carried->num_directions);
        if (carried->first == 0) carried->marks->assign(all, {});
        problem.tangent_marks = carried->marks->data() + carried->first;
        problem.marks_of_lane = carried->num_directions;
    }
    void solve_lanes(const RowCall& call, const ThreadLink& link) {
        const RowProblem<Real>& problem = prepared_.problem;
        const std::ptrdiff_t lanes = prepared_.num_lanes();
        const int width =
            row_width(*call.field, *call.method, lanes, false, problem.sums_tile, sizeof(Real));
        const LaunchPlan plan = plan_row_groups(lanes, width, call.threads);
        while (std::ssize(recorders_) < plan.num_workers)
            recorders_.emplace_back(solution_, y_, tangents_, problem, call);
        told_.clear();
        for (SolutionOfRows<Real>& recorder : recorders_) told_.push_back(&recorder);
        const RowEquation equation{call.field, {}};
        launches_.solve({problem, &equation, plan, link, solution_.lanes().data(), call.is_joint},
                        width, told_);
    }

    PreparedRows<Real> prepared_;
    Solution<Real> solution_;
    std::vector<EnsembleView<Real>> y_, tangents_;  // (save point), (save point, tangent)
    CallArrays arrays_;
    int num_columns_ = 0;
    std::vector<SolutionOfRows<Real>> recorders_;  // (worker)
    std::vector<RowRecorder<Real>*> told_;         // the same
    LaunchesOnRows<Real> launches_;
    KeptThreads threads_;
};

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
    std::vector<TangentMark> marks;  // (lane, direction)
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
    require_steps_of_state(call, where);
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
        const CarriedPart<Real> part{&all.carried, &all.marks, done, all.num_directions};
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
    all.result.take(*first, all.carried, all.marks, all.num_directions);
    return all.result;
}
template decltype(carry_on_rows<double>) carry_on_rows<double>;
template decltype(carry_on_rows<float>) carry_on_rows<float>;
template decltype(push_forward_on_rows<double>) push_forward_on_rows<double>;
template decltype(push_forward_on_rows<float>) push_forward_on_rows<float>;
template decltype(solve_on_rows<double>) solve_on_rows<double>;
template decltype(solve_on_rows<float>) solve_on_rows<float>;

}  // namespace detail

template <class Real>
RowSolutionOf<Real>::RowSolutionOf(detail::RowCall call, const detail::RowArrays<Real>& arrays)
    : call_(std::move(call)),
      shares_parameters_(arrays.p.is_shared),
      began_by_function_(arrays.start != nullptr) {
    detail::RowArguments<Real> arguments;
    const detail::RowArrays<Real>& of_numbers = arguments.with_arrays(call_, arrays, "solve");
    y0_ = EnsembleArray<Real>(of_numbers.y0);
    p_ = EnsembleArray<Real>(of_numbers.p.rows);
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
        of_this_call, call_, {y0_.view(), {p_.view(), {}, shares_parameters_}},
        {nullptr, std::move(cotangents)}, {}, cancelled);
    return {std::move(pulled.gradient), std::move(pulled.report)};
}

template class RowSolutionOf<double>;
template class RowSolutionOf<float>;

}  // namespace eddy::inline v0
