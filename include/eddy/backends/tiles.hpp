#pragma once
// The CPU, for wide equations: lanes in tiles, groups of lanes over threads, by the loop over rows that the library
// compiled once. A layer is one operation on a block of numbers, (component, lane), so that what a compiler has to
// do grows with the widths of neither layers nor states (docs/design/rows.md).
// Test: tests/backends/tiles.cpp

#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/tiles/tile_launch.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/call/backend.hpp>

namespace eddy::inline v0 {

/// A backend for wide equations, such as neural networks: explicit Runge–Kutta methods with
/// tableaus, in `solve`, `value_and_gradient` and `pullback`.
/// Each trajectory has its own steps, and the bits of any other backend if the functions of its
/// equation have them. With JointController all trajectories of a call share their steps.
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
        detail::TileMemory memory;
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
            detail::launch_tiles(plan, kernel, {&call, &kept.threads}, kept.memory);
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
