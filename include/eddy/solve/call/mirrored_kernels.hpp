#pragma once
// Kernels, with all that they refer to on the host in the place of its mirrors: on a device (mirrors.hpp), or where some of
// the lanes are (lane_pieces.hpp).
// Test: tests/solve/grid_backend.cpp

#include <cstdint>
#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/mirrors.hpp>
#include <eddy/solve/group/gradient_kernel.hpp>
#include <eddy/solve/group/path_means.hpp>
#include <eddy/solve/group/solve_kernel.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// The steps that are prescribed to the lanes.
template <class AnyMirrors>
[[nodiscard]] PrescribedSteps mirrored(const PrescribedSteps& steps, AnyMirrors& mirrors) {
    if (!steps) return {};
    const LaneRange& lanes = mirrors.lanes();
    const std::int64_t* const first = steps.first + lanes.first;
    const std::int64_t count = first[lanes.count] - first[0];
    return {mirrors.in_passing(first, lanes.count + 1),
            mirrors.in_passing(steps.elapsed + first[0], count),
            mirrors.in_passing(steps.size + first[0], count)};
}

/// The problem with its tables on the device, without the arrays of the lanes.
template <class Spec, class AnyMirrors>
[[nodiscard]] Problem<Spec> with_tables(Problem<Spec> problem, AnyMirrors& mirrors) {
    CallTimes& times = problem.times;
    const std::ptrdiff_t rows = times.own ? times.table_rows.num_lanes : 1;
    const auto in = [&](const auto* table, std::ptrdiff_t count) {
        return times.own ? mirrors.in_passing(table, count) : mirrors.in(table, count);
    };
    if constexpr (Spec::has_noise)
        problem.noise.rows = in(problem.noise.rows, rows * times.num_tstops);
    times.tstops = in(times.tstops, rows * times.num_tstops);
    times.saves = in(times.saves, rows * times.num_saves);
    times.save_time = in(times.save_time, rows * times.num_saves);
    times.impulses = in(times.impulses, rows * times.num_impulses);
    if (times.own) {
        times.table_rows = mirrors.in(times.table_rows);
        times.own = mirrors.in_passing(times.own, rows);
    }
    if constexpr (Spec::input_room > 0)
        problem.inputs.pieces = in(problem.inputs.pieces, rows * times.num_tstops);
    problem.shared_p = mirrors.in_or_there(problem.shared_p, Spec::parameter_size);
    problem.rows = {};  // there each lane has its own
    if constexpr (keeps_starts<typename Spec::Field>)
        problem.starts = mirrors.template room<typename Spec::LaneState>(mirrors.lanes().count);
    return problem;
}
template <class Spec, class AnyMirrors>
[[nodiscard]] Problem<Spec> mirrored(Problem<Spec> problem, AnyMirrors& mirrors) {
    problem = with_tables(problem, mirrors);
    const auto of_p = [&](const auto& p) {
        return Spec::shares_parameters ? mirrors.in_for_all(p) : mirrors.in(p);
    };
    problem.y0 = mirrors.in(problem.y0);
    problem.p = of_p(problem.p);
    problem.y0_tangent = mirrors.in(problem.y0_tangent);
    if constexpr (Spec::input_room > 0)
        problem.inputs.coefficients = mirrors.in(problem.inputs.coefficients);
    problem.p_tangent = of_p(problem.p_tangent);
    problem.prescribed = mirrored(problem.prescribed, mirrors);
    if constexpr (Spec::has_noise)
        problem.noise.first_path += static_cast<std::uint64_t>(mirrors.lanes().first);
    return problem;
}

