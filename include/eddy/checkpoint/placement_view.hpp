#pragma once
// The stores of an online placement as a plain value, for loops that may not allocate: the staircase,
// then a table that somebody has made, then no more. Decides what PlacementSequence decides, as far as
// its table goes; a loop that goes further keeps no more states and takes longer to reverse.

#include <eddy/checkpoint/schedule.hpp>
#include <eddy/checkpoint/staircase.hpp>

namespace eddy {

class PlacementView {
  public:
    /// Some stores in order.
    struct Piece {
        const Placed* first;
        const Placed* last;
        [[nodiscard]] EDDY_HD const Placed* begin() const { return first; }
        [[nodiscard]] EDDY_HD const Placed* end() const { return last; }
    };

    /// `table`: the `num_placed` stores after the staircase for as many checkpoints.
    EDDY_HD explicit PlacementView(std::int64_t checkpoints, const Placed* table = nullptr,
                                   std::int64_t num_placed = 0)
        : checkpoints_(checkpoints), table_(table), num_placed_(num_placed) {}

    EDDY_HD void restart() {
        staircase_ = Staircase(checkpoints_);
        climbs_ = true;
    }
    /// The next stores; none where there are no more.
    [[nodiscard]] EDDY_HD Piece next_piece() {
        if (climbs_) {
            next_ = staircase_.next();
            climbs_ = !(next_ == nothing_more());
            if (climbs_) return {&next_, &next_ + 1};
            return {table_, table_ + num_placed_};
        }
        return {table_, table_};
    }
    /// As PlacementSequence::split.
    [[nodiscard]] EDDY_HD std::int64_t split(std::int64_t length, std::int64_t free_slots) const {
        return schedule::split(length, free_slots + 1);
    }

  private:
    std::int64_t checkpoints_;
    const Placed* table_;
    std::int64_t num_placed_;
    Staircase staircase_{1};
    Placed next_{0, 0};
    bool climbs_ = true;
};

}  // namespace eddy
