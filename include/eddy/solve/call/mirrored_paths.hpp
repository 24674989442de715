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

/// Arrays of paths, made of those of lanes: a row for each path.
template <class Real, class Memory>
class PathArrays {
  public:
    PathArrays(Mirrors<Memory>& lanes, Mirrors<Memory>& rows) : lanes_(lanes), rows_(rows) {}
    /// The rows of an array that kernels read.
    [[nodiscard]] EnsembleView<const Real> in(const EnsembleView<const Real>& of_lanes) {
        if (of_lanes.first == nullptr || of_lanes.num_components == 0) return of_lanes;
        return rows_.taken_there(lanes_.in(of_lanes));
    }
    /// The rows of an array that kernels write, with `value` in it at first.
    [[nodiscard]] EnsembleView<Real> out(std::ptrdiff_t columns, Real value) {
        const EnsembleView<Real> of_rows = rows_.template rows<Real>(columns);
        rows_.fill(of_rows, value);
        return of_rows;
    }
    [[nodiscard]] const EnsembleView<Real>* out(std::ptrdiff_t count, std::ptrdiff_t columns,
                                                Real value) {
        std::vector<EnsembleView<Real>> views;
        for (std::ptrdiff_t k = 0; k < count; ++k) views.push_back(out(columns, value));
        return rows_.in(views.data(), count);
    }

  private:
    Mirrors<Memory>&lanes_, &rows_;
};

template <class Spec, class Arrays, class Memory>
[[nodiscard]] Problem<Spec> rows_of(Problem<Spec> problem, Arrays& arrays, Mirrors<Memory>& rows) {
    problem = with_tables(problem, rows);
    problem.y0 = arrays.in(problem.y0);
    problem.y0_tangent = arrays.in(problem.y0_tangent);
    const auto of_p = [&](const auto& p) {
        return Spec::shares_parameters ? rows.in_for_all(p) : arrays.in(p);
    };
    problem.p = of_p(problem.p);
    problem.p_tangent = of_p(problem.p_tangent);
    return problem;
}

/// What all jobs have: outcomes, sums of runs, and of a lane that waits so many numbers.
template <class There, class Job, class Memory>
void mirror_sums(There& there, const Job& job, std::ptrdiff_t num_of_runs,
                 std::ptrdiff_t num_waiting, Mirrors<Memory>& lanes, Mirrors<Memory>& rows) {
    using Sum = typename There::Sum;
    there.rows.outcomes = rows.template room<LaneOutcome>(rows.lanes().count);
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
    there.rows = job.kernel;
    PathArrays<Real, Memory> arrays(lanes, rows);
    there.rows.problem = rows_of(job.kernel.problem, arrays, rows);
    there.rows.saved = {arrays.out(num_saves, num_columns, nan),
                        arrays.out(num_tangents, num_columns, nan)};
    there.target = {{lanes.out(job.kernel.saved.y, num_saves, nan),
                     lanes.out(job.kernel.saved.tangent, num_tangents, nan)},
                    lanes.out(job.variance, num_saves, nan),
                    num_saves,
                    num_columns,
                    num_numbers};
    mirror_sums(there, job, num_numbers, num_numbers, lanes, rows);
    if (job.kernel.marks) {
        there.marks = lanes.out(job.kernel.marks, job.num_lanes);
        there.rows.sums.marks = there.rows.marks =
            rows.template room<TangentMark>(rows.lanes().count);
    }
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
    const std::ptrdiff_t num_saves = whole.problem.times.num_saves;
    PathsThere<Kernel, GradientMeans<Spec>> there{};
    there.rows = whole;
    PathArrays<Real, Memory> arrays(lanes, rows);
    there.rows.problem = rows_of(whole.problem, arrays, rows);
    std::vector<EnsembleView<const Real>> data(whole.seeds.data, whole.seeds.data + num_saves);
    for (auto& view : data) view = view.num_lanes > 1 ? arrays.in(view) : rows.in_for_all(view);
    LossSeeds<Spec>& seeds = there.rows.seeds;
    seeds = {};
    seeds.data = rows.in(data.data(), num_saves);
    seeds.loss = arrays.out(1, Real(0)).first;
    GradientTarget<Real>& target = there.rows.target;
    target = {};
    target.y0 = arrays.out(Numbers::num_y0, Real(0));
    if constexpr (Spec::is_dual) target.y0_tangent = arrays.out(Numbers::num_y0, Real(0));
    if constexpr (!Spec::shares_parameters) {
        target.p = arrays.out(Numbers::num_p, Real(0));
        if constexpr (Spec::is_dual) target.p_tangent = arrays.out(Numbers::num_p, Real(0));
    }
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