template <class Spec, class AnyMirrors>
[[nodiscard]] LossSeeds<Spec> mirrored(LossSeeds<Spec> seeds, const LaunchPlan& plan,
                                       std::ptrdiff_t num_saves, AnyMirrors& mirrors,
                                       ComesBack comes) {
    using Real = typename Spec::Scalar;
    const LaneRange& lanes = mirrors.lanes();
    seeds.data = mirrors.all_in(seeds.data, num_saves);
    const EnsembleView<Real> loss{seeds.loss, plan.num_lanes, 1, seeds.loss_stride, 0};
    const EnsembleView<Real> there = mirrors.out(loss, Real(0), comes);
    seeds.loss = there.first;
    seeds.loss_stride = there.lane_stride;
    if (!mirrors.has_all_lanes()) seeds.total = nullptr;
    if (seeds.block_sums)
        seeds.block_sums =
            mirrors.out(seeds.block_sums + lanes.first / lanes_per_block, num_blocks(lanes.count),
                        seeds.total ? ComesBack::never : ComesBack::when_done);
    seeds.total = mirrors.out(seeds.total, 1);
    return seeds;
}
template <class Spec, int num_outputs, class AnyMirrors>
[[nodiscard]] CotangentSeeds<Spec, num_outputs> mirrored(CotangentSeeds<Spec, num_outputs> seeds,
                                                         const LaunchPlan&,
                                                         std::ptrdiff_t num_saves,
                                                         AnyMirrors& mirrors, ComesBack) {
    seeds.cotangents = mirrors.all_in(seeds.cotangents, num_saves);
    return seeds;
}

template <class Steps, class AnyMirrors>
[[nodiscard]] Steps mirrored_rows(Steps steps, int num_columns, AnyMirrors& mirrors) {
    using Real = typename Steps::Real;
    const LaneRange& lanes = mirrors.lanes();
    StepRows<Real>* here = nullptr;
    if (!mirrors.only_counts())
        here = &steps.rows->emplace_back(StepRows<Real>{lanes.first, lanes.count});
    std::int64_t* const count = steps.count + lanes.first;
    steps.count = mirrors.template out_zero<std::int64_t>(count, lanes.count, 1, 1);
    steps.t = mirrors.out_rows(here ? &here->t : nullptr, steps.num_rows, lanes.count, count);
    steps.y = mirrors.out_rows(here ? &here->y : nullptr, steps.num_rows, lanes.count * num_columns,
                               count);
    steps.num_lanes = lanes.count;
    return steps;
}
/// Steps that nobody wants.
template <class Steps, class AnyMirrors>
[[nodiscard]] Steps mirrored(const Steps& steps, int, AnyMirrors&) {
    return steps;
}
/// The room for the steps of the lanes.
template <class Real, bool keeps_sizes, class AnyMirrors>
[[nodiscard]] auto mirrored(StepArrays<Real, keeps_sizes> steps, int state_size,
                            AnyMirrors& mirrors) {
    if (!steps.is_wanted()) return steps;
    const LaneRange& lanes = mirrors.lanes();
    const int num_columns = steps.num_columns(state_size);
    if (!steps.first) return mirrored_rows(steps, num_columns, mirrors);
    const std::int64_t* const first = steps.first + lanes.first;
    const std::int64_t count = first[lanes.count] - first[0];
    steps.first = mirrors.in(first, lanes.count + 1);
    steps.count =
        mirrors.template out_zero<std::int64_t>(steps.count + lanes.first, lanes.count, 1, 1);
    steps.t = mirrors.out(steps.t + first[0], count);
    steps.y = mirrors.out(steps.y + first[0] * num_columns, count * num_columns);
    return steps;
}

/// The events of the lanes, of which there are none at first.
template <class AnyMirrors>
[[nodiscard]] LaneEvents* mirrored(LaneEvents* events, AnyMirrors& mirrors) {
    const LaneRange& lanes = mirrors.lanes();
    return events ? mirrors.template out_zero<std::int64_t>(events + lanes.first, lanes.count, 1, 1,
                                                            ComesBack::when_asked)
                  : nullptr;
}

