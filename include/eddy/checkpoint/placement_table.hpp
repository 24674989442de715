#pragma once
// The stores of an online placement behind its staircase, generated once per number of checkpoints
// and shared by every loop of the process. They depend on (checkpoints, step) only. Reading what is
// there takes no lock; what is not there yet is generated under one, in batches, into blocks that
// never move. Memory: 16 bytes a store, and 24 or 40 a checkpoint, from the first store on. A table
// lives as long as a loop uses it; of those for few checkpoints the latest are kept for later loops.
// Test: tests/checkpoint/placement_table.cpp

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/placed.hpp>
#include <memory>
#include <mutex>
#include <span>

namespace eddy::inline v0 {

/// The table of one placement for one number of checkpoints. Safe to use from many threads at once.
template <class Generator>
class PlacementTable {
  public:
    explicit PlacementTable(std::int64_t checkpoints);
    PlacementTable(const PlacementTable&) = delete;
    PlacementTable& operator=(const PlacementTable&) = delete;
    ~PlacementTable();

    /// The table that all loops with `checkpoints` slots share, 2 at least; empty at first.
    [[nodiscard]] static std::shared_ptr<PlacementTable> shared(std::int64_t checkpoints);

    /// The stores from number `index` on, the first behind the staircase being number 0; at least
    /// one, and as many as are there in one piece. Generates them if need be. Where memory for that
    /// is wanting the table stays as it was.
    [[nodiscard]] std::span<const Placed> from(std::int64_t index);

    /// Generates what a loop of `steps` steps reads, so that running one allocates and generates
    /// nothing.
    void generate_to(std::int64_t steps);

  private:
    static constexpr std::int64_t first_block = 1024;  // entries; block k has first_block << k

    struct Address {
        std::size_t block;
        std::size_t offset;
    };
    [[nodiscard]] static Address address(std::int64_t index);
    void append_locked();

    std::int64_t staircase_end_;
    std::unique_ptr<std::int64_t[]> workspace_;  // not touched before the first store
    Generator generator_;
    std::atomic<std::int64_t> last_step_{-1};  // of the stores generated so far
    std::atomic<std::int64_t> published_{0};
    std::array<std::atomic<Placed*>, 40> blocks_{};
    std::mutex growing_;
};

extern template class PlacementTable<CostGreedy>;
extern template class PlacementTable<OnlineTreeverse>;

}  // namespace eddy::inline v0
