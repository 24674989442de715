#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <eddy/checkpoint/host_store.hpp>
#include <eddy/checkpoint/tiered_store.hpp>
#include <filesystem>
#include <random>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/message_of.hpp"

using eddy::CheckpointedLoop;
using eddy::DiskStore;
using eddy::HostStore;
using eddy::MemoryStore;
using eddy::TieredStore;
using support::StrictStore;
using support::Swirl;
using State = Swirl::State;

namespace {

struct Gradient {
    State x0;
    double parameter;
    friend bool operator==(const Gradient&, const Gradient&) = default;
};

template <class Store>
Gradient gradient_through(CheckpointedLoop<State, Swirl, Store>& loop, std::int64_t steps) {
    loop.body().parameter_cotangent = 0;
    loop.run({0.1, 0.2}, [=](const auto&, std::int64_t step) { return step < steps; });
    const State x0 = loop.reverse({1.0, -0.5});
    return {x0, loop.body().parameter_cotangent};
}

template <class Store>
Gradient gradient(const eddy::LoopOptions& options, std::int64_t steps, Store store) {
    CheckpointedLoop<State, Swirl, Store> loop(Swirl{}, options, std::move(store));
    return gradient_through(loop, steps);
}

using MemoryAndDisk = TieredStore<State, MemoryStore<State>, DiskStore<State>>;
using Strict = TieredStore<State, StrictStore<State>, StrictStore<State>>;

}  // namespace

static_assert(eddy::CheckpointStore<MemoryAndDisk, State>);
static_assert(eddy::CheckpointStore<HostStore<State>, State>);
static_assert(!eddy::TransferableState<double>);

TEST_CASE("tiered_store: gradients are bit for bit those of memory, for every placement and tier") {
    const std::vector<eddy::LoopOptions> all_options{
        {.checkpoints = 1},
        {.checkpoints = 6},
        {.checkpoints = 6, .placement = eddy::Placement::online_treeverse},
        {.checkpoints = 6, .length = 60},
        {.placement = eddy::Placement::store_all, .length = 60},
        {.placement = eddy::Placement::square_root, .length = 60},
        {.length = 60, .nested_lengths = {3, 4, 5}}};
    for (const eddy::LoopOptions& options : all_options) {
        const Gradient expected = gradient(options, 60, MemoryStore<State>());
        CHECK(gradient(options, 60, HostStore<State>()) == expected);
        CHECK(gradient(options, 60, DiskStore<State>()) == expected);
        for (std::int64_t fast_slots : {0, 1, 4, 100}) {
            INFO(options.checkpoints << " checkpoints, " << fast_slots << " of them fast");
            CHECK(gradient(options, 60, MemoryAndDisk(fast_slots)) == expected);
            CHECK(gradient(options, 60, Strict(fast_slots)) == expected);
        }
        using HostAndDisk = TieredStore<State, HostStore<State>, DiskStore<State>>;
        TieredStore<State, MemoryStore<State>, HostAndDisk> three_tiers(2, {}, HostAndDisk(2));
        CHECK(gradient(options, 60, std::move(three_tiers)) == expected);
    }
}

TEST_CASE("tiered_store: the limits of both tiers hold and both are empty at the end") {
    for (std::int64_t checkpoints : {1, 2, 5, 12}) {
        for (std::int64_t fast_slots = 0; fast_slots <= 12; fast_slots += 3) {
            for (std::int64_t steps : {1, 5, 40, 300}) {
                CheckpointedLoop<State, Swirl, Strict> loop(Swirl{}, {.checkpoints = checkpoints},
                                                            Strict(fast_slots));
                gradient_through(loop, steps);

                const std::int64_t in_fast = std::min(fast_slots, checkpoints);
                INFO(checkpoints << " checkpoints, " << fast_slots << " fast, " << steps
                                 << " steps");
                CHECK(loop.store().fast_use().peak <= in_fast);
                CHECK(loop.store().slow_use().peak <= checkpoints - in_fast);
                CHECK(loop.store().fast().held() == 0);
                CHECK(loop.store().slow().held() == 0);
                if (steps <= fast_slots) CHECK(loop.store().slow_use().writes == 0);
            }
        }
    }
}

TEST_CASE("tiered_store: a second run after one that was not reversed finds both tiers empty") {
    CheckpointedLoop<State, Swirl, Strict> loop(Swirl{}, {.checkpoints = 5}, Strict(2));
    loop.run({0.3, 0.4}, [](const State&, std::int64_t step) { return step < 50; });

    CHECK(gradient_through(loop, 30) == gradient({.checkpoints = 5}, 30, MemoryStore<State>()));
}

TEST_CASE("tiered_store: the slow tier holds the oldest states and is read least") {
    CheckpointedLoop<State, Swirl, Strict> loop(Swirl{}, {.checkpoints = 16, .length = 1000},
                                                Strict(8));
    gradient_through(loop, 1000);

    const eddy::TierUse& fast = loop.store().fast_use();
    const eddy::TierUse& slow = loop.store().slow_use();
    CHECK(fast.reads + slow.reads >= loop.counters().loads);
    // Half of the stack from below takes 18 % of the reads of a binomial schedule with 16 slots.
    const double share =
        static_cast<double>(slow.reads) / static_cast<double>(loop.counters().loads);
    CHECK(share < 0.19);
}

TEST_CASE("tiered_store: measured use becomes the tiers of a schedule") {
    const eddy::TierUse use{.writes = 4, .reads = 2, .write_seconds = 8, .read_seconds = 1};

    const eddy::StorageTier tier = use.as_tier(7, 0.5);

    CHECK(tier.slots == 7);
    CHECK(tier.write_cost == 4);
    CHECK(tier.read_cost == 1);
    CHECK(eddy::TierUse{}.as_tier(1, 1).read_cost == 0);
}

TEST_CASE("tiered_store: damage on disk is an error that names slot and step of the loop") {
    MemoryAndDisk store(1);
    store.reserve(3);
    store.write(2, 0, State{1, 2});
    store.write(0, 50, State{3, 4});  // moves step 0 to disk
    store.slow().flush();
    std::filesystem::resize_file(store.slow().path(), 0);

    CHECK(store.read(0, 50) == State{3, 4});
    CHECK(
        support::mentions(support::message_of([&] { (void)store.read(2, 0); }), "slot 2, step 0"));
    CHECK_THROWS_AS(store.read(1, 50), eddy::StorageError);
    CHECK_THROWS_AS(MemoryAndDisk(-1), eddy::InvalidArgument);
}

TEST_CASE("host_store: gives back what was written, also when sizes differ") {
    std::mt19937 random(11);
    HostStore<std::vector<float>> store;
    store.reserve(4);
    std::vector<std::vector<float>> expected(4);
    std::vector<std::int64_t> steps(4, -1);
    for (std::int64_t call = 0; call < 1000; ++call) {
        const std::size_t index = random() % 4;
        const auto slot = static_cast<std::int64_t>(index);
        if (random() % 2 == 0) {
            expected[index].assign(random() % 50, static_cast<float>(call));
            steps[index] = call;
            store.write(slot, call, expected[index]);
        } else if (steps[index] >= 0) {
            REQUIRE(store.read(slot, steps[index]) == expected[index]);
            CHECK_THROWS_AS(store.read(slot, call), eddy::StorageError);
        }
    }
    store.discard(0);
    CHECK_THROWS_AS(store.read(0, steps[0]), eddy::StorageError);
}
