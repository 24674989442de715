#pragma once
// Which lane is in which place of a member, at every round of its loop. Between two rounds a lane may
// end, another may take its place, or a lane may go on to its next tstop. All changes are kept, so
// that the way back, and every recomputation, finds the places as they were: `seek` applies or takes
// back what lies between two rounds. The memory is a view of fixed capacity: who records asks first
// whether there is room.

#include <eddy/core/host_device.hpp>
#include <eddy/solve/lane/landing.hpp>

namespace eddy::detail {

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
    /// One that remembers nothing: for runs that are not replayed.
    LaneAssignment() = default;
    EDDY_HD LaneAssignment(LaneChange* changes, std::int64_t capacity)
        : changes_(changes), capacity_(capacity) {}

    EDDY_HD void clear() { size_ = cursor_ = 0; }
    /// Is there room for as many changes more?
    [[nodiscard]] EDDY_HD bool has_room(std::int64_t changes) const {
        return changes_ == nullptr || size_ + changes <= capacity_;
    }
    /// Appends a change during the run; the cursor stays at the end.
    EDDY_HD void record(const LaneChange& change) {
        if (changes_ == nullptr) return;
        changes_[size_++] = change;
        cursor_ = size_;
    }

    /// Moves the cursor to the state of the places at `round`: calls set(chain, place, occupant) for
    /// every change on the way.
    template <class Set>
    EDDY_HD void seek(std::int64_t round, Set&& set) {
        while (cursor_ < size_ && changes_[cursor_].round < round) {
            const LaneChange& change = changes_[cursor_++];
            set(change.chain, change.place, change.to);
        }
        while (cursor_ > 0 && changes_[cursor_ - 1].round >= round) {
            const LaneChange& change = changes_[--cursor_];
            set(change.chain, change.place, change.from);
        }
    }

    /// Calls visit(change) for the changes right after `round`, the last one first, if the cursor is
    /// at round + 1; first to last if it is at `round`.
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
    LaneChange* changes_ = nullptr;
    std::int64_t capacity_ = 0, size_ = 0, cursor_ = 0;
};

}  // namespace eddy::detail
