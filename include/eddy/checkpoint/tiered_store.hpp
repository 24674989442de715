#pragma once
// Two stores as one: the latest checkpoints in the fast one, the others in the slow one. A loop
// reads its latest checkpoint most and the oldest least (Stumm & Walther, SIAM J. Sci. Comput.
// 31(3), 2009), so a state moves down only when the fast store is full and a later one comes: the
// fast store always holds the states of the highest steps that were written since there was room. A
// run that fits never touches the slow store. Nest TieredStores for more tiers.
// Test: tests/checkpoint/tiered_store.cpp

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/action.hpp>
#include <eddy/checkpoint/store.hpp>
#include <eddy/core/error.hpp>
#include <string>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// What a tier was used for since `reserve`, and how long the loop waited for it.
struct TierUse {
    std::int64_t writes = 0;  ///< states moved down included
    std::int64_t reads = 0;   ///< states moved down included
    std::int64_t peak = 0;    ///< most states held at once
    double write_seconds = 0;
    double read_seconds = 0;

    /// The tier as a schedule sees it, with mean costs in units of `step_seconds`: what
    /// hrevolve_actions asks for.
    [[nodiscard]] StorageTier as_tier(std::int64_t slots, double step_seconds) const {
        const auto mean = [step_seconds](double seconds, std::int64_t count) {
            return count == 0 ? 0 : seconds / static_cast<double>(count) / step_seconds;
        };
        return {slots, mean(write_seconds, writes), mean(read_seconds, reads)};
    }
};

/// A CheckpointStore of two tiers: `fast_slots` slots in the fast store, all others in the slow
/// one. A write into a full fast store costs O(slots) integer operations and one move.
template <class State, class Fast, class Slow>
class TieredStore {
    static_assert(
        CheckpointStore<Fast, State> && CheckpointStore<Slow, State>,
        "TieredStore: both stores must satisfy CheckpointStore<Store, State>, see store.hpp");

  public:
    /// Throws `InvalidArgument` if `fast_slots` is negative.
    explicit TieredStore(std::int64_t fast_slots, Fast fast = Fast(), Slow slow = Slow())
        : fast_slots_(fast_slots),
          fast_{std::move(fast), {}, {}, 0},
          slow_{std::move(slow), {}, {}, 0} {
        require_argument(fast_slots >= 0, "TieredStore: fast_slots = {}; give at least 0",
                         fast_slots);
    }

    void reserve(std::int64_t slots) {
        places_.clear();
        const std::int64_t in_fast = std::min(fast_slots_, slots);
        fast_.reserve(in_fast);
        slow_.reserve(slots - in_fast);
    }

    void write(std::int64_t slot, std::int64_t step, const State& state) {
        if (static_cast<std::size_t>(slot) >= places_.size())
            places_.resize(static_cast<std::size_t>(slot) + 1);
        discard(slot);
        if (fast_slots_ == 0) {
            at(slot) = {step, Tier::slow, slow_.put(step, state)};
            return;
        }
        if (!fast_.has_room()) move_oldest_down();
        at(slot) = {step, Tier::fast, fast_.put(step, state)};
    }

    [[nodiscard]] const State& read(std::int64_t slot, std::int64_t step) {
        const Place place = find(slot, step);
        if (place.tier == Tier::fast) return fast_.get(place.index, step);
        try {
            return slow_.get(place.index, step);
        } catch (const StorageError& error) {
            throw StorageError(detail::compose(
                "TieredStore: slot {}, step {}, in the slow store: {}", slot, step, error.what()));
        }
    }

    void will_read(std::int64_t slot, std::int64_t step) {
        if (!exists(slot)) return;
        const Place place = at(slot);
        if (place.tier == Tier::slow && place.step == step)
            slow_.store.will_read(place.index, step);
    }

    void discard(std::int64_t slot) {
        if (!exists(slot)) return;
        const Place place = std::exchange(at(slot), Place{});
        if (place.tier == Tier::fast) fast_.drop(place.index);
        if (place.tier == Tier::slow) slow_.drop(place.index);
    }

    void release() {
        places_.clear();
        fast_.store.release();
        slow_.store.release();
    }

    [[nodiscard]] const TierUse& fast_use() const { return fast_.use; }
    [[nodiscard]] const TierUse& slow_use() const { return slow_.use; }
    [[nodiscard]] Fast& fast() { return fast_.store; }
    [[nodiscard]] Slow& slow() { return slow_.store; }

  private:
    enum class Tier { none, fast, slow };

    struct Place {
        std::int64_t step = -1;
        Tier tier = Tier::none;
        std::int64_t index = -1;  // slot of the tier's store
    };

    class Stopwatch {
      public:
        explicit Stopwatch(double& seconds) : seconds_(seconds) {}
        Stopwatch(const Stopwatch&) = delete;
        Stopwatch& operator=(const Stopwatch&) = delete;
        ~Stopwatch() {
            seconds_ +=
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        }

      private:
        double& seconds_;
        std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    };

    template <class Store>
    struct Level {
        Store store;
        TierUse use;
        std::vector<std::int64_t> free;  // slots that were used before, the next one last
        std::int64_t slots = 0;
        std::int64_t touched = 0;  // slots from here on have not been used
        std::int64_t held = 0;

        void reserve(std::int64_t count) {
            use = {};
            held = touched = slots = 0;
            free.clear();
            store.reserve(count);
            slots = count;
        }
        bool has_room() const { return !free.empty() || touched < slots; }
        std::int64_t put(std::int64_t step, const State& state) {
            internal_check(has_room(), "a tier has room for every slot that was reserved");
            const Stopwatch watch(use.write_seconds);
            if (free.empty()) touch();
            const std::int64_t index = free.back();
            store.write(index, step, state);
            free.pop_back();
            ++use.writes;
            use.peak = std::max(use.peak, ++held);
            return index;
        }
        // One more slot, with room in `free` for all there are: `drop` then allocates nothing.
        void touch() {
            const auto count = static_cast<std::size_t>(touched) + 1;
            if (count > free.capacity()) free.reserve(2 * count);
            free.push_back(touched++);
        }
        const State& get(std::int64_t index, std::int64_t step) {
            const Stopwatch watch(use.read_seconds);
            ++use.reads;
            return store.read(index, step);
        }
        void drop(std::int64_t index) {
            store.discard(index);
            free.push_back(index);
            --held;
        }
    };

    bool exists(std::int64_t slot) const { return static_cast<std::size_t>(slot) < places_.size(); }
    Place& at(std::int64_t slot) { return places_[static_cast<std::size_t>(slot)]; }

    Place find(std::int64_t slot, std::int64_t step) const {
        const auto index = static_cast<std::size_t>(slot);
        if (index >= places_.size() || places_[index].tier == Tier::none ||
            places_[index].step != step) {
            throw StorageError(
                detail::compose("TieredStore: slot {} does not hold step {}; do not "
                                "share a store between loops",
                                slot, step));
        }
        return places_[index];
    }

    void move_oldest_down() {
        Place* oldest = nullptr;
        for (Place& place : places_) {
            if (place.tier == Tier::fast && (!oldest || place.step < oldest->step)) oldest = &place;
        }
        internal_check(oldest != nullptr, "a full tier holds a state");
        const std::int64_t below = slow_.put(oldest->step, fast_.get(oldest->index, oldest->step));
        fast_.drop(oldest->index);
        oldest->tier = Tier::slow;
        oldest->index = below;
    }

    std::int64_t fast_slots_;
    Level<Fast> fast_;
    Level<Slow> slow_;
    std::vector<Place> places_;  // (slot) as far as slots were written
};

}  // namespace eddy::inline v0
