#pragma once
// The stores of an online placement as a plain value, for loops that may not allocate: the staircase,
// then a table that somebody has made, then no more. Decides what PlacementSequence decides, as far as
// its table goes; a loop that goes further keeps no more states and takes longer to reverse.
// Test: tests/checkpoint/placement_view.cpp

#include <eddy/core/schedule.hpp>
#include <eddy/core/staircase.hpp>

namespace eddy::inline v0 {

class PlacementView {
  public:
    struct End {};
    /// Where the view is. It holds no position of its own: what moves on is the view, which lies in
    /// memory, so that a loop has no registers to keep for it.
    struct Iterator {
        PlacementView* view;
        [[nodiscard]] EDDY_HD const Placed* operator->() const { return &view->next_; }
        EDDY_HD Iterator& operator++() {
            view->move_on();
            return *this;
        }
        [[nodiscard]] EDDY_HD bool operator==(End) const {
            return view->next_.step == schedule::unbounded;
        }
    };
    /// All stores from where the view is.
    struct Piece {
        PlacementView* view;
        [[nodiscard]] EDDY_HD Iterator begin() const { return {view}; }
        [[nodiscard]] EDDY_HD static End end() { return {}; }
    };

    /// `table`: the `num_placed` stores after the staircase for as many checkpoints.
    EDDY_HD explicit PlacementView(std::int64_t checkpoints, const Placed* table = nullptr,
                                   std::int64_t num_placed = 0)
        : checkpoints_(checkpoints), table_(table), num_placed_(num_placed) {}

    [[gnu::noinline]] EDDY_HD void restart() {
        staircase_ = Staircase(checkpoints_);
        staircase_.pass_first_window();
        climbs_ = true;
        in_table_ = 0;
        next_ = {0, 0};
    }
    /// The stores that are left.
    [[nodiscard]] EDDY_HD Piece next_piece() { return {this}; }
    /// As PlacementSequence::split.
    [[nodiscard, gnu::noinline]] EDDY_HD std::int64_t split(std::int64_t length,
                                                            std::int64_t free_slots) const {
        return schedule::split(length, free_slots + 1);
    }

  private:
    /// As many steps as there are slots come first, each in the slot of its number.
    EDDY_INLINE EDDY_HD void move_on() {
        if (next_.step + 1 < checkpoints_) [[likely]] {
            next_.slot = ++next_.step;
        } else {
            climb();
        }
    }
    [[gnu::noinline]] EDDY_HD void climb() {
        if (climbs_) {
            next_ = staircase_.next();
            climbs_ = next_.step != schedule::unbounded;
        }
        if (!climbs_) next_ = in_table_ < num_placed_ ? table_[in_table_++] : nothing_more();
    }

    std::int64_t checkpoints_;
    const Placed* table_;
    std::int64_t num_placed_;
    std::int64_t in_table_ = 0;
    Staircase staircase_{1};
    Placed next_ = nothing_more();
    bool climbs_ = true;
};

}  // namespace eddy::inline v0
