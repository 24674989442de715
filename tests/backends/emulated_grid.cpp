#include "support/emulated_grid.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

using eddy::test::EmulatedWarp;
using eddy::test::run_warps;
using support::mentions;

namespace {

constexpr double not_set = std::numeric_limits<double>::quiet_NaN();

std::string failure_of(auto&& thread_program, int num_warps = 1, std::uint64_t seed = 1) {
    return support::message_of([&] { run_warps(num_warps, seed, thread_program); });
}

/// Lanes are taken from a counter, 32 at a time or as many as idle, worked on for as many rounds as their number says, and summed.
struct ToyQueue {
    std::int64_t num_lanes = 0, next = 0, taken_twice = 0;
    std::vector<double> results = std::vector<double>(static_cast<std::size_t>(num_lanes), not_set);
    std::vector<int> warps = std::vector<int>(static_cast<std::size_t>(num_lanes), -1);

    void operator()(int warp, EmulatedWarp& team) {
        std::int64_t lane = -1, rounds_left = 0;
        double sum = 0;
        for (bool queue_is_empty = false;;) {
            const std::uint32_t idle = team.ballot(lane < 0);
            if (idle != 0 && !queue_is_empty) {
                const auto wanted = static_cast<std::int64_t>(__builtin_popcount(idle));
                const std::int64_t first =
                    team.broadcast(team.member() == 0 ? team.fetch_add(next, wanted) : -1, 0);
                queue_is_empty = first + wanted >= num_lanes;
                const std::uint32_t below = idle & ((1u << team.member()) - 1);
                const std::int64_t mine = first + __builtin_popcount(below);
                if (lane < 0 && mine < num_lanes) lane = mine, rounds_left = 1 + mine % 7, sum = 0;
            }
            if (!team.any(lane >= 0)) return;
            if (lane < 0) continue;
            sum += static_cast<double>(lane);
            if (--rounds_left > 0) continue;
            const auto place = static_cast<std::size_t>(lane);
            if (warps[place] >= 0) (void)team.fetch_add(taken_twice, 1);
            results[place] = sum, warps[place] = warp, lane = -1;
        }
    }
};

std::vector<int> warps_of_lanes(std::uint64_t seed) {
    ToyQueue queue{.num_lanes = 257};
    run_warps(4, seed, std::ref(queue));
    return queue.warps;
}

}  // namespace

TEST_CASE("emulated_grid: collectives see the values of all 32 members") {
    std::int64_t checked = 0;
    run_warps(2, 1, [&](int, EmulatedWarp& team) {
        const std::int64_t member = team.member();
        const bool right = team.ballot(member % 3 == 0) == 0x49249249u && team.any(member == 31) &&
                           !team.any(member == 32) && team.all(member < 32) &&
                           !team.all(member < 31) && team.max(member - 40) == -9 &&
                           team.min(member - 40) == -40 && team.sum(member) == 496;
        (void)team.fetch_add(checked, right);
    });

    CHECK(checked == 64);
}

TEST_CASE("emulated_grid: broadcast copies registers of any size, bit for bit") {
    struct Registers {
        double t;
        float y[3];
        char flag;
    };
    std::int64_t checked = 0;
    run_warps(1, 1, [&](int, EmulatedWarp& team) {
        const auto own = static_cast<float>(team.member());
        const Registers got =
            team.broadcast(Registers{0.1 * team.member(), {own, own + 1, own + 2}, 'x'}, 7);
        (void)team.fetch_add(checked,
                             got.t == 0.1 * 7 && got.y[0] == 7 && got.y[2] == 9 && got.flag == 'x');
        (void)team.fetch_add(checked, team.broadcast(static_cast<char>(team.member()), 31) == 31);
    });

    CHECK(checked == 64);
}