/// The sums over the runs of paths, on the device.
template <class Sum, class AnyMirrors>
[[nodiscard]] RunSums<Sum> mirrored(RunSums<Sum> sums, AnyMirrors& mirrors) {
    if (!sums.is_wanted()) return sums;
    PathRuns& runs = sums.runs;
    const std::int64_t before = runs.run_of(runs.first_path);
    runs.first_path += mirrors.lanes().first;
    runs.num_rows = mirrors.lanes().count;
    const std::int64_t first = runs.run_of(runs.first_path) - before;
    sums.sums =
        mirrors.out(sums.sums + first * sums.num_numbers, runs.num_runs() * sums.num_numbers);
    sums.tallies = mirrors.out(sums.tallies + first, runs.num_runs());
    return sums;
}

template <class Spec, class Observable, class Steps, class AnyMirrors>
[[nodiscard]] auto mirrored(SolveKernel<Spec, Observable, Steps> kernel, const LaunchPlan&,
                            AnyMirrors& mirrors) {
    constexpr auto nan = std::numeric_limits<typename Spec::Scalar>::quiet_NaN();
    const std::ptrdiff_t num_saves = kernel.problem.times.num_saves;
    kernel.steps = mirrored(kernel.steps, Spec::state_size, mirrors);
    kernel.problem = mirrored(kernel.problem, mirrors);
    const bool stays = kernel.sums.is_wanted();
    const auto comes = stays ? ComesBack::never : ComesBack::when_done;
    const auto comes_later = stays ? ComesBack::never : ComesBack::when_asked;
    kernel.outcomes = mirrors.out_of_lanes(kernel.outcomes, comes_later);
    kernel.marks = mirrors.out_of_lanes(kernel.marks, comes_later);
    kernel.saved.y = mirrors.out(kernel.saved.y, num_saves, nan, comes);
    kernel.saved.tangent =
        mirrors.out(kernel.saved.tangent, Spec::is_dual ? num_saves : 0, nan, comes);
    kernel.sums = mirrored(kernel.sums, mirrors);
    kernel.sums.marks = kernel.marks;
    kernel.events = mirrored(kernel.events, mirrors);
    return kernel;
}

/// The gradient kernel on the device, except `stores` and `costs`, which are a device's own.
template <class Spec, class Objective, class Seeds, class StoresOf, bool with_times,
          class AnyMirrors>
[[nodiscard]] auto mirrored(GradientKernel<Spec, Objective, Seeds, StoresOf, with_times> kernel,
                            const LaunchPlan& plan, AnyMirrors& mirrors) {
    using Real = typename Spec::Scalar;
    const LaneRange& lanes = mirrors.lanes();
    const bool stays = kernel.sums.is_wanted();
    const auto of_rows = stays ? ComesBack::never : ComesBack::when_done;
    kernel.seeds = mirrored(kernel.seeds, plan, kernel.problem.times.num_saves, mirrors, of_rows);
    kernel.problem = mirrored(kernel.problem, mirrors);
    kernel.outcomes =
        mirrors.out_of_lanes(kernel.outcomes, stays ? of_rows : ComesBack::when_asked);
    kernel.sums = mirrored(kernel.sums, mirrors);
    kernel.shared.may_be_added = kernel.shared.may_be_added && mirrors.has_all_lanes();
    auto& target = kernel.target;
    for (auto* view : {&target.y0, &target.y0_tangent, &target.t0, &target.t1, &target.save_at,
                       &target.impulse_amounts, &target.impulse_times, &target.inputs})
        *view = mirrors.out(*view, Real(0), of_rows);
    const auto of_p = kernel.shared.may_be_added ? ComesBack::when_done : of_rows;
    for (auto* view : {&target.p, &target.p_tangent}) *view = mirrors.out(*view, Real(0), of_p);
    const LaunchPlan chunk{lanes.count, plan.group_size, 1};
    const std::ptrdiff_t rows = Spec::sums_by_lane ? num_blocks(lanes.count) : chunk.num_groups();
    const std::ptrdiff_t first_row =
        lanes.first / (Spec::sums_by_lane ? lanes_per_block : plan.group_size);
    const bool may_follow = kernel.leaves_out_marked || switches<Spec>;
    const auto of_groups = Spec::sums_by_lane ? of_rows : ComesBack::when_done;
    const auto comes = !kernel.shared.may_be_added ? of_groups
                       : may_follow                ? ComesBack::if_some_follow
                                                   : ComesBack::never;
    if (Spec::shares_parameters && kernel.shared.may_be_added)
        kernel.shared.partial_sums = mirrors.template room<typename Spec::Lane>(
            std::ptrdiff_t{SharedRows<Spec>::most_partial_sums} * Spec::parameter_size);
    if (kernel.shared.addends)
        kernel.shared.addends = mirrors.template out_zero<Real>(
            kernel.shared.addends + lanes.first * Spec::parameter_size, lanes.count,
            Spec::parameter_size, 1, comes);
    if (kernel.shared.sums)
        kernel.shared.sums = mirrors.template out_zero<Real>(
            kernel.shared.sums + first_row * Spec::parameter_size, rows, Spec::parameter_size,
            Spec::sums_by_lane ? lanes_per_block : RowTask::per_group, comes);
    kernel.marks = mirrors.out_of_lanes(kernel.marks, ComesBack::when_asked);
    kernel.events = mirrored(kernel.events, mirrors);
    return kernel;
}

