#include <eddy/core/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

using namespace eddy::schedule;
using std::int64_t;

namespace {

// cost[slots][length] by trying every split: the definition, with no closed form in it.
using Table = std::vector<std::vector<int64_t>>;

// t(length, slots) = min over m of m + t(length - m, slots - 1) + t(m, slots).
Table untaped_by_dynamic_program(std::size_t max_slots, std::size_t max_length) {
    Table cost(max_slots + 1, std::vector<int64_t>(max_length + 1, 0));
    for (std::size_t length = 2; length <= max_length; ++length) {
        cost[1][length] = static_cast<int64_t>(length * (length - 1) / 2);
    }
    for (std::size_t slots = 2; slots <= max_slots; ++slots) {
        for (std::size_t length = 2; length <= max_length; ++length) {
            const int64_t* rest = cost[slots - 1].data() + length;
            const int64_t* left = cost[slots].data();
            int64_t best = cost[1][length];
            for (std::size_t m = 1; m < length; ++m) {
                best = std::min(best, static_cast<int64_t>(m) + *(rest - m) + left[m]);
            }
            cost[slots][length] = best;
        }
    }
    return cost;
}

// E*(length, c) = min over the first gap l of t(l, c) + E*(length - l, c - 1).
Table recomputed_by_dynamic_program(const Table& untaped) {
    Table cost(untaped.size(), std::vector<int64_t>(untaped[1].size(), 0));
    cost[1] = untaped[1];
    for (std::size_t slots = 2; slots < cost.size(); ++slots) {
        for (std::size_t length = 1; length < cost[1].size(); ++length) {
            const int64_t* rest = cost[slots - 1].data() + length;
            int64_t best = untaped[slots][length];
            for (std::size_t gap = 1; gap < length; ++gap) {
                best = std::min(best, untaped[slots][gap] + *(rest - gap));
            }
            cost[slots][length] = best;
        }
    }
    return cost;
}

// What the layout and the splits cost when they are carried out.
int64_t cost_of_layout(int64_t length, int64_t checkpoints, const Table& untaped) {
    int64_t positions[64];
    const int64_t count = offline_layout(length, checkpoints, positions);
    int64_t cost = 0;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t end = i + 1 < count ? positions[i + 1] : length;
        cost += untaped[static_cast<std::size_t>(checkpoints - i)]
                       [static_cast<std::size_t>(end - positions[i])];
    }
    return cost;
}

}  // namespace

TEST_CASE(
    "schedule: for all 1 <= c <= 64, n <= 2000, closed forms, splits and layouts are optimal") {
    const Table untaped = untaped_by_dynamic_program(64, 2000);
    const Table recomputed = recomputed_by_dynamic_program(untaped);
    int64_t wrong = 0;

    for (int64_t slots = 1; slots <= 64; ++slots) {
        const auto s = static_cast<std::size_t>(slots);
        for (int64_t length = 1; length <= 2000; ++length) {
            const auto l = static_cast<std::size_t>(length);
            const auto m = static_cast<std::size_t>(split(length, slots));
            const int64_t by_split =
                m == 0 ? length * (length - 1) / 2
                       : split(length, slots) + untaped[s - 1][l - m] + untaped[s][m];
            wrong += untaped_advances(length, slots) != untaped[s][l];
            wrong += by_split != untaped[s][l];
            wrong += optimal_recomputations(length, slots) != recomputed[s][l];
            wrong += cost_of_layout(length, slots, untaped) != recomputed[s][l];
        }
    }

    CHECK(wrong == 0);
}

TEST_CASE("schedule: optimal recomputation counts agree with published tables") {
    STATIC_REQUIRE(optimal_recomputations(5, 3) == 2);
    STATIC_REQUIRE(optimal_recomputations(100, 2) == 758);
    STATIC_REQUIRE(optimal_recomputations(100'000, 4) == 2'850'639);
    STATIC_REQUIRE(optimal_recomputations(100'000, 64) == 249'888);
}

TEST_CASE(
    "schedule: recomputations are the cheapest steps, each paid its repetition, for n = 1000000") {
    for (const int64_t checkpoints : {1, 2, 3, 16, 64}) {
        const int64_t length = 1'000'000;
        int64_t cost = 0;
        int64_t left = length;
        for (int64_t r = 0; left > 0; ++r) {
            int64_t steps = 0;  // that can cost r each: sum over s of beta(s, r) - beta(s, r - 1)
            for (int64_t s = 1; s <= checkpoints; ++s) steps += beta(s, r) - beta(s, r - 1);
            steps = std::min(steps, left);
            cost += r * steps;
            left -= steps;
        }

        CHECK(optimal_recomputations(length, checkpoints) == cost);
    }
}

TEST_CASE("schedule: beta saturates instead of overflowing") {
    STATIC_REQUIRE(beta(2, 3) == 10);
    STATIC_REQUIRE(beta(33, 33) == 7'219'428'434'016'265'740);
    STATIC_REQUIRE(beta(34, 34) == unbounded);
    STATIC_REQUIRE(beta(2, 3'000'000'000) == 4'500'000'004'500'000'001);
    STATIC_REQUIRE(beta(unbounded, unbounded) == unbounded);
    STATIC_REQUIRE(untaped_advances(unbounded, 1) == unbounded);
    STATIC_REQUIRE(repetition_number(unbounded, 2) > 0);
}
