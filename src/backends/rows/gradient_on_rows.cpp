#include "gradient_on_rows.hpp"
#include <algorithm>
#include <eddy/solve/call/collect_arrays.hpp>
#include <eddy/solve/call/redo.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include "round_plan.hpp"

namespace eddy::inline v0::detail {

template <class Real>
void GradientOnRows<Real>::check_arrays(const char* where) {
    const RowViews<Real>& arrays = seeds_->arrays;
    GradientReport& report = result.report;
    report.num_values = 0;
    report.observed.clear();
    if (seeds_->loss && arrays.empty()) return;
    const char* const name = name_of_arrays();
    const std::ptrdiff_t columns =
        seeds_->loss ? seeds_->loss->num_parameters() - call_->field->num_parameters()
                     : call_->field->num_states();
    require_arrays(arrays, prepared_.times().num_saves, prepared_.num_lanes(), columns, name,
                   where);
    for (const auto& array : arrays) report.num_values += seeds_->loss ? array.num_components : 0;
    if (seeds_->may_miss_values)
        return count_observed(report.observed, arrays, prepared_.num_lanes(), prepared_.times(),
                              where);
    if (seeds_->loss && prepared_.times().is_own)
        count_given(report.observed, arrays, prepared_.num_lanes(), prepared_.times());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const ArrayName of_point{name, arrays.size() > 1 ? static_cast<std::ptrdiff_t>(k) : -1,
                                 seeds_->loss ? for_missing_data : ""};
        require_finite_at_points(arrays[k], prepared_.times(), k, of_point, where);
    }
}
/// The arrays that the call is to write into, checked.
template <class Real>
void GradientOnRows<Real>::take(const GradientInto<Real>& into, const char* where) {
    given = into;
    if (!gives_any(into)) return;
    call_arrays_.clear();
    call_arrays_.add_input(prepared_.problem.y0, "y0");
    call_arrays_.add_input(prepared_.problem.p, "p");
    for (std::size_t k = 0; k < seeds_->arrays.size(); ++k)
        call_arrays_.add_input(seeds_->arrays[k], name_of_arrays(), static_cast<std::ptrdiff_t>(k));
    this->require_outputs(extent(), HostMemory{}, call_arrays_, where);
}
/// Do rounds of wide states leave more for the way back than the second-level cache holds? Machine code makes as much of
/// one vector as of two: with 8 lanes in place of 16 gradients of 40 to 100 states took 0.75 to 0.85 of the time.
[[nodiscard]] static bool is_better_narrow(const RowCall& call, std::size_t bytes_of_number) {
    const std::int64_t twice = 2 * std::int64_t{call.field->num_states()};
    const bool fills_vector = 8 * bytes_of_number == 64;
    return fills_vector && call.field->graph() && !call.method->is_implicit() &&
           has_machine_code() && most_row_width(twice, *call.method, true, bytes_of_number) == 16;
}
/// Groups of one tile, or of so many lanes that their sums over shared parameters are whole blocks.
template <class Real>
void GradientOnRows<Real>::plan_groups() {
    const std::ptrdiff_t lanes = num_lanes_;
    width_ = row_width(*call_->field, *call_->method, lanes, true, prepared_.problem.sums_tile,
                       sizeof(Real));
    // Where tiles sum, who sums what would depend on the processor.
    const bool may_be_narrow = !prepared_.problem.sums_tile && width_ == 16;
    if (may_be_narrow && is_better_narrow(*call_, sizeof(Real))) width_ = 8;
    const bool adds_blocks = shares_parameters_ && lanes > few_lanes;
    groups_ = {lanes, adds_blocks ? lanes_per_block : width_, 1};
    if (!call_->is_joint && RowGradient<Real>::refills(prepared_.problem)) {
        // Several tiles, whose lanes make room for each other, as long as there are groups for all threads.
        constexpr std::ptrdiff_t most_tiles = RowGradient<Real>::most_tiles;
        const std::ptrdiff_t tiles = (lanes + width_ - 1) / width_;
        const std::ptrdiff_t workers = workers_of_threads(call_->threads, tiles);
        const std::ptrdiff_t wanted = workers == 1 ? 1 : 4 * workers;
        const std::ptrdiff_t size =
            std::clamp<std::ptrdiff_t>((tiles + wanted - 1) / wanted, 1, most_tiles) * width_;
        groups_.group_size =
            adds_blocks ? (size + lanes_per_block - 1) / lanes_per_block * lanes_per_block : size;
    }
    if (prepared_.problem.sums_tile) {
        // Each group has sums of its own, and which groups there are depends on the lanes alone.
        constexpr std::ptrdiff_t most_groups = 64;
        const std::ptrdiff_t tiles = (lanes + width_ - 1) / width_;
        groups_.group_size = (tiles + most_groups - 1) / most_groups * width_;
        groups_.group_size = std::max<std::ptrdiff_t>(groups_.group_size, width_);
    }
    groups_.num_workers = workers_of_threads(call_->threads, groups_.num_groups());
}
template <class Real>
void GradientOnRows<Real>::plan_back(const FieldOnTileOf<Real>& field) {
    const SolveOptions& options = call_->options;
    const int num_states = call_->field->num_states();
    const WorkerBudget budget =
        budget_of_worker({options.memory_budget, machine_memory_bytes()}, groups_.num_workers);
    plan_.num_lanes = static_cast<std::int32_t>(groups_.group_size);
    plan_rounds_of_tile(
        plan_, options, budget,
        most_rounds_of_lane(prepared_.problem.times, call_->method->estimates_error),
        {width_ * std::int64_t{sizeof(LoggedStep)},
         RowGradient<Real>::kept_bytes(num_states, field.num_kept(), *call_->method, width_)},
        [&](bool with_clocks) {
            return RowGradient<Real>::bytes_of_slot(num_states, width_, with_clocks,
                                                    call_->events ? call_->events->count() : 0);
        });
}
template <class Real>
RowObjective<Real> GradientOnRows<Real>::objective_of(std::ptrdiff_t worker) {
    auto& of_worker = losses_[static_cast<std::size_t>(worker)];
    if (seeds_->loss && !of_worker) of_worker = tile_of(*seeds_->loss, prepared_.problem, width_);
    RowObjective<Real> objective{of_worker.get(), seeds_->arrays, this->loss};
    objective.marks = marks_;
    objective.leaves_out_marked = leaves_out_marked_;
    return objective;
}
template <class Real>
void GradientOnRows<Real>::prepare(const RowCall& call, const RowArrays<Real>& arrays,
                                   const RowSeeds<Real>& seeds, const char* where) {
    call_ = &call;
    seeds_ = &seeds;
    prepared_.prepare(call, arrays, where);
    prepared_.problem.sums_tile = sums_back_in_tiles<Real>(call, arrays.p.is_shared);
    prepared_.problem.is_watched = are_marked(call);
}
/// Results of all lanes, zero so far; and what workers need, where nothing is planned yet.
template <class Real>
void GradientOnRows<Real>::open_lanes(const char* where) {
    const RowCall& call = *call_;
    if (seeds_->loss) this->open_loss(num_lanes_, HostMemory{});
    this->open_sums(extent().lanes);
    if (plan_.num_lanes == 0) {
        plan_groups();
        losses_.resize(static_cast<std::size_t>(groups_.num_workers));
        const FieldOnTileOf<Real>& field =
            launches_.open(*call.field, prepared_.problem, width_, groups_.num_workers, true);
        const char* const asks = call.differentiates_times ? "differentiate_times" : "events";
        require_argument(!prepared_.problem.differentiates_times || field.pulls_time(),
                         "{}: {}, and the equation, which reads t, is a FieldOnTile without "
                         "pull_time; add that, or leave {} out",
                         where, asks, asks);
        plan_back(field);
    }
    this->open(extent(), groups_.num_groups(), groups_.num_workers, HostMemory{}, 1, false);
    GradientReport& report = result.report;
    report.is_watched = are_marked(call);
    marks_ = report.is_watched ? report.marks.data() : nullptr;
    if (call.events) prepared_.problem.told_events = report.keep_events();
    if (call.field->inputs().size > 0) {
        of_inputs_.assign(num_lanes_, prepared_.problem.inputs.coefficients.num_components,
                          Real(0));
        target.inputs = of_inputs_.view();
    }
}
template <class Real>
void GradientOnRows<Real>::run_lanes(const ThreadLink& link) {
    const RowEquation equation{call_->field, {}};
    launches_.differentiate({prepared_.problem, &equation, groups_, link,
                             result.report.lanes().data(), call_->is_joint},
                            width_,
                            {&plan_, [&](std::ptrdiff_t worker) { return objective_of(worker); },
                             target, shared_sums.rows(), costs.data()});
    result.report.checkpoints = plan_.checkpoints;
    set_costs(result.report, costs);
}
template <class Real>
void GradientOnRows<Real>::run(const RowCall& call, const RowArrays<Real>& arrays,
                               const RowSeeds<Real>& seeds, const GradientInto<Real>& into,
                               const Cancellation& cancelled, KeptThreads& threads,
                               const char* where) {
    EmptyUnlessDone guard(result);
    prepare(call, arrays, seeds, where);
    check_arrays(where);
    take(into, where);
    leaves_out_marked_ = are_marked(call) && seeds.loss && call.options.stable_gradients;
    open_lanes(where);
    {
        CallLink to_caller(cancelled, call.options);
        const auto watching = to_caller.watch(call.options.progress, where, num_lanes_);
        to_caller.keep_states_in(&result.report.lost_states());
        run_lanes({&to_caller, &threads});
        to_caller.keep_states_in(nullptr);
        if (leaves_out_marked_) {
            CallLink uncounted = to_caller.uncounted();
            solve_marked(arrays, {&uncounted, &threads}, where);
        }
        to_caller.rethrow();
    }
    pull_inputs(call.options.inputs, use_of(call.field->inputs()), of_inputs_, input_numbers_,
                result.gradient.inputs);
    result.report.set_attempt_cost(cost_of_attempt(*call_->method));
    this->finish_sums(call.options.gather_sums, where);
    for (std::ptrdiff_t i = 0; arrays.p.is_shared && i < call.field->num_parameters(); ++i)
        target.p(0, i) = this->total_of_p(i);
    guard.done();
}