TEST_CASE("emulated_grid: a value is not overwritten before all have read it") {
    std::int64_t wrong = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        run_warps(1, seed, [&](int, EmulatedWarp& team) {
            for (std::int64_t round = 0; round < 20; ++round)
                if (team.sum(round * team.member()) != 496 * round) (void)team.fetch_add(wrong, 1);
        });

    CHECK(wrong == 0);
}

TEST_CASE("emulated_grid: sync orders what members of a warp write, sync_block what warps write") {
    std::vector<double> shared(96, not_set), sums(96, not_set);
    run_warps(3, 5, [&](int warp, EmulatedWarp& team) {
        const int thread = warp * 32 + team.member();
        const auto at = [](int place) { return static_cast<std::size_t>(place); };
        shared[at(thread)] = thread;
        team.sync();
        const double neighbour = shared[at(warp * 32 + (team.member() + 1) % 32)];
        team.sync();
        shared[at(thread)] = 2 * neighbour;
        team.sync_block();
        sums[at(thread)] = std::accumulate(shared.begin(), shared.end(), 0.0);
    });

    CHECK(sums == std::vector<double>(96, 2.0 * 95 * 96 / 2));
}

TEST_CASE("emulated_grid: 257 lanes of a queue are each worked on once, by 4 warps") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ToyQueue queue{.num_lanes = 257};
        run_warps(4, seed, std::ref(queue));

        REQUIRE(queue.taken_twice == 0);
        for (std::size_t lane = 0; lane < 257; ++lane)
            REQUIRE(queue.results[lane] == static_cast<double>(lane * (1 + lane % 7)));
    }
}

TEST_CASE("emulated_grid: a seed is an interleaving, and repeats it") {
    CHECK(warps_of_lanes(3) == warps_of_lanes(3));
    CHECK(warps_of_lanes(3) != warps_of_lanes(4));
    const std::vector<int> warps = warps_of_lanes(3);
    for (int warp = 0; warp < 4; ++warp) CHECK(std::count(warps.begin(), warps.end(), warp) > 0);
}

TEST_CASE("emulated_grid: a fetch_add lets others go first") {
    std::vector<std::int64_t> first_by_seed;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        std::int64_t counter = 0, first = -1;
        run_warps(2, seed, [&](int warp, EmulatedWarp& team) {
            if (team.fetch_add(counter, 1) == 0) first = 32 * warp + team.member();
        });
        CHECK(counter == 64);
        first_by_seed.push_back(first);
    }

    std::sort(first_by_seed.begin(), first_by_seed.end());
    CHECK(std::unique(first_by_seed.begin(), first_by_seed.end()) - first_by_seed.begin() > 4);
}

TEST_CASE("emulated_grid: a collective in a divergent branch is reported with both places") {
    const std::string said = failure_of([](int, EmulatedWarp& team) {
        if (team.member() == 9) (void)team.any(true);
        (void)team.ballot(true);
    });

    CHECK(mentions(said, "run_warps: member "));
    CHECK(mentions(said, "member 9 of warp 0 is in any at "));
    CHECK(mentions(said, " is in ballot at "));
    CHECK(mentions(said, "emulated_grid.cpp:"));
    CHECK(mentions(said, "; let all members reach the same call"));
}

TEST_CASE("emulated_grid: two calls on one line of two branches differ by their columns") {
    const std::string said = failure_of([](int, EmulatedWarp& team) {
        // clang-format off
        if (team.member() < 4) (void)team.sum(1); else (void)team.sum(1);
        // clang-format on
    });

    const std::string file = "emulated_grid.cpp:";
    const auto line_and_column = [&](std::size_t at) {
        return said.substr(at, said.find_first_of(",;", at) - at);
    };
    const std::string first = line_and_column(said.find(file)),
                      last = line_and_column(said.rfind(file));
    CHECK(mentions(said, " is in sum at "));
    CHECK(first != last);
    CHECK(first.substr(0, first.rfind(':')) == last.substr(0, last.rfind(':')));
}

