#pragma once
// What a gradient works with, kept from call to call: a worker for each thread, the division of
// lanes and memory among them, and the caller's data, checked.

#include <eddy/solve/gradient_group.hpp>
#include <eddy/solve/gradient_recorder.hpp>
#include <eddy/solve/gradient_result.hpp>
#include <eddy/solve/lane_sums.hpp>
#include <eddy/solve/solve.hpp>

namespace eddy::detail {

template <class Program, class Tap, class Seeds, bool with_times>
struct GradientWorker {
    using Recorder = GradientRecorder<Program, Tap, Seeds>;
    Recorder recorder;
    GradientGroup<Program, Recorder, with_times> group{recorder};
    BackCost cost;
};

template <class Program, class Tap, class Seeds, bool with_times>
struct GradientWorkspace {
    using Real = typename Program::Scalar;
    using Worker = GradientWorker<Program, Tap, Seeds, with_times>;

    LaneInputs<Program> inputs;
    Seeds seeds;
    ValueAndGradient<Real> result;
    Gradient<Real> tangent;  // of a dual number
    // Of shared parameters: (lane, component) where lanes are few; else (block, component), or
    // (group, component) beyond 64 parameters, so that memory does not grow with lanes as theirs.
    std::vector<typename Program::Lane> shared_parts, shared_sums;
    std::vector<std::unique_ptr<Worker>> workers;

    template <class Backend>
    void run(const SolveOptions& options, const Backend& backend, KeptBy<Backend>& kept,
             const std::stop_token& cancelled, const char* title) {
        require_valid(backend, title);
        const std::ptrdiff_t lanes = inputs.y0.num_lanes;
        EmptyUnlessDone guard(result);
        const std::ptrdiff_t size = group_size(lanes, backend);
        const std::ptrdiff_t num_groups = (lanes + size - 1) / size;
        const std::ptrdiff_t num_workers = backend.num_workers(num_groups);
        if (static_cast<std::ptrdiff_t>(workers.size()) < num_workers)
            workers.resize(static_cast<std::size_t>(num_workers));
        const GradientTarget<Real> target = reset(lanes, num_groups);
        const GroupMemory memory = memory_of(options, num_workers);
        Progress progress(options.progress, cancelled, lanes, title);
        inputs.cancelled = progress.cancelled();
        inputs.progress = &progress;
        kept.for_each_group(
            backend, inputs, num_groups, [&](std::ptrdiff_t worker, std::ptrdiff_t index) {
                const std::ptrdiff_t first = index * size, count = std::min(size, lanes - first);
                auto& kept_worker = workers[static_cast<std::size_t>(worker)];
                if (!kept_worker)
                    kept_worker = std::make_unique<Worker>();  // on the thread that works
                auto& [recorder, group, cost] = *kept_worker;
                recorder.begin(inputs, first, count, seeds, target, shared_target(first, index));
                const std::span<LaneOutcome> outcomes = result.report.lanes().subspan(
                    static_cast<std::size_t>(first), static_cast<std::size_t>(count));
                cancel_waiting(outcomes, group.run(inputs, first, outcomes, memory, cost),
                               inputs.times.t0);
            });
        finish(memory);
        guard.done();
    }

  private:
    using Lane = typename Program::Lane;
    static constexpr std::ptrdiff_t num_parameters = Program::parameter_size;
    static constexpr bool adds_blocks = Program::shares_parameters && Program::sums_by_lane;
    /// Up to so many lanes their parts of a shared gradient are kept one by one, at most 4 MiB of
    /// dual numbers, and a group need not be whole blocks: few lanes still make many groups.
    static constexpr std::ptrdiff_t few_lanes = 64 * lanes_per_block;

    template <class Backend>
    [[nodiscard]] static std::ptrdiff_t group_size(std::ptrdiff_t lanes, const Backend& backend) {
        if constexpr (!Program::shares_parameters)
            return lanes_per_group<Program>(lanes, 4 * backend.num_workers(lanes));
        // Beyond 64 parameters the sum runs over groups: they depend on the number of lanes alone.
        const std::ptrdiff_t size = lanes_per_group<Program>(lanes, 16);
        return adds_blocks && lanes > few_lanes ? num_blocks(size) * lanes_per_block : size;
    }
    /// Where the group from lane `first` brings its part of a shared gradient.
    [[nodiscard]] SharedTarget<Lane> shared_target(std::ptrdiff_t first, std::ptrdiff_t group) {
        if (!shared_parts.empty()) return {shared_parts.data() + first * num_parameters, nullptr};
        const std::ptrdiff_t row = adds_blocks ? first / lanes_per_block : group;
        return {nullptr, shared_sums.data() + row * num_parameters};
    }

