#pragma once
// The mean of the loss over the paths of each lane, and its gradient.
// Test: tests/solve/paths.cpp, tests/solve/device_paths.cpp

#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/path_sums.hpp>
#include <eddy/solve/call/shared_sums.hpp>
#include <eddy/solve/group/path_means.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Runs a GradientWorkspace with several paths to a lane.
template <class GradientWorkspace, class Spec>
class PathGradient {
    using Real = typename Spec::Scalar;
    using Lane = typename Spec::Lane;
    using Means = GradientMeans<Spec>;
    using Numbers = typename Means::Numbers;
    /// Are the addends of a shared gradient not known of each path? Those of a lane are summed together then.
    static constexpr bool sums_whole_lanes = Spec::shares_parameters && !Spec::sums_by_lane;
    /// What groups bring of them is added on a device.
    template <class Memory>
    static constexpr bool adds_groups = sums_whole_lanes && !Spec::is_dual && !is_of_host<Memory>;
    static_assert(!can_watch<Spec>);  // nobody would bring the marks of paths

  public:
    /// Are the means of lanes added over them as well?
    template <class Backend>
    bool run(GradientWorkspace& whole, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, CallLink& call, const char* title) {
        const auto memory = memory_for(backend, kept);
        const std::ptrdiff_t lanes = whole.prepared.num_lanes();
        const bool stays = paths_stay_there(memory, whole, options);
        GradientReport& report = whole.result.report;
        whole.reset(1, 1, memory, options.paths, stays);
        set_costs(report, {});
        report.checkpoints = 0;
        constexpr std::ptrdiff_t num_shared = Means::num_of_block;
        // Where a rank's lanes do not begin with a block of all lanes, its blocks are not those of one machine.
        const std::ptrdiff_t block_lanes =
            whole.prepared.blocks().num_alone > 0 ? 1 : lanes_per_block;
        const std::ptrdiff_t blocks =
            Spec::sums_by_lane ? (lanes + block_lanes - 1) / block_lanes : 1;
        blocks_.assign(static_cast<std::size_t>(blocks * num_shared), Real(0));
        of_chunk_.resize(static_cast<std::size_t>(sums_whole_lanes ? num_shared : 0));
        const Lanes of_lanes{.chunk = {.runs = {options.paths}, .num_numbers = num_numbers},
                             .target = {whole.loss, whole.target, blocks_.data(), of_chunk_.data(),
                                        lanes, blocks, block_lanes},
                             .outcomes = report.lanes().data(),
                             .failed_paths = report.failed_paths_of_lanes().data(),
                             .num_lanes = lanes,
                             .times = whole.prepared.problem.times};
        if (stays) {
            require_may_stay(gathers(whole, options), options.paths, title);
            if constexpr (is_of_device<Backend> && !(sums_whole_lanes && Spec::is_dual))
                run_there(whole, of_lanes, options, backend, kept, call);
            return lanes > 0;
        }
        const auto solve_chunk = [&](const RunSums<double>& of_runs) {
            prepare<typename Backend::Memory>(whole, of_runs.runs);
            // Rows that a device has solved stay there: it adds up their runs.
            if (is_of_device<Backend>) chunk_.sums = of_runs;
            chunk_.run_kernel(options, backend, kept, call, false);
            if (!is_of_device<Backend>)
                of_runs.add_all(numbers(), chunk_.result.report.outcomes().data());
            if (sums_whole_lanes) add_shared(title);
            add_costs(report);
        };
        // A name: nvcc drops braces in a call that depend on a template's parameters.
        const PathChunks chunks{few_lanes, sums_whole_lanes};
        paths_.run(of_lanes, chunks, call, solve_chunk);
        if (num_shared > 0) add_blocks(whole, of_lanes.target);
        return false;
    }

  private:
    using Lanes = PathLanes<double, Means>;

