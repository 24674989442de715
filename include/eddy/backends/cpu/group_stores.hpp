#pragma once
// The stores of an online placement for the sweeps of a group: see checkpoint/sweeps.hpp. Where there
// is no memory for more of its table, no more states are kept: the way back takes longer.
// Test: tests/solve/checkpoints.cpp, tests/solve/gradient_plan.cpp

#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/export.hpp>
#include <optional>
#include <span>

namespace eddy::inline v0::detail {

class EDDY_EXPORT GroupStores {
  public:
    /// The table is made when a group begins that needs it, by the thread that works on it.
    void plan(std::int64_t checkpoints) {
        if (checkpoints != checkpoints_) sequence_.reset();
        checkpoints_ = checkpoints;
    }
    void restart();
    [[nodiscard]] std::span<const Placed> next_piece();
    [[nodiscard]] std::int64_t split(std::int64_t length, std::int64_t free_slots) const;

  private:
    std::int64_t checkpoints_ = 0;
    std::optional<PlacementSequence> sequence_;
};

}  // namespace eddy::inline v0::detail
