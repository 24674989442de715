#pragma once
// What a gradient works with, kept from call to call: a worker for each thread, the division of
// lanes and memory among them, and the caller's data, checked.

#include <eddy/checkpoint/placement.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/group_gradient.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <memory>
#include <optional>

namespace eddy::detail {

/// The stores of an online placement, for the sweeps of a group. Where there is no memory for more of
/// its table, no more states are kept: the way back takes longer.
class GroupStores {
  public:
    explicit GroupStores(std::int64_t checkpoints)
        : sequence_(plan_placement({.checkpoints = checkpoints}, "value_and_gradient")) {}

    [[nodiscard]] std::int64_t checkpoints() const { return sequence_.plan().slots; }
    void restart() { sequence_.restart(); }
    [[nodiscard]] std::span<const Placed> next_piece() {
        try {
            return sequence_.next_piece();
        } catch (const std::bad_alloc&) {
            return {};
        }
    }
    [[nodiscard]] std::int64_t split(std::int64_t length, std::int64_t free_slots) const {
        return sequence_.split(length, free_slots);
    }

  private:
    PlacementSequence sequence_;
};

/// What one thread works with.
struct GradientWorker {
    ArenaMemory memory;
    std::optional<GroupStores> stores;
    BackCost cost;
};

template <class Spec, class Objective, class Seeds, bool with_times>
struct GradientWorkspace {
    using Real = typename Spec::Scalar;
    using Team = ThreadTeamFor<Spec>;
    using Recorder = GradientRecorder<Spec, Objective, Seeds>;
    using Group = GroupGradient<Spec, Team, Recorder, GroupStores, with_times>;

    PreparedProblem<Spec> prepared;
    std::vector<EnsembleView<const Real>> arrays;  // (save point) data or cotangents
    Seeds seeds;
    ValueAndGradient<Real> result;
    Gradient<Real> tangent;  // of a dual number
    // Of shared parameters: (lane, component) where lanes are few; else (block, component), or
    // (group, component) beyond 64 parameters, so that memory does not grow with lanes as theirs.
    std::vector<typename Spec::Lane> shared_parts, shared_sums;
    std::vector<GradientWorker> workers;

    template <class Backend>
    void run(const SolveOptions& options, const Backend& backend, KeptBy<Backend>& kept,
             const std::stop_token& cancelled, const char* title) {
        require_valid(backend, title);
        const std::ptrdiff_t lanes = prepared.num_lanes();
        EmptyUnlessDone guard(result);
        const GroupShares shares{lanes, group_size(lanes, backend)};
        const std::ptrdiff_t num_workers = backend.num_workers(shares.num_groups());
        if (static_cast<std::ptrdiff_t>(workers.size()) < num_workers)
            workers.resize(static_cast<std::size_t>(num_workers));
        const GradientTarget<Real> target = reset(lanes, shares.num_groups());
        const GradientPlan plan = plan_gradient<Spec, Team>(options, prepared.problem.times,
                                                            shares.group_size, num_workers);
        launch(shares, backend, kept, options.progress, cancelled, title,
               [&](const CallLink& link, std::ptrdiff_t worker, std::ptrdiff_t group) {
                   Team team(link, group * shares.group_size, shares.lanes_of(group));
                   run_group(team, plan, target, shared_target(team.first_lane(), group),
                             workers[static_cast<std::size_t>(worker)]);
               });
        finish(plan);
        guard.done();
    }

  private:
    using Lane = typename Spec::Lane;
    static constexpr std::ptrdiff_t num_parameters = Spec::parameter_size;
    static constexpr bool adds_blocks = Spec::shares_parameters && Spec::sums_by_lane;
    /// Up to so many lanes their parts of a shared gradient are kept one by one, at most 4 MiB of
    /// dual numbers, and a group need not be whole blocks: few lanes still make many groups.
    static constexpr std::ptrdiff_t few_lanes = 64 * lanes_per_block;