    GradientTarget<Real> reset(std::ptrdiff_t lanes, std::ptrdiff_t num_groups) {
        result.report.reset(static_cast<std::size_t>(lanes));
        const std::ptrdiff_t rows = Program::shares_parameters ? 1 : lanes;
        reset(result.gradient, lanes, rows);
        if constexpr (Program::is_dual) reset(tangent, lanes, rows);
        if constexpr (Program::shares_parameters) {
            const bool keeps_parts = adds_blocks && lanes <= few_lanes;
            const std::ptrdiff_t sums = adds_blocks ? num_blocks(lanes) : num_groups;
            const auto size_of = [](std::ptrdiff_t n) {
                return static_cast<std::size_t>(n * num_parameters);
            };
            shared_parts.assign(size_of(keeps_parts ? lanes : 0), Lane(0));
            shared_sums.assign(size_of(keeps_parts ? 0 : sums), Lane(0));
        }
        for (auto& worker : workers) {
            if (worker) worker->cost = {};
        }
        GradientTarget<Real> target{result.gradient.y0.view(),
                                    result.gradient.p.view(),
                                    tangent.y0.view(),
                                    tangent.p.view(),
                                    {},
                                    {},
                                    {}};
        if constexpr (with_times) {
            result.gradient.t0.assign(lanes, 1, Real(0));
            result.gradient.t1.assign(lanes, 1, Real(0));
            const auto saves = static_cast<std::ptrdiff_t>(inputs.times.saves.size());
            result.gradient.save_at.assign(lanes, inputs.times.saves_the_end ? 0 : saves, Real(0));
            target.t0 = result.gradient.t0.view();
            target.t1 = result.gradient.t1.view();
            target.save_at = result.gradient.save_at.view();
        }
        return target;
    }
    static void reset(Gradient<Real>& gradient, std::ptrdiff_t lanes, std::ptrdiff_t rows) {
        gradient.y0.assign(lanes, Program::state_size, Real(0));
        gradient.p.assign(rows, Program::parameter_size, Real(0));
    }

    /// The budget, divided among the threads: a quarter of it for logs.
    static GroupMemory memory_of(const SolveOptions& options, std::ptrdiff_t num_workers) {
        using Group = GradientGroup<Program, typename Worker::Recorder, with_times>;
        constexpr std::int64_t most = std::int64_t{1} << 20;
        // Lanes that follow each other in a slot make a longer loop: worth it while its states stay
        // in the second-level cache, and beyond where lanes would wait for longer ones.
        constexpr std::int64_t near_bytes = std::int64_t{1} << 20;
        constexpr std::size_t limit = std::numeric_limits<std::int64_t>::max();
        const auto budget =
            static_cast<std::int64_t>(std::min(options.memory_budget, limit)) / num_workers;
        GroupMemory memory;
        memory.checkpoints =
            options.checkpoints > 0
                ? options.checkpoints
                : std::clamp<std::int64_t>(budget / 4 * 3 / Group::bytes_per_checkpoint, 1, most);
        memory.logged_rows = budget / 4 / Group::bytes_per_logged_row;
        if constexpr (Program::sums_by_lane) {
            memory.refill.far = std::min(memory.checkpoints, memory.logged_rows);
            memory.refill.near =
                std::min(memory.refill.far, near_bytes / Group::bytes_per_checkpoint);
        }
        return memory;
    }

    /// The gradient of a shared parameter.
    [[nodiscard]] Lane shared_sum(std::ptrdiff_t i) const {
        const auto component = [i](const std::vector<Lane>& of, std::ptrdiff_t row) {
            return of[static_cast<std::size_t>(row * num_parameters + i)];
        };
        if (!shared_parts.empty())
            return sum_over_lanes<Lane>(
                static_cast<std::ptrdiff_t>(shared_parts.size()) / num_parameters,
                [&](std::ptrdiff_t lane) { return component(shared_parts, lane); });
        PairwiseSum<Lane> sum;
        const auto rows = static_cast<std::ptrdiff_t>(shared_sums.size()) / num_parameters;
        for (std::ptrdiff_t row = 0; row < rows; ++row) sum.add(component(shared_sums, row));
        return sum.total();
    }

    void finish(const GroupMemory& memory) {
        if constexpr (Program::shares_parameters) {
            for (int i = 0; i < num_parameters; ++i) {
                const Lane sum = shared_sum(i);
                result.gradient.p(0, i) = primal(sum);
                if constexpr (Program::is_dual) tangent.p(0, i) = sum.tangent;
            }
        }
        GradientReport& report = result.report;
        report.counters = {};
        report.bytes_kept = report.evaluations_back = 0;
        for (const auto& worker : workers) {
            if (!worker) continue;
            add(report.counters, worker->cost.loops);
            report.evaluations_back += worker->cost.evaluations;
            report.bytes_kept += worker->group.num_bytes();
        }
        report.checkpoints = memory.checkpoints;
    }
};

/// Views of the data at each save point, checked: `columns` wide, a row per lane or one for all.
template <class Real, class Arrays>
void collect_arrays(std::vector<EnsembleView<const Real>>& views, const Arrays& arrays,
                    std::size_t num_saves, std::ptrdiff_t lanes, std::ptrdiff_t columns,
                    const char* name, const char* where) {
    views.clear();
    if constexpr (is_list_of_arrays<Arrays>) {
        for (const auto& array : arrays) views.push_back(ensemble_view(array));
    } else {
        views.push_back(ensemble_view(arrays));
    }
    require_argument(views.size() == num_saves, [&] {
        return std::string(where) + ": " + name + " for " + std::to_string(views.size()) +
               " save points, but there are " + std::to_string(num_saves) +
               "; give a std::vector with one array for each";
    });
    for (const auto& view : views) {
        require_shape(array_shape(view), {view.num_lanes == 1 ? 1 : lanes, columns}, name, where);
        require_finite(view, name, where);
    }
}

template <class Real>
void finish_loss(Loss<Real>& loss, const Outcomes& outcomes) {
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        if (is_failure(outcomes.result(lane)))
            loss.of_lane[static_cast<std::size_t>(lane)] = std::numeric_limits<Real>::quiet_NaN();
    }
    loss.total = sum_over_lanes<double>(outcomes.num_lanes(), [&](std::ptrdiff_t lane) {
        return is_failure(outcomes.result(lane))
                   ? 0.
                   : static_cast<double>(loss.of_lane[static_cast<std::size_t>(lane)]);
    });
}

}  // namespace eddy::detail
