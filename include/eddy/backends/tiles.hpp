#pragma once
// The CPU, for wide equations: lanes in tiles, groups of lanes over threads. A vector of the equation is
// one operation on a block of numbers, (component, lane), so that neither the program nor what a compiler
// has to do with it grows with the widths of layers and states. docs/design/tiles.md says when that pays.
// Test: tests/backends/tiles.cpp

#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/tiles/joint_launch.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/call/backend.hpp>

namespace eddy::inline v0 {

/// A backend for wide equations, such as neural networks: explicit Runge–Kutta methods with
/// tableaus, in `solve`, `value_and_gradient` and `pullback`.
/// Each trajectory has its own steps, and the bits of any other backend if the functions of its
/// equation have them. With JointController all trajectories of a call share their steps.
/// Trajectories with unreliable gradients are not solved again (`stable_gradients`).
struct Tiles {
    struct backend_tag {};

    static constexpr auto machine = detail::Machine::tiles;

    int threads = 0;  ///< number of threads; 0: as many as this process may run at once

    /// The type of number that a single lane is seen in, where it is seen alone.
    template <class Real>
    using Lanes = Real;

    void require_valid(const char* where) const {
        detail::require_threads(threads, "Tiles", where);
    }
    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        return detail::workers_of_threads(threads, num_groups);
    }

    using Memory = HostMemory;
    /// One bad sample of a batch does not end a training.
    [[nodiscard]] static HostMemory memory() { return {.leaves_out_lanes = true}; }

    template <class Spec>
    struct TeamOf {
        using type = detail::TileTeam<Spec>;
    };
    template <class Spec>
    using Team = typename TeamOf<Spec>::type;

    /// What a solver object keeps for its calls; a copy begins empty.
    struct Kept {
        KeptThreads threads;
        std::vector<detail::TileWorker> workers;

        Kept() = default;
        Kept(const Kept&) noexcept {}
        Kept(Kept&&) noexcept = default;
        Kept& operator=(Kept other) noexcept {
            threads = std::move(other.threads);
            workers = std::move(other.workers);
            return *this;
        }
        ~Kept() = default;
    };

    /// The rounds of a tile have a loop of their own.
    struct NoStores {};
    [[nodiscard]] NoStores stores(const detail::GradientPlan&, std::ptrdiff_t, Kept&) const {
        return {};
    }
    /// Runs the groups of a plan. Which thread takes a group depends on chance: see kept_threads.hpp.
    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, detail::CallLink& call,
                Kept& kept) const {
        if constexpr (check_kernel<Kernel>()) {
            const auto workers = static_cast<std::size_t>(plan.num_workers);
            if (kept.workers.size() < workers) kept.workers.resize(workers);
            const detail::ThreadLink link{&call, &kept.threads};
            if constexpr (detail::steps_jointly<typename Kernel::Spec::Controller>)
                detail::launch_jointly(plan, kernel, link, kept.workers);
            else
                detail::run_tiles(plan, kernel, link, kept.workers);
        }
    }

  private:
    template <class Kernel>
    static consteval bool check_kernel() {
        static_assert(!compiled_by_nvcc || sizeof(Kernel) == 0,
                      "eddy::Tiles: nvcc compiles no vector types; call it from a source that the "
                      "host's compiler compiles (.cpp)");
        return !compiled_by_nvcc && requires { typename Kernel::Spec::Method; };
    }
};

template <>
struct Tiles::TeamOf<detail::AnySpec> {
    using type = detail::ThreadTeam<1>;
};

}  // namespace eddy::inline v0
