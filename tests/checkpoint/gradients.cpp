// Gradients are those of store-all, bit for bit, whatever is kept and recomputed.
#include <eddy/checkpoint/checkpointed_loop.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"

using eddy::CheckpointedLoop;
using eddy::LoopOptions;
using eddy::Placement;
using std::int64_t;
using support::Swirl;

namespace {

using Bits = std::array<std::uint64_t, 5>;

// Last state, cotangent of x_0 and of the parameter.
Bits gradient(const LoopOptions& options, int64_t steps) {
    CheckpointedLoop<Swirl::State, Swirl> loop(Swirl{}, options);
    const Swirl::State last =
        loop.run({0.1, 0.2}, [&](const auto&, int64_t step) { return step < steps; });
    const Swirl::State first = loop.reverse({1.0, -0.5});
    return {std::bit_cast<std::uint64_t>(last[0]), std::bit_cast<std::uint64_t>(last[1]),
            std::bit_cast<std::uint64_t>(first[0]), std::bit_cast<std::uint64_t>(first[1]),
            std::bit_cast<std::uint64_t>(loop.body().parameter_cotangent)};
}

Bits store_all(int64_t steps) {
    return gradient({.max_steps = steps, .placement = Placement::store_all}, steps);
}

}  // namespace

TEST_CASE("row 75: a loop that runs again places its checkpoints otherwise") {
    CheckpointedLoop<Swirl::State, Swirl> loop(Swirl{},
                                               {.placement = Placement::none, .length = 30});
    const auto run = [&] {
        const Swirl::State last = loop.run({0.1, 0.2});
        return std::pair(last, loop.reverse({1.0, -0.5}));
    };
    const auto expected = run();
    CHECK(loop.counters().peak_checkpoints == 1);

    loop.replan({.placement = Placement::store_all, .length = 30});
    CHECK(run() == expected);
    CHECK(loop.counters().recomputed == 0);
    (void)loop.run({0.1, 0.2});  // is not reversed, but freed
    loop.replan({.checkpoints = 4, .length = 30});
    CHECK(run() == expected);
    CHECK(loop.counters().peak_checkpoints == 4);
    loop.replan({.nested_lengths = {5, 6}, .determinism_check = true});
    CHECK(loop.run({0.1, 0.2}, [](const auto&, int64_t step) { return step < 30; }) ==
          expected.first);
    CHECK(loop.reverse({1.0, -0.5}) == expected.second);
}

TEST_CASE("gradients: every placement equals store-all bit for bit, for every number of steps") {
    for (int64_t steps = 0; steps <= 64; ++steps) {
        const Bits expected = store_all(steps);
        INFO(steps << " steps");
        for (const int64_t checkpoints : {1, 2, 3, 8, 100}) {
            INFO(checkpoints << " checkpoints");
            CHECK(gradient({.checkpoints = checkpoints}, steps) == expected);
            CHECK(gradient({.checkpoints = checkpoints, .placement = Placement::online_treeverse},
                           steps) == expected);
            CHECK(gradient({.checkpoints = checkpoints, .length = steps}, steps) == expected);
            CHECK(gradient({.checkpoints = checkpoints, .length = 64}, steps) == expected);
        }
        CHECK(gradient({.placement = Placement::none}, steps) == expected);
        CHECK(gradient({.placement = Placement::square_root, .length = steps}, steps) == expected);
        CHECK(gradient({.max_steps = 64, .placement = Placement::periodic, .period = 7}, steps) ==
              expected);
        CHECK(
            gradient(
                {.checkpoints = 12, .max_steps = 64, .placement = Placement::periodic, .period = 7},
                steps) == expected);
        CHECK(gradient({.nested_lengths = {4, 4, 4}}, steps) == expected);
        CHECK(gradient({.nested_lengths = {2, 1, 32}}, steps) == expected);
        CHECK(gradient({.nested_lengths = {64}}, steps) == expected);
    }
}

