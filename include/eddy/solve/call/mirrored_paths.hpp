#pragma once
// A job of many paths (group/path_means.hpp), on a device: its lanes' arrays, which lie there or are mirrored, and
// rows of paths, made of them there, which no one else sees. `lanes` mirrors for all of the call, `rows` for a chunk.
// Test: tests/solve/device_paths.cpp

#include <eddy/solve/call/mirrored_kernels.hpp>
#include <eddy/solve/group/path_means.hpp>

namespace eddy::inline v0::detail {

/// What a device needs of a job. Of the rows' kernel the chunk and its first path, and what only a backend knows,
/// are set for each chunk.
template <class Kernel, class TargetType>
struct PathsThere {
    using Target = TargetType;
    using Sum = typename Target::Sum;
    using Real = typename Kernel::Spec::Scalar;

    Kernel rows{};
    Target target{};
    WaitingLane<Sum> waiting[2]{};  // chunks take them in turn
    LaneOutcome* outcomes = nullptr;
    std::int64_t* failed_paths = nullptr;
    TangentMark* marks = nullptr;
    double *loss_sums = nullptr, *loss_total = nullptr;  // (block of lanes), and of all
    Real* partial_sums = nullptr;                        // room for who adds over blocks
};

/// What all jobs have: outcomes, sums of runs, and of a lane that waits so many numbers.
template <class There, class Job, class Memory>
void mirror_sums(There& there, const Job& job, std::ptrdiff_t num_of_runs,
                 std::ptrdiff_t num_waiting, Mirrors<Memory>& lanes, Mirrors<Memory>& rows) {
    using Sum = typename There::Sum;
    const std::int64_t num_runs = PathRuns::most_runs(rows.lanes().count, job.paths);
    there.rows.sums = {PathRuns{job.paths}, rows.template room<Sum>(num_runs * num_of_runs),
                       rows.template room<PathTally>(num_runs), num_of_runs};
    for (WaitingLane<Sum>& waiting : there.waiting)
        waiting = {lanes.template room<PairwiseSum<Sum>>(num_waiting),
                   lanes.template room<PathTally>(1)};
    there.outcomes = lanes.out(job.kernel.outcomes, job.num_lanes);
    there.failed_paths = lanes.out(job.failed_paths, job.num_lanes);
}

template <class Spec, class Observable, class Steps, class PlanOf, class Memory>
[[nodiscard]] auto mirrored_paths(const PathJob<SolveKernel<Spec, Observable, Steps>, PlanOf>& job,
                                  Mirrors<Memory>& lanes, Mirrors<Memory>& rows) {
    using Real = typename Spec::Scalar;
    constexpr auto nan = std::numeric_limits<Real>::quiet_NaN();
    constexpr std::ptrdiff_t num_columns = Observable::num_outputs;
    const std::ptrdiff_t num_saves = job.kernel.problem.times.num_saves,
                         num_tangents = Spec::is_dual ? num_saves : 0,
                         num_numbers = (num_saves + num_tangents) * num_columns;
    PathsThere<SolveKernel<Spec, Observable, Steps>, SavedMeans<Real>> there{};
    rows.make_paths_of(lanes);
    there.rows = mirrored(job.kernel, LaunchPlan{}, rows);
    there.target = {{lanes.out(job.kernel.saved.y, num_saves, nan),
                     lanes.out(job.kernel.saved.tangent, num_tangents, nan)},
                    lanes.out(job.variance, num_saves, nan),
                    num_saves,
                    num_columns,
                    num_numbers};
    mirror_sums(there, job, num_numbers, num_numbers, lanes, rows);
    there.marks = lanes.out(job.kernel.marks, job.num_lanes);
    there.rows.sums.marks = there.rows.marks;
    return there;
}

/// Addends of a shared gradient: of each row, or of each group of rows, for a sum over all of a chunk.
template <class Spec, class There, class Job, class Memory>
void mirror_shared(There& there, const Job& job, Mirrors<Memory>& lanes, Mirrors<Memory>& rows) {
    using Real = typename Spec::Scalar;
    using Lane = typename Spec::Lane;
    constexpr std::ptrdiff_t num_p = Spec::parameter_size,
                             numbers = num_p * GradientNumbers<Spec>::reals_per_number;
    const std::ptrdiff_t num_rows = rows.lanes().count;
    SharedRows<Spec>& shared = there.rows.shared;
    auto& target = there.target;
    shared = {};
    if constexpr (Spec::sums_by_lane) {
        shared.addends = rows.template room_at_zero<Real, Lane>(num_rows, num_p, 1);
    } else {
        const std::ptrdiff_t most_groups = job.plan_of(num_rows).num_groups();
        static_assert(!Spec::is_dual);
        shared.sums =
            rows.template room_at_zero<Real, Lane>(most_groups, num_p, RowTask::per_group);
        shared.may_be_added = true;
        shared.partial_sums = rows.template room<Lane>(SharedRows<Spec>::most_partial_sums * num_p);
        there.rows.target.p = {rows.template room<Real>(num_p), 1, num_p, 1, 1};
        target.of_chunk = there.rows.target.p.first;
    }
    target.num_blocks = Spec::sums_by_lane ? num_blocks(job.num_lanes) : 1;
    target.blocks = lanes.template room<Real>(target.num_blocks * numbers);
    there.partial_sums = lanes.template room<Real>(SharedRows<Spec>::most_partial_sums * num_p);
}

template <class Spec, class Objective, class StoresOf, bool with_times, class PlanOf, class Memory>
[[nodiscard]] auto mirrored_paths(
    const PathJob<GradientKernel<Spec, Objective, LossSeeds<Spec>, StoresOf, with_times>, PlanOf>&
        job,
    Mirrors<Memory>& lanes, Mirrors<Memory>& rows) {
    using Real = typename Spec::Scalar;
    using Kernel = GradientKernel<Spec, Objective, LossSeeds<Spec>, StoresOf, with_times>;
    using Numbers = GradientNumbers<Spec>;
    const Kernel& whole = job.kernel;
    PathsThere<Kernel, GradientMeans<Spec>> there{};
    rows.make_paths_of(lanes);
    Kernel of_rows = whole;  // without the sums over them
    of_rows.seeds.block_sums = of_rows.seeds.total = nullptr;
    if (Spec::shares_parameters) of_rows.target.p = of_rows.target.p_tangent = {};
    there.rows = mirrored(of_rows, LaunchPlan{}, rows);
    const EnsembleView<Real> loss{whole.seeds.loss, job.num_lanes, 1, whole.seeds.loss_stride, 0};
    there.target.loss = lanes.out(loss, Real(0));
    there.target.num_lanes = job.num_lanes;
    for (const auto view : {&GradientTarget<Real>::y0, &GradientTarget<Real>::p,
                            &GradientTarget<Real>::y0_tangent, &GradientTarget<Real>::p_tangent})
        there.target.target.*view = lanes.out(whole.target.*view, Real(0));
    if constexpr (Spec::shares_parameters && Spec::parameter_size > 0)
        mirror_shared<Spec>(there, job, lanes, rows);
    there.loss_sums = lanes.template room<double>(num_blocks(job.num_lanes));
    there.loss_total = lanes.out(whole.seeds.total, 1);
    mirror_sums(there, job,
                Spec::sums_by_lane ? Numbers::count : std::ptrdiff_t{Numbers::first_of_p},
                Numbers::count, lanes, rows);
    return there;
}

}  // namespace eddy::inline v0::detail
