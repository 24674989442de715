#pragma once
// The reference backend: one lane after another, in plain numbers, on the calling thread. It has a text
// of its own, which shares with what it judges the steps of methods, controllers, error norms, the sizes of first
// steps, starts and recorders:
// serial/lane_solve.hpp says what a solve is, serial/lane_gradient.hpp what its gradient is. Obvious,
// never tuned: what every other backend is tested against. It keeps every accepted step for
// the way back, whatever the budget and the number of checkpoints.
// Test: tests/solve/oracle.cpp, tests/solve/reference.cpp

#include <cstddef>
#include <eddy/backends/cpu/thread_team.hpp>
#include <eddy/backends/serial/solve_lanes.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/kernel.hpp>

namespace eddy::inline v0 {

namespace detail {
struct GradientPlan;  // solve/group/gradient_memory.hpp
}

/// The reference backend: one trajectory at a time in plain numbers, on the calling thread.
struct Serial {
    struct backend_tag {};
    /// Steps of explicit methods carry the derivatives of `sensitivities` along.
    static constexpr bool carries_tangents = true;

    /// The type of number that lanes of `Real` are computed in.
    template <class Real>
    using Lanes = Real;

    using Memory = HostMemory;
    [[nodiscard]] static HostMemory memory() { return {}; }

    /// The team, for plans only: no team steps.
    template <class Spec>
    using Team = detail::ThreadTeamFor<Spec>;
    using Kept = detail::Workspace;

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t) const { return 1; }

    /// No placement: all steps are kept.
    struct NoStores {};
    [[nodiscard]] NoStores stores(const detail::GradientPlan&, std::ptrdiff_t, Kept&) const {
        return {};
    }
    /// Solves the trajectories in order.
    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, detail::CallLink& call,
                Kept& kept) const {
        using Spec = typename Kernel::Spec;
        auto& memory = kept.template get<detail::LanesMemory<Spec>>();
        for (std::ptrdiff_t group = 0; group < plan.num_groups(); ++group) {
            const detail::LaneRange lanes{plan.first_lane(group), plan.lanes_of(group)};
            if constexpr (detail::is_gradient<Kernel>)
                detail::differentiate_lanes(kernel, lanes, call, memory);
            else
                detail::solve_lanes(kernel, lanes, call);
        }
    }
};

}  // namespace eddy::inline v0
