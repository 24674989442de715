#pragma once
// The CPU: lanes in SIMD packs, groups of lanes over threads, eddy's own or the caller's. Which thread works on a group depends
// on chance; what comes out does not.
// Test: tests/backends/backends.cpp

#include <cstddef>
#include <eddy/backends/cpu/executor.hpp>
#include <eddy/backends/cpu/thread_work.hpp>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/core/pack.hpp>
#include <type_traits>

namespace eddy::inline v0 {

namespace detail {

/// A native vector of `Real`; where that cannot be compiled, one sentence and a plain number.
template <class Real>
struct LanesOfCpu {
    static_assert(!compiled_by_nvcc || sizeof(Real) == 0,
                  "eddy::Cpu: nvcc compiles no vector types; call it from a source that the host's "
                  "compiler compiles (.cpp), or give Serial{} here");
    using type = std::conditional_t<compiled_by_nvcc, Real, Pack<Real, native_lanes<Real>>>;
};

}  // namespace detail

/// The default backend: SIMD packs of trajectories, and groups of packs over threads.
struct Cpu {
    struct backend_tag {};
    /// Steps of explicit methods carry the derivatives of `sensitivities` along.
    static constexpr bool carries_tangents = true;

    int threads = 0;  ///< number of threads; 0: as many as this process may run at once
    /// Your own threads for calls with more than one group; `threads` says how many there are. eddy
    /// then starts none.
    Executor executor{};

    /// The type of number that lanes of `Real` are computed in: one native vector. Wider packs run
    /// out of registers.
    template <class Real>
    using Lanes = typename detail::LanesOfCpu<Real>::type;

    void require_valid(const char* where) const { detail::require_threads(threads, "Cpu", where); }

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        return detail::workers_of_threads(threads, num_groups);
    }

    using Memory = HostMemory;
    [[nodiscard]] static HostMemory memory() { return {}; }

    template <class Spec>
    using Team = detail::ThreadTeamFor<Spec>;

    /// What a solver object keeps for its calls.
    struct Kept {
        KeptThreads threads;
        detail::ThreadWorkers workers;
    };

    [[nodiscard]] detail::StoresOfThreads stores(const detail::GradientPlan& plan,
                                                 std::ptrdiff_t num_workers, Kept& kept) const {
        return kept.workers.stores(plan, num_workers);
    }
    /// Runs the groups of a plan. Which thread takes a group depends on chance: see kept_threads.hpp.
    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, detail::CallLink& call,
                Kept& kept) const {
        const detail::ThreadWork<Kernel> work{plan,
                                              kernel,
                                              {&call, executor ? nullptr : &kept.threads},
                                              kept.workers.at_least(plan.num_workers)};
        if (executor && plan.num_workers > 1)
            executor.for_each_group(plan.num_groups(), plan.num_workers, detail::GroupCall(work));
        else
            kept.threads.for_each_group(plan.num_groups(), plan.num_workers, work);
    }
};

}  // namespace eddy::inline v0
