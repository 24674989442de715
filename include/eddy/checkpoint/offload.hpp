#pragma once
// Offloading that happens: `remat(program, offload_to(place, policy))` puts what the policy marks for
// offload into a store of a loop (store.hpp, disk_store.hpp, host_store.hpp, tiered_store.hpp), and
// fetches it on the way back, one step ahead. Every linearization and every loop has stores of its own,
// one for each type: what goes wrong in one is lost to no other.
// Test: tests/checkpoint/offload.cpp

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <eddy/ad/hooks.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <eddy/checkpoint/host_store.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/store.hpp>
#include <eddy/checkpoint/tiered_store.hpp>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// A place to offload to: files in a directory. A place is any type with `store<State>()`, which makes
/// a CheckpointStore.
struct OnDisk {
    DiskOptions options{};

    /// A store for values of one type.
    template <class State>
    [[nodiscard]] auto store() const {
        return DiskStore<State>(options);
    }
};

/// A place to offload to: the memory of the host, had as `Memory` has it. Values with `data()` and
/// `size()`, on a device, are copied through it; others as they are.
template <class Memory = PageableMemory>
struct InHostMemory {
    Memory memory{};

    /// A store for values of one type.
    template <class State>
    [[nodiscard]] auto store() const {
        if constexpr (TransferableState<State>)
            return HostStore<State, Memory>(memory);
        else
            return MemoryStore<State>();
    }
};

/// A place to offload to: the latest values in one place, as many of each type as it is given, the
/// others in another.
template <class Fast, class Slow>
struct InTiers {
    std::int64_t fast_slots = 0;
    Fast fast{};
    Slow slow{};

    /// A store for values of one type.
    template <class State>
    [[nodiscard]] auto store() const {
        auto first = fast.template store<State>();
        auto second = slow.template store<State>();
        return TieredStore<State, decltype(first), decltype(second)>(fast_slots, std::move(first),
                                                                     std::move(second));
    }
};
template <class Fast, class Slow>
InTiers(int, Fast, Slow) -> InTiers<Fast, Slow>;

namespace detail {

/// A store whose slots are given out, and come back with the handles on them.
template <class State, class Store>
class OffloadArea {
  public:
    explicit OffloadArea(Store store) : store_(std::move(store)) { store_.reserve(most_slots); }

    class Slot {
      public:
        Slot(std::shared_ptr<OffloadArea> area, const State& value) : area_(std::move(area)) {
            OffloadArea& a = *area_;
            const bool is_new = a.free_.empty();
            if (is_new) {  // what gives it back allocates nothing
                a.free_.reserve(static_cast<std::size_t>(a.slots_) + 1);
                a.free_.push_back(a.slots_++);
            }
            slot_ = a.free_.back();
            step_ = a.written_;
            a.store_.write(slot_, step_, value);
            a.free_.pop_back();
            ++a.written_;
        }
        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;
        ~Slot() {
            area_->store_.discard(slot_);
            area_->free_.push_back(slot_);
        }
        [[nodiscard]] const State& read() const { return area_->store_.read(slot_, step_); }
        void will_read() const { area_->store_.will_read(slot_, step_); }

      private:
        std::shared_ptr<OffloadArea> area_;
        std::int64_t slot_ = 0, step_ = 0;
    };

  private:
    Store store_;
    std::vector<std::int64_t> free_;
    std::int64_t slots_ = 0;    // that were ever used
    std::int64_t written_ = 0;  // values, the latest of which are read first
};

/// What is left in memory of a value that was offloaded.
template <class State, class Store>
struct Offloaded {
    std::shared_ptr<const typename OffloadArea<State, Store>::Slot> slot;

    static constexpr std::int64_t fixed_bytes = 0;  // here
    void will_read() const { slot->will_read(); }
    [[nodiscard]] std::int64_t kept_bytes() const { return fixed_bytes; }
};

/// Areas by their type. A copy begins without any: it is another loop's.
class OwnAreas {
  public:
    OwnAreas() = default;
    OwnAreas(const OwnAreas&) {}
    OwnAreas(OwnAreas&&) noexcept = default;
    OwnAreas& operator=(const OwnAreas&) {
        areas_.clear();
        return *this;
    }
    OwnAreas& operator=(OwnAreas&&) noexcept = default;

    template <class Area, class Make>
    [[nodiscard]] std::shared_ptr<Area> find(const Make& make) {
        const std::type_index type = typeid(Area);
        for (const auto& [known, area] : areas_) {
            if (known == type) return std::static_pointer_cast<Area>(area);
        }
        auto area = std::make_shared<Area>(make());
        areas_.emplace_back(type, area);
        return area;
    }

  private:
    std::vector<std::pair<std::type_index, std::shared_ptr<void>>> areas_;
};

struct OffloadEverything {
    constexpr eddy::Saving operator()(const Candidate&) const { return eddy::Saving::offload; }
};

template <class Place, class Policy>
struct Offload {
    static constexpr bool are_hooks = true;
    Place place;
    [[no_unique_address]] Policy policy;
    mutable OwnAreas areas{};

    template <class T>
    [[nodiscard]] auto put(const T& value) const {
        using Store = decltype(place.template store<T>());
        static_assert(
            CheckpointStore<Store, T>,
            "offload_to: the place must make a CheckpointStore of the value, see store.hpp");
        using Area = OffloadArea<T, Store>;
        auto area = areas.template find<Area>([&] { return place.template store<T>(); });
        return Offloaded<T, Store>{
            std::make_shared<const typename Area::Slot>(std::move(area), value)};
    }
    template <class T, class Packed>
    [[nodiscard]] T get(const Packed& packed) const {
        return packed.slot->read();
    }
};

template <class Place, class Policy>
inline constexpr bool takes_offloaded_only<Offload<Place, Policy>> =
    !std::is_same_v<Policy, OffloadEverything>;

}  // namespace detail

/// Hooks that put what the policy marks for offload into stores of a place, `OnDisk{}`,
/// `InHostMemory{}` or `InTiers{…}`; without a policy all that is kept, the first argument too. What
/// the policy saves stays where it is.
template <class Place, class Policy = detail::OffloadEverything>
[[nodiscard]] auto offload_to(Place place, Policy policy = {}) {
    return detail::Offload<Place, Policy>{std::move(place), std::move(policy)};
}

}  // namespace eddy::inline v0