    template <class Backend>
    [[nodiscard]] static std::ptrdiff_t group_size(std::ptrdiff_t lanes, const Backend& backend) {
        if constexpr (!Spec::shares_parameters)
            return lanes_per_group<Spec, Team>(lanes, 4 * backend.num_workers(lanes));
        // Beyond 64 parameters the sum runs over groups: they depend on the number of lanes alone.
        const std::ptrdiff_t size = lanes_per_group<Spec, Team>(lanes, 16);
        return adds_blocks && lanes > few_lanes ? num_blocks(size) * lanes_per_block : size;
    }
    /// Where the group from lane `first` brings its part of a shared gradient.
    [[nodiscard]] SharedTarget<Lane> shared_target(std::ptrdiff_t first, std::ptrdiff_t group) {
        if (!shared_parts.empty()) return {shared_parts.data() + first * num_parameters, nullptr};
        const std::ptrdiff_t row = adds_blocks ? first / lanes_per_block : group;
        return {nullptr, shared_sums.data() + row * num_parameters};
    }

    void run_group(Team& team, const GradientPlan& plan, const GradientTarget<Real>& target,
                   const SharedTarget<Lane>& shared, GradientWorker& worker) {
        const LaneTimes& times = prepared.problem.times;
        const auto lay_out = [&](Arena& arena) {
            return std::pair{GradientMemory<Spec, Team>(arena, plan, team.member()),
                             RecorderMemory<Spec>(arena, plan.num_lanes, times.num_saves)};
        };
        Arena counting;
        static_cast<void>(lay_out(counting));
        Arena arena = worker.memory.arena(counting.num_bytes());
        auto [memory, of_recorder] = lay_out(arena);
        if (!worker.stores || worker.stores->checkpoints() != plan.checkpoints)
            worker.stores.emplace(plan.checkpoints);
        const auto outcomes =
            result.report.lanes().subspan(static_cast<std::size_t>(team.first_lane()),
                                          static_cast<std::size_t>(team.num_lanes()));
        memory.forward.outcomes = outcomes.data();
        Recorder recorder(prepared.problem, team.first_lane(), team.num_lanes(), seeds, target,
                          shared, of_recorder);
        Group(team, prepared.problem, memory, recorder, *worker.stores).run(worker.cost);
        cancel_waiting(outcomes, team.num_taken(), times.t0);
    }

    GradientTarget<Real> reset(std::ptrdiff_t lanes, std::ptrdiff_t num_groups) {
        result.report.reset(static_cast<std::size_t>(lanes));
        const std::ptrdiff_t rows = Spec::shares_parameters ? 1 : lanes;
        reset(result.gradient, lanes, rows);
        if constexpr (Spec::is_dual) reset(tangent, lanes, rows);
        if constexpr (Spec::shares_parameters) {
            const bool keeps_parts = adds_blocks && lanes <= few_lanes;
            const std::ptrdiff_t sums = adds_blocks ? num_blocks(lanes) : num_groups;
            const auto size_of = [](std::ptrdiff_t n) {
                return static_cast<std::size_t>(n * num_parameters);
            };
            shared_parts.assign(size_of(keeps_parts ? lanes : 0), Lane(0));
            shared_sums.assign(size_of(keeps_parts ? 0 : sums), Lane(0));
        }
        for (GradientWorker& worker : workers) worker.cost = {};
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
            const auto saves = static_cast<std::ptrdiff_t>(prepared.times().saves.size());
            result.gradient.save_at.assign(lanes, prepared.times().saves_the_end ? 0 : saves,
                                           Real(0));
            target.t0 = result.gradient.t0.view();
            target.t1 = result.gradient.t1.view();
            target.save_at = result.gradient.save_at.view();
        }
        return target;
    }
    static void reset(Gradient<Real>& gradient, std::ptrdiff_t lanes, std::ptrdiff_t rows) {
        gradient.y0.assign(lanes, Spec::state_size, Real(0));
        gradient.p.assign(rows, Spec::parameter_size, Real(0));
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

    void finish(const GradientPlan& plan) {
        if constexpr (Spec::shares_parameters) {
            for (int i = 0; i < num_parameters; ++i) {
                const Lane sum = shared_sum(i);
                result.gradient.p(0, i) = primal(sum);
                if constexpr (Spec::is_dual) tangent.p(0, i) = sum.tangent;
            }
        }
        GradientReport& report = result.report;
        report.counters = {};
        report.bytes_kept = report.evaluations_back = 0;
        for (const GradientWorker& worker : workers) {
            add(report.counters, worker.cost.loops);
            report.evaluations_back += worker.cost.evaluations;
            report.bytes_kept += worker.cost.most_bytes;
        }
        report.checkpoints = plan.checkpoints;
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
    require_argument(views.size() == num_saves,
                     "{}: {} for {} save points, but there are {}; give a std::vector with one "
                     "array for each",
                     where, name, views.size(), num_saves);
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
