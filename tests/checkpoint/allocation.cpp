// A program of its own: it counts every allocation of the process.
#include <eddy/checkpoint/checkpointed_loop.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/counting_new.hpp"

using eddy::CheckpointedLoop;
using eddy::LoopOptions;
using eddy::Placement;
using std::int64_t;
using support::allocations_of;

namespace {

using Small = std::array<double, 4>;

struct Fixed {
    Small advance(const Small& x, int64_t) const {
        return {0.5 * x[0] + 1, 0.5 * x[1] + 1, 0.5 * x[2] + 1, 0.5 * x[3] + 1};
    }
    Small pullback(const Small&, int64_t, const Small& cotangent) {
        return {0.5 * cotangent[0], 0.5 * cotangent[1], 0.5 * cotangent[2], 0.5 * cotangent[3]};
    }
};

// Heap memory in the state, advanced in place.
struct InPlace {
    using State = std::vector<double>;
    void advance_in_place(State& x, int64_t) const {
        for (double& value : x) value = 0.5 * value + 1;
    }
    State advance(const State& x, int64_t step) const {
        State y = x;
        advance_in_place(y, step);
        return y;
    }
    State pullback(const State&, int64_t, const State& cotangent) { return cotangent; }
};

// The same, pulled back in place; the other pullback must not be asked.
struct PulledInPlace : InPlace {
    mutable int64_t pulled = 0;
    State pullback(const State&, int64_t, const State&) {
        throw std::logic_error("pullback where pullback_in_place would do");
    }
    void pullback_in_place(const State&, int64_t, State& cotangent) {
        ++pulled;
        for (double& value : cotangent) value *= 0.5;
    }
};

}  // namespace

TEST_CASE("allocation: the first run and its reverse allocate nothing, for every placement") {
    const auto below = [](const auto&, int64_t step) { return step < 3000; };
    const std::vector<LoopOptions> all_options = {
        {.checkpoints = 1},
        {.checkpoints = 2},
        {.checkpoints = 16},
        {.checkpoints = 64},
        {.checkpoints = 16, .placement = Placement::online_treeverse},
        {.checkpoints = 16, .length = 3000},
        {.max_steps = 3000, .placement = Placement::store_all},
        {.max_steps = 3000, .placement = Placement::square_root},
        {.nested_lengths = {15, 20, 10}},
    };
    for (const LoopOptions& options : all_options) {
        CheckpointedLoop<Small, Fixed> loop(Fixed{}, options);
        CHECK(allocations_of([&] {
                  loop.run({1, 2, 3, 4}, below);
                  (void)loop.reverse({1, 1, 1, 1});
              }) == 0);
    }
}

TEST_CASE("allocation: beyond the tables made ahead, only the first run of the process allocates") {
    const auto below = [](const auto&, int64_t step) { return step < 300'000; };
    const auto run = [&](auto& loop) {
        return allocations_of([&] {
            loop.run({1, 2, 3, 4}, below);
            (void)loop.reverse({1, 1, 1, 1});
        });
    };
    CheckpointedLoop<Small, Fixed> loop(Fixed{}, {.checkpoints = 24});
    CheckpointedLoop<Small, Fixed> other(Fixed{}, {.checkpoints = 24});
    CheckpointedLoop<Small, Fixed> prepared(Fixed{}, {.checkpoints = 25});
    prepared.generate_tables(300'000);

    CHECK(run(loop) > 0);
    CHECK(run(loop) == 0);
    CHECK(run(other) == 0);
    CHECK(run(prepared) == 0);
}

TEST_CASE("allocation: states with heap memory, advanced in place, are allocated once") {
    CheckpointedLoop<InPlace::State, InPlace> loop(InPlace{}, {.checkpoints = 8});
    const InPlace::State first(100, 1.0);
    const auto below = [](const auto&, int64_t step) { return step < 2000; };
    loop.run(first, below);
    (void)loop.reverse(first);

    CHECK(allocations_of([&] { loop.run(first, below); }) == 0);
    // The cotangents are the body's own: one each.
    InPlace::State cotangent = first;
    CHECK(allocations_of([&] { (void)loop.reverse(std::move(cotangent)); }) <= 2000);
}

TEST_CASE("allocation: cotangents that are pulled back in place are allocated by nobody") {
    CheckpointedLoop<InPlace::State, PulledInPlace> loop(PulledInPlace{}, {.checkpoints = 8});
    const InPlace::State first(100, 1.0);
    const auto below = [](const auto&, int64_t step) { return step < 50; };
    loop.run(first, below);
    (void)loop.reverse(first);
    loop.run(first, below);

    InPlace::State cotangent = first;
    CHECK(allocations_of([&] { cotangent = loop.reverse(std::move(cotangent)); }) == 0);
    CHECK(loop.body().pulled == 2 * 50);
    CHECK(cotangent == InPlace::State(100, std::ldexp(1.0, -50)));
}

TEST_CASE("allocation: a loop of ten steps takes no more memory for 2^31 - 2 checkpoints") {
    const int64_t before = support::allocated_bytes;
    CheckpointedLoop<Small, Fixed> loop(Fixed{}, {.checkpoints = eddy::most_slots});
    loop.run({1, 2, 3, 4}, [](const auto&, int64_t step) { return step < 10; });
    (void)loop.reverse({1, 1, 1, 1});

    CHECK(loop.counters().recomputed == 0);
    CHECK(support::allocated_bytes - before <= (1 << 20) + (1 << 17));  // reserved, not touched
}