TEST_CASE("emulated_grid: a member that has returned is missed, whoever is first") {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const std::string early = failure_of(
            [](int, EmulatedWarp& team) {
                if (team.member() == 3) return;
                team.sync();
            },
            1, seed);
        CHECK(mentions(early, "is in sync at "));
        CHECK(mentions(early, "member 3 of warp 0 has returned, last from no collective"));
    }

    const std::string late = failure_of([](int, EmulatedWarp& team) {
        team.sync();
        if (team.member() != 3) (void)team.max(0);
    });
    CHECK(mentions(late, "is in max at "));
    CHECK(mentions(late, "member 3 of warp 0 has returned, last from sync at "));
}

TEST_CASE("emulated_grid: sync_block by one warp, or by half of one, is reported") {
    const std::string returned = failure_of(
        [](int warp, EmulatedWarp& team) {
            if (warp == 0) team.sync_block();
        },
        2);
    CHECK(mentions(returned, "is in sync_block at "));
    CHECK(mentions(returned, "of warp 1 has returned"));

    const std::string half = failure_of(
        [](int, EmulatedWarp& team) {
            if (team.member() < 16) team.sync_block();
            (void)team.any(true);
        },
        2);
    CHECK(mentions(half, " is in sync_block at "));
    CHECK(mentions(half, " is in any at "));
}

TEST_CASE("emulated_grid: what a program throws reaches the caller, and the next run is whole") {
    const auto throwing = [](int, EmulatedWarp& team) {
        (void)team.any(false);
        if (team.member() == 5) throw std::invalid_argument("of member 5");
        (void)team.any(false);
    };
    for (std::uint64_t seed = 0; seed < 8; ++seed)
        CHECK_THROWS_AS(run_warps(1, seed, throwing), std::exception);
    CHECK_THROWS_AS(run_warps(1, 0, [](int, EmulatedWarp&) { throw 1; }), int);
    CHECK_THROWS_AS(run_warps(1, 0, [](int, EmulatedWarp& team) { (void)team.broadcast(1, 32); }),
                    std::out_of_range);

    CHECK(warps_of_lanes(1) == warps_of_lanes(1));
}

// Mistakes for the sanitizers to find; each is a CTest test of its own there.

TEST_CASE("emulated_grid: shared memory read without sync", "[.read_without_sync]") {
    std::vector<double> shared(32, not_set);
    run_warps(1, 1, [&](int, EmulatedWarp& team) {
        const auto own = static_cast<std::size_t>(team.member());
        shared[own] = 1;
        (void)team.any(shared[(own + 1) % 32] > 0);
    });
}

TEST_CASE("emulated_grid: shared memory written before all have read", "[.written_too_soon]") {
    std::vector<double> shared(32, not_set);
    run_warps(1, 1, [&](int, EmulatedWarp& team) {
        const auto own = static_cast<std::size_t>(team.member());
        shared[own] = 1;
        team.sync();
        const double neighbour = shared[(own + 1) % 32];
        (void)team.any(true);  // a vote orders no memory
        shared[own] = neighbour + 1;
    });
}

TEST_CASE("emulated_grid: a sum that every thread adds to", "[.plain_sum]") {
    double sum = 0;
    run_warps(1, 1, [&](int, EmulatedWarp&) { sum += 1; });
}

TEST_CASE("emulated_grid: behind the end of shared memory", "[.past_shared_memory]") {
    const auto shared = std::make_unique<double[]>(32);
    run_warps(1, 1, [&](int, EmulatedWarp& team) { shared.get()[team.member() + 1] = 1; });
}

TEST_CASE("emulated_grid: behind the end of a thread's own array", "[.past_own_array]") {
    run_warps(1, 1, [&](int, EmulatedWarp& team) {
        volatile int own[32] = {};
        team.sync();
        volatile int* const next = own + 1;
        next[team.member()] = 1;
    });
}