    template <class Memory>
    [[nodiscard]] static bool paths_stay_there(const Memory& memory, const GradientWorkspace& whole,
                                               const SolveOptions& options) {
        std::vector<const void*> arrays = inputs_of(whole.prepared.problem);
        arrays.push_back(whole.loss.first);
        for (const auto& data : whole.arrays) arrays.push_back(data.first);
        for (const auto* output : {&whole.given.y0, &whole.given.p})
            if (output->is_given()) arrays.push_back(output->view().first);
        const bool may_stay = !gathers(whole, options) && !(sums_whole_lanes && Spec::is_dual);
        return eddy::detail::paths_stay_there(memory, arrays, may_stay);
    }
    /// Do processes share the lanes?
    static bool gathers(const GradientWorkspace& whole, const SolveOptions& options) {
        return options.gather_sums || whole.prepared.ranks;
    }
    static void require_may_stay(bool gathers, std::int64_t paths, const char* title) {
        require_argument(
            !gathers,
            "{}: gather_sums or Mpi with paths = {} of arrays on the device, which adds up "
            "what lies there; give arrays of the host: a row for each trajectory",
            title, paths);
        require_argument(!(sums_whole_lanes && Spec::is_dual),
                         "{}: tangents of more than 64 shared parameters with paths = {} of arrays "
                         "on the device; give arrays of the host: a row for each trajectory",
                         title, paths);
    }
    /// Runs the paths on a device: only means come back.
    template <class Backend>
    void run_there(GradientWorkspace& whole, const Lanes& lanes, const SolveOptions& options,
                   const Backend& backend, typename Backend::Kept& kept, CallLink& call) {
        using Team = typename Backend::template Team<Spec>;
        const auto plan_of = [&](std::int64_t num_rows) {
            return GradientWorkspace::plan_groups(num_rows, backend);
        };
        // Sums over whole chunks have the bits of chunks of this size; else those of the device are larger.
        const PathChunks chunks{
            sums_whole_lanes ? few_lanes : rows_that_fit(Numbers::count, backend.bytes_of_chunk()),
            sums_whole_lanes};
        const LaunchPlan groups = plan_of(chunks.num_rows(lanes));
        GradientReport& report = whole.result.report;
        const GradientPlan plan = plan_gradient<Spec, Team>(
            options, whole.prepared.problem.times, groups.group_size, groups.num_workers,
            memory_limits(options.memory_budget, backend, kept));
        const auto stores = backend.stores(plan, groups.num_workers, kept);
        auto seeds = whole.seeds;  // without the sums over lanes
        seeds.block_sums = nullptr;
        seeds.add_up_into(nullptr);
        auto target = whole.target;
        if (Spec::shares_parameters) target.p = target.p_tangent = {};
        using Kernel =
            typename GradientWorkspace::template KernelOf<std::remove_const_t<decltype(stores)>>;
        const PathJob<Kernel, decltype(plan_of), Lanes> job{
            Kernel{.problem = whole.prepared.problem,
                   .outcomes = lanes.outcomes,
                   .seeds = seeds,
                   .target = target,
                   .shared = {},
                   .plan = plan,
                   .stores = stores,
                   .costs = whole.costs.data()},
            plan_of, lanes, chunks, &whole.loss_total};
        backend.launch_paths(job, call, kept);
        call.rethrow();
        report.checkpoints = plan.checkpoints;
        set_costs(report, whole.costs);
    }
    /// The numbers of a path that are summed. More shared parameters have no addends: they come last,
    /// and are summed apart.
    static constexpr std::ptrdiff_t num_numbers =
        sums_whole_lanes ? Numbers::first_of_p : Numbers::count;

    template <class Memory>
    void prepare(const GradientWorkspace& whole, const PathRuns& rows) {
        paths_.prepare(chunk_.prepared, whole.prepared, rows);
        chunk_.keeps_addends = !adds_groups<Memory>;
        chunk_.seeds = whole.seeds;
        chunk_.open_loss();
    }

    [[nodiscard]] Numbers numbers() {
        return {chunk_.loss.first, chunk_.loss.lane_stride, chunk_.target,
                chunk_.shared_sums.rows().addends};
    }
    /// The rows are of one lane, and failed ones bring nothing.
    void add_shared(const char* title) {
        chunk_.finish_sums({}, title);
        for (std::size_t i = 0; i < of_chunk_.size(); ++i) {
            const auto component = static_cast<std::ptrdiff_t>(i);
            of_chunk_[i] = component < Numbers::num_p
                               ? chunk_.target.p(0, component)
                               : chunk_.target.p_tangent(0, component - Numbers::num_p);
        }
    }
    /// What the lanes of each block have brought to a shared gradient.
    static void add_blocks(GradientWorkspace& whole, const Means& means) {
        for (std::ptrdiff_t block = 0; block < means.num_blocks; ++block) {
            for (std::ptrdiff_t i = 0; i < Numbers::num_p; ++i) {
                const auto number = [&](std::ptrdiff_t k) -> Real {
                    return means.sum_of_block(block, Numbers::first_of_p + k * Numbers::num_p + i);
                };
                Lane sum(number(0));
                if (Spec::is_dual) set_tangent(sum, number(1));
                whole.shared_sums.add(block * means.block_lanes, i, sum);
            }
        }
    }
    void add_costs(GradientReport& report) const {
        const GradientReport& of_chunk = chunk_.result.report;
        eddy::detail::add(report.counters, of_chunk.counters);
        report.evaluations_back += of_chunk.evaluations_back;
        report.bytes_kept = std::max(report.bytes_kept, of_chunk.bytes_kept);
        report.checkpoints = std::max(report.checkpoints, of_chunk.checkpoints);
    }

    // Sums are in double, whose rounding is far below the noise of the mean.
    PathSums<Spec, double> paths_;
    GradientWorkspace chunk_;
    std::vector<Real> blocks_, of_chunk_;  // of shared parameters
};

}  // namespace eddy::inline v0::detail