TEST_CASE("gradients: the map under test is sensitive: the gradient is neither zero nor infinite") {
    const Bits bits = store_all(64);
    for (std::size_t i = 2; i < bits.size(); ++i) {
        const double value = std::abs(std::bit_cast<double>(bits[i]));
        CHECK(value > 1e-12);
        CHECK(value < 1e12);
    }
}

TEST_CASE("gradients: the reverse agrees with central differences") {
    // Error of central differences: h^2 |f'''| / 6 + eps |f| / h; over 6 steps f''' is below 1e3,
    // so h = 1e-5 gives about 1e-7 absolute on derivatives of order one.
    const auto value = [](double x, double parameter) {
        Swirl body{parameter};
        Swirl::State state{x, 0.2};
        for (int64_t step = 0; step < 6; ++step) state = body.advance(state, step);
        return state[0] - 0.5 * state[1];
    };
    constexpr double h = 1e-5;

    const Bits bits = gradient({.checkpoints = 2}, 6);

    CHECK(std::abs(std::bit_cast<double>(bits[2]) -
                   (value(0.1 + h, 0.9) - value(0.1 - h, 0.9)) / (2 * h)) < 1e-6);
    CHECK(std::abs(std::bit_cast<double>(bits[4]) -
                   (value(0.1, 0.9 + h) - value(0.1, 0.9 - h)) / (2 * h)) < 1e-6);
}

TEST_CASE("gradients: classic placements recompute as often as their names say") {
    const auto counters = [](const LoopOptions& options) {
        CheckpointedLoop<Swirl::State, Swirl> loop(Swirl{}, options);
        loop.run({0.1, 0.2});
        (void)loop.reverse({1.0, 1.0});
        return loop.counters();
    };

    const auto all = counters({.placement = Placement::store_all, .length = 1000});
    CHECK(all.recomputed == 0);
    CHECK(all.peak_checkpoints == 1000);

    const auto none = counters({.placement = Placement::none, .length = 1000});
    CHECK(none.recomputed == 1000 * 999 / 2);
    CHECK(none.peak_checkpoints == 1);

    const auto square_root = counters({.placement = Placement::square_root, .length = 1000});
    CHECK(square_root.recomputed <= 1000);
    CHECK(square_root.peak_checkpoints <= 64);

    const auto periodic =
        counters({.placement = Placement::periodic, .length = 1000, .period = 50});
    CHECK(periodic.recomputed == 1000 - 20);
    CHECK(periodic.peak_checkpoints == 20 + 48);

    const auto nested = counters({.length = 1000, .nested_lengths = {10, 10, 10}});
    CHECK(nested.recomputed <= 2 * 1000);
    CHECK(nested.peak_checkpoints <= 10 + 10 + 10);
}

TEST_CASE("gradients: nested scans that stop early recompute at most one pass per inner length") {
    for (int64_t steps = 1; steps <= 64; ++steps) {
        CheckpointedLoop<Swirl::State, Swirl> loop(Swirl{}, {.nested_lengths = {4, 4, 4}});
        loop.run({0.1, 0.2}, [&](const auto&, int64_t step) { return step < steps; });
        (void)loop.reverse({1.0, 1.0});
        INFO(steps << " steps");
        CHECK(loop.counters().recomputed <= 2 * steps);
        CHECK(loop.counters().peak_checkpoints <= 4 + 4 + 4);
    }
}

// Run by the thread sanitizer as well (preset tsan).
TEST_CASE("gradients: loops in several threads share their tables and agree") {
    const Bits expected = store_all(20'000);
    std::vector<Bits> found(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < found.size(); ++thread) {
            // 11 and 12 checkpoints: tables that no other test has grown.
            const auto checkpoints = static_cast<int64_t>(11 + thread % 2);
            threads.emplace_back([&found, thread, checkpoints] {
                found[thread] = gradient({.checkpoints = checkpoints}, 20'000);
            });
        }
    }
    for (const Bits& bits : found) CHECK(bits == expected);
}
