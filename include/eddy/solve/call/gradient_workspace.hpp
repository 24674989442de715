#pragma once
// What a gradient works with, kept from call to call: the division of lanes and memory among workers,
// results and sums over lanes, and the caller's data, checked.

#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/gradient_kernel.hpp>
#include <type_traits>
#include <vector>

namespace eddy::detail {

template <class Spec, class Objective, class Seeds, bool with_times>
struct GradientWorkspace {
    using Real = typename Spec::Scalar;
    PreparedProblem<Spec> prepared;
    std::vector<EnsembleView<const Real>> arrays;  // (save point) data or cotangents
    Seeds seeds;
    ValueAndGradient<Real> result;
    Gradient<Real> tangent;  // of a dual number
    // Of shared parameters: (lane, component) where lanes are few; else (block, component), or
    // (group, component) beyond 64 parameters, so that memory does not grow with lanes as theirs.
    std::vector<typename Spec::Lane> shared_parts, shared_sums;
    std::vector<BackCost> costs;  // (worker)

    template <class Backend>
    void run(const SolveOptions& options, const Backend& backend, typename Backend::Kept& kept,
             const Cancellation& cancelled, const char* title) {
        require_valid(backend, title);
        using Team = typename Backend::template Team<Spec>;
        EmptyUnlessDone guard(result);
        const std::ptrdiff_t lanes = prepared.num_lanes();
        const LaunchPlan groups = plan_launch(backend, lanes, group_size<Team>(lanes, backend));
        const GradientTarget<Real> target = reset(lanes, groups.num_groups());
        costs.assign(static_cast<std::size_t>(groups.num_workers), {});
        const GradientPlan plan = plan_gradient<Spec, Team>(options, prepared.problem.times,
                                                            groups.group_size, groups.num_workers);
        const auto stores = backend.stores(plan, groups.num_workers, kept);
        using Kernel = GradientKernel<Spec, Objective, Seeds, std::remove_const_t<decltype(stores)>,
                                      with_times>;
        launch(groups,
               Kernel{prepared.problem, result.report.lanes().data(), seeds, target, shared_rows(),
                      plan, stores, costs.data()},
               backend, kept, options, cancelled, title);
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

    template <class Team, class Backend>
    [[nodiscard]] static std::ptrdiff_t group_size(std::ptrdiff_t lanes, const Backend& backend) {
        if constexpr (!Spec::shares_parameters)
            return lanes_per_group<Spec, Team>(lanes, 4 * backend.num_workers(lanes));
        // Beyond 64 parameters the sum runs over groups: they depend on the number of lanes alone.
        const std::ptrdiff_t size = lanes_per_group<Spec, Team>(lanes, 16);
        return adds_blocks && lanes > few_lanes ? num_blocks(size) * lanes_per_block : size;
    }
    [[nodiscard]] SharedRows<Spec> shared_rows() {
        if constexpr (!Spec::shares_parameters) return {};
        if (!shared_parts.empty()) return {shared_parts.data(), nullptr};
        return {nullptr, shared_sums.data()};
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
        for (const BackCost& cost : costs) {
            add(report.counters, cost.loops);
            report.evaluations_back += cost.evaluations;
            report.bytes_kept += cost.most_bytes;
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
