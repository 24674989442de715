#pragma once
// Checkpoints in host memory, for states whose numbers live elsewhere, on a device. How host memory
// is had and how bytes get there and back is the TransferMemory: ordinary memory here, page-locked
// memory with asynchronous copies in backends/cuda/pinned_memory.hpp. The blocks of discarded slots
// are kept and used again.
// Test: tests/checkpoint/tiered_store.cpp

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <eddy/checkpoint/store.hpp>
#include <eddy/core/error.hpp>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// Host memory, and copies between it and where states live. `save` copies from a state to the host
/// and `load` from the host to a state; both may return early, if they are done before any later
/// work on the same state begins.
template <class Memory>
concept TransferMemory = requires(Memory& memory, void* bytes, const void* source,
                                  std::size_t size) {
    { memory.allocate(size) } -> std::same_as<void*>;
    memory.deallocate(bytes, size);
    memory.save(bytes, source, size);
    memory.load(bytes, source, size);
};

/// One that also copies beside other work: `load_ahead` is `load`, done before work that begins after
/// `arrive`; it begins when all work has been done that was begun before it.
template <class Memory>
concept LoadsAhead = TransferMemory<Memory> &&
    requires(Memory& memory, void* bytes, const void* source, std::size_t size) {
    memory.load_ahead(bytes, source, size);
    memory.arrive();
};

/// Ordinary memory, for states on the host.
struct PageableMemory {
    void* allocate(std::size_t size) { return ::operator new(size); }
    void deallocate(void* bytes, std::size_t) { ::operator delete(bytes); }
    void save(void* host, const void* state, std::size_t size) { std::memcpy(host, state, size); }
    void load(void* state, const void* host, std::size_t size) { std::memcpy(state, host, size); }
};

/// A copyable state with `data()` and `size()`: that many trivially copyable elements in one piece,
/// wherever they are.
template <class State>
concept TransferableState = std::copyable<State> && requires(State& state, const State& fixed) {
    { fixed.size() } -> std::convertible_to<std::size_t>;
    requires std::is_pointer_v<decltype(state.data())>;
    requires std::is_trivially_copyable_v<std::remove_pointer_t<decltype(state.data())>>;
};

/// A CheckpointStore in host memory. States that differ in size need a member `resize(size)`.
template <class State, class Memory = PageableMemory>
class HostStore {
    static_assert(
        TransferableState<State>,
        "HostStore: the state needs data() and size() of trivially copyable elements in one piece");
    static_assert(TransferMemory<Memory>, "HostStore: the memory must satisfy TransferMemory");

  public:
    explicit HostStore(Memory memory = Memory()) : memory_(std::move(memory)) {}
    HostStore(HostStore&& other) noexcept
        : memory_(other.memory_),
          blocks_(std::exchange(other.blocks_, {})),
          loaded_(std::move(other.loaded_)),
          loaded_slot_(std::exchange(other.loaded_slot_, nothing)),
          ahead_(std::move(other.ahead_)),
          ahead_slot_(std::exchange(other.ahead_slot_, nothing)) {}
    HostStore& operator=(HostStore&&) = delete;
    ~HostStore() {
        forget_ahead();
        free_blocks();
    }

    void reserve(std::int64_t) {
        forget_ahead();
        loaded_slot_ = nothing;
        for (Block& block : blocks_) block.step = nothing;
    }

    void write(std::int64_t slot, std::int64_t step, const State& state) {
        discard(slot);
        if (!loaded_) loaded_ = state;  // what read assigns to
        const auto index = static_cast<std::size_t>(slot);
        if (index >= blocks_.size()) blocks_.resize(index + 1);
        Block& block = blocks_[index];
        block.elements = static_cast<std::size_t>(state.size());
        grow(block, block.elements * element_size);
        memory_.save(block.bytes, state.data(), block.elements * element_size);
        block.step = step;
    }

    /// A state that is read again and again is copied once.
    [[nodiscard]] const State& read(std::int64_t slot, std::int64_t step) {
        const auto index = static_cast<std::size_t>(slot);
        if (index >= blocks_.size() || blocks_[index].step != step) {
            throw StorageError(detail::compose(
                "HostStore: slot {} does not hold step {}; do not share a store between loops",
                slot, step));
        }
        if (slot == loaded_slot_) return *loaded_;
        if (slot == ahead_slot_) {
            take_ahead();
            return *loaded_;
        }
        loaded_slot_ = nothing;
        fit(*loaded_, blocks_[index].elements);
        memory_.load(loaded_->data(), blocks_[index].bytes, blocks_[index].elements * element_size);
        loaded_slot_ = slot;
        return *loaded_;
    }

    /// Copies it where the memory can do so beside other work.
    void will_read(std::int64_t slot, std::int64_t step) {
        if constexpr (LoadsAhead<Memory>) {
            const auto index = static_cast<std::size_t>(slot);
            if (slot == loaded_slot_ || slot == ahead_slot_ || index >= blocks_.size() ||
                blocks_[index].step != step)
                return;
            if (ahead_slot_ != nothing) take_ahead();  // that is read first
            if (!ahead_) ahead_ = *loaded_;
            fit(*ahead_, blocks_[index].elements);
            memory_.load_ahead(ahead_->data(), blocks_[index].bytes,
                               blocks_[index].elements * element_size);
            ahead_slot_ = slot;
        }
    }

    void discard(std::int64_t slot) {
        if (slot == ahead_slot_) forget_ahead();
        if (slot == loaded_slot_) loaded_slot_ = nothing;
        const auto index = static_cast<std::size_t>(slot);
        if (index < blocks_.size()) blocks_[index].step = nothing;
    }

    void release() {
        forget_ahead();
        ahead_.reset();
        free_blocks();
        loaded_.reset();
        loaded_slot_ = nothing;
    }

  private:
    static constexpr std::int64_t nothing = -1;
    static constexpr std::size_t element_size =
        sizeof(std::remove_pointer_t<decltype(std::declval<State&>().data())>);

    struct Block {
        void* bytes = nullptr;
        std::size_t capacity = 0;
        std::size_t elements = 0;
        std::int64_t step = nothing;
    };

    void free_blocks() {
        for (Block& block : blocks_) {
            if (block.bytes) memory_.deallocate(block.bytes, block.capacity);
        }
        blocks_.clear();
    }

    void grow(Block& block, std::size_t size) {
        if (size <= block.capacity) return;
        void* larger = memory_.allocate(size);
        if (block.bytes) memory_.deallocate(block.bytes, block.capacity);
        block.bytes = larger;
        block.capacity = size;
    }

    void take_ahead() {
        const std::int64_t slot = ahead_slot_;
        forget_ahead();
        std::swap(loaded_, ahead_);
        loaded_slot_ = slot;
    }
    /// Later work begins when the copy has arrived, whoever needs it.
    void forget_ahead() {
        if constexpr (LoadsAhead<Memory>) {
            if (ahead_slot_ != nothing) memory_.arrive();
        }
        ahead_slot_ = nothing;
    }

    static void fit(State& state, std::size_t elements) {
        if (static_cast<std::size_t>(state.size()) == elements) return;
        if constexpr (requires { state.resize(elements); }) {
            state.resize(elements);
        } else {
            throw StorageError("HostStore: states of different sizes need resize(size)");
        }
    }

    Memory memory_;
    std::vector<Block> blocks_;  // (slot) as far as slots were written
    std::optional<State> loaded_;
    std::int64_t loaded_slot_ = nothing;
    std::optional<State> ahead_;
    std::int64_t ahead_slot_ = nothing;
};

}  // namespace eddy::inline v0
