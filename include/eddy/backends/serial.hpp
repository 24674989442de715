#pragma once
// The reference backend: one lane at a time, in plain numbers, on the calling thread. Short,
// obvious, never tuned: what every other backend is tested against.

#include <cstddef>
#include <eddy/backends/cpu/thread_work.hpp>

namespace eddy {

struct Serial {
    struct backend_tag {};

    /// The type of number that lanes of `Real` are computed in.
    template <class Real>
    using Lanes = Real;

    template <class Spec>
    using Team = detail::ThreadTeamFor<Spec>;
    using Kept = detail::ThreadWorkers;

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t) const { return 1; }

    [[nodiscard]] detail::StoresOfThreads stores(const detail::GradientPlan& plan,
                                                 std::ptrdiff_t num_workers, Kept& kept) const {
        return kept.stores(plan, num_workers);
    }
    /// Groups in order, on the calling thread.
    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, const detail::CallLink& call,
                Kept& kept) const {
        const detail::ThreadWork<Kernel> work{plan, kernel, {&call}, kept.at_least(1)};
        for (std::ptrdiff_t group = 0; group < plan.num_groups(); ++group) work(0, group);
    }
};

}  // namespace eddy
