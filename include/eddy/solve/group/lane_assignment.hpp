#pragma once
// Which lane is in which place of a member, at every round of its loop. Between two rounds a lane may
// end, another may take its place, or a lane may go on to its next tstop. All changes are kept, so
// that the way back, and every recomputation, finds the places as they were: `seek` applies or takes
// back what lies between two rounds. The memory is a view of fixed capacity: who records asks first
// whether there is room.
// Test: tests/solve/lane_assignment.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Between `round` and the next one, a place changes.
struct LaneChange {
    std::int64_t round;
    std::int32_t chain, place;
    Occupant from, to;

    [[nodiscard]] EDDY_HD bool assigns_a_lane() const {
        return to.lane != no_lane && to.lane != from.lane;
    }
};

/// The changes of a run in order, and a cursor between them. What `seek` finds depends on the round
/// alone; the cursor only remembers where the last one ended.
class LaneAssignment {
  public:
    /// An assignment that remembers nothing: for runs that are not replayed.
    LaneAssignment() = default;
    EDDY_HD LaneAssignment(LaneChange* changes, std::int64_t capacity)
        : changes_(changes), capacity_(capacity) {}

    EDDY_HD void clear() {
        size_ = 0;
        move_cursor(0);
    }
    /// Is there room for as many changes more?
    [[nodiscard]] EDDY_HD bool has_room(std::int64_t changes) const {
        return changes_ == nullptr || size_ + changes <= capacity_;
    }
    /// Appends a change during the run; the cursor stays at the end.
    EDDY_HD void record(const LaneChange& change) {
        if (changes_ == nullptr) return;
        changes_[size_++] = change;
        move_cursor(size_);
    }

    /// Is the cursor where the places are as they were at `round`?
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_at(std::int64_t round) const {
        return round_below_ < round && round <= round_above_;
    }
    /// Moves the cursor to the state of the places at `round`: calls set(chain, place, occupant) for
    /// every change on the way.
    template <class Set>
    EDDY_HD void seek(std::int64_t round, Set&& set) {
        std::int64_t cursor = cursor_;
        while (cursor < size_ && changes_[cursor].round < round) {
            const LaneChange& change = changes_[cursor++];
            set(change.chain, change.place, change.to);
        }
        while (cursor > 0 && changes_[cursor - 1].round >= round) {
            const LaneChange& change = changes_[--cursor];
            set(change.chain, change.place, change.from);
        }
        move_cursor(cursor);
    }

    /// The first round in which the places are as they are at the cursor.
    [[nodiscard]] EDDY_HD std::int64_t first_round_at_cursor() const {
        return cursor_ > 0 ? round_below_ + 1 : 0;
    }
    /// Does any place change right after `round`, with the cursor at round + 1; or at `round`?
    [[nodiscard]] EDDY_INLINE EDDY_HD bool changed_before_cursor(std::int64_t round) const {
        return round_below_ == round;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD bool changes_after_cursor(std::int64_t round) const {
        return round_above_ == round;
    }
    /// Calls visit(change) for these changes, the last one first; first to last if the cursor is at
    /// `round`.
    template <class Visit>
    EDDY_HD void visit_before_cursor(std::int64_t round, Visit&& visit) const {
        for (std::int64_t i = cursor_; i > 0 && changes_[i - 1].round == round; --i)
            visit(changes_[i - 1]);
    }
    template <class Visit>
    EDDY_HD void visit_after_cursor(std::int64_t round, Visit&& visit) const {
        for (std::int64_t i = cursor_; i < size_ && changes_[i].round == round; ++i)
            visit(changes_[i]);
    }

    [[nodiscard]] EDDY_HD std::int64_t size() const { return size_; }

  private:
    EDDY_HD void move_cursor(std::int64_t to) {
        cursor_ = to;
        round_below_ = to > 0 ? changes_[to - 1].round : std::numeric_limits<std::int64_t>::min();
        round_above_ = to < size_ ? changes_[to].round : std::numeric_limits<std::int64_t>::max();
    }

    LaneChange* changes_ = nullptr;
    std::int64_t capacity_ = 0, size_ = 0, cursor_ = 0;
    // Rounds of the changes next to the cursor: most rounds have none, and see it from these alone.
    std::int64_t round_below_ = std::numeric_limits<std::int64_t>::min();
    std::int64_t round_above_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace eddy::inline v0::detail