/// Means of what is saved, in the arrays of the lanes.
template <class Real, class AnyMirrors>
[[nodiscard]] SavedMeans<Real> mirrored(SavedMeans<Real> means, AnyMirrors& lanes) {
    constexpr auto nan = std::numeric_limits<Real>::quiet_NaN();
    const std::ptrdiff_t num_tangents =
        means.num_numbers > means.num_saves * means.num_columns ? means.num_saves : 0;
    means.means.y = lanes.out(means.means.y, means.num_saves, nan);
    means.means.tangent = lanes.out(means.means.tangent, num_tangents, nan);
    means.variance = lanes.out(means.variance, means.num_saves, nan);
    return means;
}
/// Means of the loss and its derivatives; those that are added over lanes have room there.
template <class Spec, class AnyMirrors>
[[nodiscard]] GradientMeans<Spec> mirrored(GradientMeans<Spec> means, AnyMirrors& lanes) {
    using Real = typename Spec::Scalar;
    means.loss = lanes.out(means.loss, Real(0));
    auto& target = means.target;
    for (auto* view : {&target.y0, &target.p, &target.y0_tangent, &target.p_tangent})
        *view = lanes.out(*view, Real(0));
    means.blocks = lanes.template room<Real>(means.num_blocks * means.num_of_block);
    return means;
}
/// What becomes of lanes. Their paths are the rows.
template <class Sum, class Target, class AnyMirrors>
[[nodiscard]] PathLanes<Sum, Target> mirrored(PathLanes<Sum, Target> all, AnyMirrors& lanes,
                                              AnyMirrors& rows) {
    const std::int64_t num_runs = PathRuns::most_runs(rows.lanes().count, all.chunk.runs.paths);
    all.chunk.sums = rows.template room<Sum>(num_runs * all.chunk.num_numbers);
    all.chunk.tallies = rows.template room<PathTally>(num_runs);
    for (WaitingLane<Sum>* waiting : {&all.before, &all.after})
        *waiting = {lanes.template room<PairwiseSum<Sum>>(all.num_numbers()),
                    lanes.template room<PathTally>(1)};
    all.target = mirrored(all.target, lanes);
    all.outcomes = lanes.out(all.outcomes, all.num_lanes);
    all.failed_paths = lanes.out(all.failed_paths, all.num_lanes);
    all.marks = lanes.out(all.marks, all.num_lanes);
    return all;
}

}  // namespace eddy::inline v0::detail
