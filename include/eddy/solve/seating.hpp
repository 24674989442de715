#pragma once
// Which lane sits in which slot of a group, at every row of its loop. A row is one attempted step
// of all slots; between two rows a lane may end, another may take its slot, or a lane may go on to
// its next stop. All changes are kept, so that the way back, and every recomputation, finds the
// slots as they were: `seek` applies or takes back what lies between two rows.

#include <cstdint>
#include <vector>

namespace eddy::detail {

inline constexpr std::int32_t no_lane = -1;

/// Who sits in a slot, and the index of the stop that its steps head for.
struct Seat {
    std::int32_t lane = no_lane;  // within the group
    std::int32_t stop = 0;

    friend bool operator==(const Seat&, const Seat&) = default;
};

/// Between `row` and the next one, a slot changes.
struct SeatChange {
    std::int64_t row;
    std::int32_t slot;
    Seat from, to;

    [[nodiscard]] bool seats_a_lane() const { return to.lane != no_lane && to.lane != from.lane; }
};

/// Until which row an empty slot takes another lane: `near` in general, `far` where lanes are so
/// uneven that slots would long stay empty.
struct RefillLimits {
    std::int64_t near = 0;
    std::int64_t far = 0;

    friend bool operator==(const RefillLimits&, const RefillLimits&) = default;
};

/// The changes of a run in order, and a cursor between them.
class Seating {
  public:
    void clear() {
        changes_.clear();
        cursor_ = 0;
    }

    /// Appends a change during the run; the cursor stays at the end.
    void record(const SeatChange& change) {
        changes_.push_back(change);
        cursor_ = changes_.size();
    }

    /// Moves the cursor to the state of the slots at `row`: calls set(slot, seat) for every change
    /// on the way.
    template <class Set>
    void seek(std::int64_t row, Set&& set) {
        while (cursor_ < changes_.size() && changes_[cursor_].row < row) {
            const SeatChange& change = changes_[cursor_++];
            set(change.slot, change.to);
        }
        while (cursor_ > 0 && changes_[cursor_ - 1].row >= row) {
            const SeatChange& change = changes_[--cursor_];
            set(change.slot, change.from);
        }
    }

    /// Calls visit(change) for the changes right after `row`, the last one first, if the cursor is
    /// at row + 1; first to last if it is at `row`.
    template <class Visit>
    void visit_before_cursor(std::int64_t row, Visit&& visit) const {
        for (std::size_t i = cursor_; i > 0 && changes_[i - 1].row == row; --i)
            visit(changes_[i - 1]);
    }
    template <class Visit>
    void visit_after_cursor(std::int64_t row, Visit&& visit) const {
        for (std::size_t i = cursor_; i < changes_.size() && changes_[i].row == row; ++i)
            visit(changes_[i]);
    }

  private:
    std::vector<SeatChange> changes_;
    std::size_t cursor_ = 0;
};

}  // namespace eddy::detail
