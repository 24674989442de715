#pragma once
// From a budget of bytes to what a worker keeps of the rounds of a tile: half of it for what the way back
// takes of their stages, at most as much as caches hold, a quarter for the log of their steps, a quarter for
// states of the checkpointed loop. What a tile works in, however many rounds there are, comes on top.
// Test: tests/backends/tiles_memory.cpp

#include <eddy/backends/tiles/tile_log.hpp>
#include <eddy/backends/tiles/tile_step.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Numbers as aligned as a vector of them, but no vector: nvcc compiles none in what it takes for device code.
template <class Real>
struct alignas(TilePack<Real>) AlignedReals {
    Real number[native_lanes<Real>];
};

/// The states of a tile's lanes, (component, lane), and, behind the end of the log, their clocks, (lane).
template <class Spec>
struct TileState {
    using Real = typename Spec::Scalar;
    std::vector<AlignedReals<Real>> vectors;
    std::vector<LaneClock<Spec>> clocks;

    [[nodiscard]] Real* y() { return reinterpret_cast<Real*>(vectors.data()); }
    [[nodiscard]] const Real* y() const { return reinterpret_cast<const Real*>(vectors.data()); }

    [[nodiscard]] static std::int64_t num_bytes(int width, std::size_t num_clocks) {
        return static_cast<std::int64_t>(sizeof(Real)) * Spec::state_size * width +
               static_cast<std::int64_t>(num_clocks * sizeof(LaneClock<Spec>));
    }
};

/// What a round takes of a worker's memory, of tiles that are full.
template <class Spec>
struct TileRoom {
    using Real = typename Spec::Scalar;
    using Stepper = TileRungeKutta<typename Spec::Field, typename Spec::Method, Real>;
    static constexpr int most_lanes = tile_lanes<Spec, true>;
    /// Rows that the stages of a round leave for the way back.
    static constexpr std::int64_t kept_rows =
        std::int64_t{Stepper::num_dense_stages} * Stepper::rows_per_stage;
    static constexpr std::int64_t logged_bytes = most_lanes * std::int64_t{sizeof(LoggedStep)};
    /// Bytes of a round that is kept, with its row of the log and a number for each vector of lanes that says which it is.
    static constexpr std::int64_t kept_bytes =
        kept_rows * most_lanes * std::int64_t{sizeof(Real)} + logged_bytes +
        most_lanes / native_lanes<Real> * std::int64_t{sizeof(std::int64_t)};
    /// More than the caches hold is written and read more slowly than it is computed again.
    static constexpr std::int64_t most_kept_bytes = std::int64_t{16} << 20;

    /// A slot of the loop, its links and lists at their largest, while they move, and its state.
    [[nodiscard]] static std::int64_t bytes_of_slot(bool with_clocks) {
        using Store = MemoryStore<TileState<Spec>>;
        constexpr std::int64_t of_lists =
            3 * (Store::bytes_of_slot + CheckpointStack::bytes_of_slot);
        return of_lists +
               TileState<Spec>::num_bytes(most_lanes, with_clocks ? std::size_t{most_lanes} : 0);
    }
};

/// `plan.slots` are the rounds whose stages are kept.
template <class Spec>
void plan_tiles(GradientPlan& plan, const SolveOptions& options, const WorkerBudget& budget,
                std::int64_t rounds_of_lane) {
    using Room = TileRoom<Spec>;
    constexpr std::int64_t most = std::int64_t{1} << 20;
    rounds_of_lane = std::max<std::int64_t>(rounds_of_lane, 1);
    plan.slots = std::clamp<std::int64_t>(
        std::min(budget.bytes / 2, Room::most_kept_bytes) / Room::kept_bytes, 1, rounds_of_lane);
    plan.logged_rounds = std::min(budget.bytes / 4 / Room::logged_bytes, rounds_of_lane);
    const std::int64_t of_slot = Room::bytes_of_slot(plan.logged_rounds < rounds_of_lane);
    plan.checkpoints =
        options.checkpoints > 0
            ? std::min(options.checkpoints, std::max(most, budget.available / of_slot))
            : std::clamp<std::int64_t>(budget.bytes / 4 / of_slot, 1,
                                       std::min(most, rounds_of_lane + 1));
}

}  // namespace eddy::inline v0::detail
