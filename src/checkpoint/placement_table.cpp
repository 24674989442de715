#include <algorithm>
#include <bit>
#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/checkpoint/placement_table.hpp>
#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/staircase.hpp>
#include <map>
#include <utility>

namespace eddy::inline v0 {

namespace {

// A batch ends after this many stores, or once it has doubled the steps covered: with few
// checkpoints stores are rare, and generating a fixed number of them would run far ahead of any
// loop.
constexpr std::int64_t batch_stores = 1024;
constexpr std::int64_t batch_steps = 4096;

// Tables that outlive their loops: the latest ones, where a store costs more than a step. With more
// checkpoints than this the staircase alone lasts for millions of steps.
constexpr std::size_t most_kept = 8;
constexpr std::int64_t most_checkpoints_kept = 4096;

}  // namespace

template <class Generator>
PlacementTable<Generator>::PlacementTable(std::int64_t checkpoints)
    : staircase_end_(Staircase(checkpoints).end()),
      workspace_(
          new std::int64_t[static_cast<std::size_t>(Generator::workspace_size(checkpoints))]),
      generator_(checkpoints, workspace_.get()) {}

template <class Generator>
PlacementTable<Generator>::~PlacementTable() {
    for (const std::atomic<Placed*>& block : blocks_) delete[] block.load();
}

template <class Generator>
std::shared_ptr<PlacementTable<Generator>> PlacementTable<Generator>::shared(
    std::int64_t checkpoints) {
    static std::mutex looking_up;
    static std::map<std::int64_t, std::weak_ptr<PlacementTable>> tables;
    static std::array<std::shared_ptr<PlacementTable>, most_kept> kept;
    static std::size_t oldest = 0;
    const std::lock_guard lock(looking_up);
    if (const auto found = tables.find(checkpoints); found != tables.end()) {
        if (auto table = found->second.lock()) return table;
    }
    auto table = std::make_shared<PlacementTable>(checkpoints);
    std::erase_if(tables, [](const auto& entry) { return entry.second.expired(); });
    tables[checkpoints] = table;
    if (checkpoints <= most_checkpoints_kept)
        kept[std::exchange(oldest, (oldest + 1) % most_kept)] = table;
    return table;
}

template <class Generator>
auto PlacementTable<Generator>::address(std::int64_t index) -> Address {
    // Blocks 0 .. k-1 hold first_block (2^k - 1) entries.
    const auto unit = static_cast<std::uint64_t>(index / first_block + 1);
    const auto block = static_cast<std::size_t>(std::bit_width(unit) - 1);
    const std::int64_t before = first_block * ((std::int64_t{1} << block) - 1);
    return {block, static_cast<std::size_t>(index - before)};
}

template <class Generator>
std::span<const Placed> PlacementTable<Generator>::from(std::int64_t index) {
    std::int64_t published = published_.load(std::memory_order_acquire);
    if (index >= published) {
        const std::lock_guard lock(growing_);
        while (index >= published_.load(std::memory_order_relaxed)) append_locked();
        published = published_.load(std::memory_order_relaxed);
    }
    const Address first = address(index);
    const std::size_t block_size = static_cast<std::size_t>(first_block) << first.block;
    const auto available = static_cast<std::size_t>(published - index);
    const Placed* block = blocks_[first.block].load(std::memory_order_acquire);
    return {block + first.offset, std::min(available, block_size - first.offset)};
}

template <class Generator>
void PlacementTable<Generator>::generate_to(std::int64_t steps) {
    // A loop of n steps asks for the first store at or after n as well.
    if (last_step_.load(std::memory_order_acquire) >= steps) return;
    const std::lock_guard lock(growing_);
    while (last_step_.load(std::memory_order_relaxed) < steps) append_locked();
}

template <class Generator>
void PlacementTable<Generator>::append_locked() {
    const std::int64_t begin = published_.load(std::memory_order_relaxed);
    std::int64_t last_step = last_step_.load(std::memory_order_relaxed);
    const std::int64_t far = schedule::add(schedule::multiply(2, last_step + 1), batch_steps);
    std::int64_t index = begin;
    while (index < begin + batch_stores && last_step < far) {
        const Address where = address(index);
        Placed* block = blocks_[where.block].load(std::memory_order_relaxed);
        if (block == nullptr) {
            block = new Placed[static_cast<std::size_t>(first_block) << where.block];
            blocks_[where.block].store(block, std::memory_order_release);
        }
        Placed placed = generator_.next();
        while (placed.step < staircase_end_) placed = generator_.next();  // before the first store
        block[where.offset] = placed;
        last_step = placed.step;
        // Published one by one, so that a failed allocation loses nothing that the generator has
        // produced.
        published_.store(++index, std::memory_order_release);
        last_step_.store(last_step, std::memory_order_release);
    }
}

template class PlacementTable<CostGreedy>;
template class PlacementTable<OnlineTreeverse>;

}  // namespace eddy::inline v0