// Marked lanes, once more: call/redo.hpp

template <class Real>
void GradientOnRows<Real>::run_some(const RowCall& call, const RowArrays<Real>& arrays,
                                    const RowSeeds<Real>& seeds, const RowList& lanes,
                                    const PrescribedSteps& steps, const ThreadLink& link,
                                    const char* where) {
    prepare(call, arrays, seeds, where);
    RowProblem<Real>& problem = prepared_.problem;
    problem.rows = Rows::of(lanes);
    if (steps) {
        problem.prescribed = steps;
        any_atol_.assign(static_cast<std::size_t>(problem.state_size), any_atol<Real>);
        problem.tolerances.atol = any_atol_.data();
    }
    open_lanes(where);
    run_lanes(link);
    this->finish_sums({}, where);
    for (std::ptrdiff_t i = 0; shares_parameters_ && i < call.field->num_parameters(); ++i)
        target.p(0, i) = this->total_of_p(i);
}
template <class Real>
void GradientOnRows<Real>::bring(const GradientOnRows& second, const BroughtRows& brought) {
    put_target_into(HostMemory{}, target, brought, second.target, shares_parameters_);
    put_rows_into(HostMemory{}, this->loss, brought, second.loss);
    if (shares_parameters_) shared_sums.add_apart(second.target);
    add_cost(result.report, second.result.report);
}
/// The lanes that were not solved once more and have brought nothing to a shared gradient.
template <class Real>
RowList GradientOnRows<Real>::left_lanes(const RowList& marked) {
    if (!prepared_.problem.sums_tile) return left_of_marked(result.report, marked);
    if (!shared_sums.has_apart()) return {};
    shared_sums.forget_groups();
    return left_of_all(result.report);
}
template <class Real>
void GradientOnRows<Real>::solve_marked(const RowArrays<Real>& arrays, const ThreadLink& link,
                                        const char* where) {
    const RowList marked = marked_lanes(result.report);
    if (marked.empty()) return;
    const auto run_again = [&](std::unique_ptr<GradientOnRows>& kept, const RowList& lanes,
                               const PrescribedSteps& steps) -> GradientOnRows& {
        const std::ptrdiff_t count = std::ssize(lanes);
        if (!kept || kept->num_lanes_ != count)
            kept = std::make_unique<GradientOnRows>(*call_, arrays, *seeds_, count);
        kept->run_some(*call_, arrays, *seeds_, lanes, steps, link, where);
        return *kept;
    };
    if (!sensitive_) sensitive_ = std::make_unique<SensitiveRows<Real>>();
    StepsOfLanes& steps = sensitive_->steps;
    sensitive_->run(*call_, prepared_.problem, marked, link);
    const SolvedLanes solved = solved_lanes(marked, steps.outcomes);
    if (!solved.lanes.empty()) {
        const GradientOnRows& second =
            run_again(along_steps_, solved.lanes, steps.prescribe(solved.of_marked));
        bring(second, bring_outcomes(result.report, second.result.report, solved, steps.outcomes,
                                     2 * call_->method->stability_length));
    }
    if (!shares_parameters_) return;
    const RowList left = left_lanes(marked);
    if (!left.empty()) shared_sums.add_apart(run_again(left_, left, {}).target);
}

template class GradientOnRows<double>;
template class GradientOnRows<float>;

}  // namespace eddy::inline v0::detail
