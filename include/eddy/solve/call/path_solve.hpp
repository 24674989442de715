#pragma once
// Means and variances over the paths of each lane, of a solve and of its tangents.
// Test: tests/solve/paths.cpp, tests/solve/device_paths.cpp

#include <algorithm>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/path_sums.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/group/path_means.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Solves a SolveWorkspace's problem with several paths to a lane.
template <class SolveWorkspace, class Spec>
class PathSolve {
    using Real = typename Spec::Scalar;

  public:
    template <class Backend>
    void run(SolveWorkspace& whole, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, CallLink& call, const char* title) {
        Solution<Real>& solution = whole.solution;
        const auto memory = memory_for(backend, kept);
        const bool stays = paths_stay_there(memory, whole);
        solution.reset(whole.prepared.num_lanes(), whole.prepared.times().saved(), num_outputs,
                       Spec::state_size,
                       {.y = whole.y.empty(),
                        .has_tangents = Spec::is_dual,
                        .tangent = Spec::is_dual && whole.tangent.empty(),
                        .paths = options.paths,
                        .comes_later = stays,
                        .noise_cell = whole.prepared.noise_cell(),
                        .variance = whole.variance.empty()});
        TangentMark* const marks = whole.template watch_tangents<Backend>();
        const SavedArrays<Real> saved = whole.open_outputs(memory);
        const std::ptrdiff_t numbers = solution.num_saves() * num_outputs * (Spec::is_dual ? 2 : 1);
        const Lanes lanes{
            .chunk = {.runs = {options.paths}, .num_numbers = numbers},
            .target = {saved, whole.variance.data(), solution.num_saves(), num_outputs, numbers},
            .outcomes = solution.lanes().data(),
            .failed_paths = solution.failed_paths_of_lanes().data(),
            .marks = marks,
            .num_lanes = solution.num_lanes(),
            .times = whole.prepared.problem.times};
        if constexpr (is_of_device<Backend>) {
            if (stays) return run_there(whole, lanes, backend, kept, call);
        }
        const auto solve_chunk = [&](const RunSums<Moments>& of_runs) {
            paths_.prepare(chunk_.prepared, whole.prepared, of_runs.runs);
            chunk_.take({}, HostMemory{}, title);
            // Rows that a device has solved stay there: it adds up their runs.
            if (is_of_device<Backend>) chunk_.sums = of_runs;
            chunk_.run_pass(options, backend, kept, call);
            if (!is_of_device<Backend>) add_rows(of_runs);
        };
        const PathChunks chunks{rows_that_fit(numbers)};
        paths_.run(lanes, chunks, call, solve_chunk);
    }

  private:
    static constexpr int num_outputs = SolveWorkspace::num_outputs;
    using Lanes = PathLanes<Moments, SavedMeans<Real>>;

    template <class Memory>
    [[nodiscard]] static bool paths_stay_there(const Memory& memory, const SolveWorkspace& whole) {
        std::vector<const void*> arrays = inputs_of(whole.prepared.problem);
        for (const auto* views : {&whole.y, &whole.tangent, &whole.variance})
            for (const EnsembleView<Real>& view : *views) arrays.push_back(view.first);
        return eddy::detail::paths_stay_there(memory, arrays, true);
    }
    /// Runs the paths on a device: only means come back.
    template <class Backend>
    void run_there(SolveWorkspace& whole, const Lanes& lanes, const Backend& backend,
                   typename Backend::Kept& kept, CallLink& call) {
        using Kernel = SolveKernel<Spec, typename SolveWorkspace::ObservableType, StepArrays<Real>>;
        const auto plan_of = [&](std::int64_t num_rows) {
            return plan_way_forward<Spec>(backend, num_rows);
        };
        const PathChunks chunks{rows_that_fit(lanes.chunk.num_numbers, backend.bytes_of_chunk())};
        const LaunchPlan largest = plan_of(chunks.num_rows(lanes));
        const PathJob<Kernel, decltype(plan_of), Lanes> job{
            Kernel{.problem = whole.prepared.problem,
                   .outcomes = lanes.outcomes,
                   .saved = lanes.target.means,
                   .group_size = static_cast<std::int32_t>(largest.group_size),
                   .marks = lanes.marks},
            plan_of, lanes, chunks};
        backend.launch_paths(job, call, kept);
        call.rethrow();
        if (backend.asynchronous && lanes.num_lanes > 0)
            whole.solution.follow(backend.unfinished(kept));
    }
    /// Adds up the runs of rows that are here.
    void add_rows(RunSums<Moments> sums) {
        Solution<Real>& rows = chunk_.solution;
        y_.clear();
        tangent_.clear();
        for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k) {
            y_.push_back(rows.y_of(k));
            if (Spec::is_dual) tangent_.push_back(rows.tangent_of(k));
        }
        sums.marks = chunk_.sums.marks;
        sums.add_all(
            SavedNumbers<Real>{{y_.data(), tangent_.data()}, rows.num_saves(), rows.num_columns()},
            rows.outcomes().data());
    }

    PathSums<Spec, Moments> paths_;
    SolveWorkspace chunk_;
    std::vector<EnsembleView<Real>> y_, tangent_;  // (save point) of rows that are here
};

}  // namespace eddy::inline v0::detail
