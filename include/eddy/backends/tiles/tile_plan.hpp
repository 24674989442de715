#pragma once
// What a tile keeps of a round for its way back, and the state that its loop moves.
// Test: tests/backends/tiles_memory.cpp

#include <eddy/backends/rows/round_plan.hpp>
#include <eddy/backends/tiles/tile_log.hpp>
#include <eddy/backends/tiles/tile_step.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
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
    plan_rounds_of_tile(plan, options, budget, rounds_of_lane,
                        {Room::logged_bytes, Room::kept_bytes}, Room::bytes_of_slot);
}

}  // namespace eddy::inline v0::detail
