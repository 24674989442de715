#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/equinox_model.hpp"
#include "support/online_cost.hpp"

using eddy::CostGreedy;
using eddy::OnlineTreeverse;
using eddy::Placed;
using eddy::schedule::optimal_evaluations;
using eddy::schedule::optimal_recomputations;
using std::int64_t;
using support::BinomialGap;
using support::for_every_length;
using support::Owned;

namespace {

struct Ratio {
    double mean, worst;
};

// Total evaluations over the optimum, for all n from c + 1 on.
Ratio ratio_to_optimum(int64_t checkpoints, int64_t max_length) {
    double sum = 0, worst = 0;
    for_every_length(Owned<CostGreedy>(checkpoints), checkpoints, max_length, BinomialGap{},
                     [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                         if (n <= checkpoints) return;
                         const double ratio =
                             static_cast<double>(2 * n + recomputed) /
                             static_cast<double>(optimal_evaluations(n, checkpoints));
                         sum += ratio;
                         worst = std::max(worst, ratio);
                     });
    return {sum / static_cast<double>(max_length - checkpoints), worst};
}

constexpr bool first_stores_with_three_slots_are_constant() {
    std::int64_t workspace[15] = {};
    CostGreedy placement(3, workspace);
    // The staircase up to step 7, then evictions.
    const Placed expected[] = {{0, 0}, {1, 1},  {2, 2},  {4, 2}, {5, 1},
                               {7, 1}, {10, 2}, {13, 1}, {16, 1}};
    for (const Placed& placed : expected) {
        if (placement.next() != placed) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("cost_greedy: is a constant expression, so that a device can run it") {
    STATIC_REQUIRE(first_stores_with_three_slots_are_constant());
}

TEST_CASE("cost_greedy: optimal for every n <= (c + 1)(c + 2)/2, c = 1 .. 64") {
    int64_t wrong = 0;
    for (int64_t checkpoints = 1; checkpoints <= 64; ++checkpoints) {
        for_every_length(Owned<CostGreedy>(checkpoints), checkpoints,
                         (checkpoints + 1) * (checkpoints + 2) / 2, BinomialGap{},
                         [&](int64_t n, int64_t recomputed, const std::vector<int64_t>& held) {
                             wrong += recomputed != optimal_recomputations(n, checkpoints);
                             wrong += static_cast<int64_t>(held.size()) > checkpoints;
                         });
    }
    CHECK(wrong == 0);
}

TEST_CASE(
    "cost_greedy: c = 3 .. 64, n <= 100000, mean within 0.8 %, worst within 4.6 % of 2n + E*") {
    for (int64_t checkpoints = 3; checkpoints <= 64; ++checkpoints) {
        const Ratio ratio = ratio_to_optimum(checkpoints, 100'000);
        INFO("c = " << checkpoints);
        CHECK(ratio.mean <= 1.008);
        CHECK(ratio.worst <= 1.046);
    }
}

TEST_CASE("cost_greedy: c = 2, n <= 100000, worst within 10.3 % of 2n + E*") {
    CHECK(ratio_to_optimum(2, 100'000).worst <= 1.103);
}

TEST_CASE("cost_greedy: 16 checkpoints store at most 0.12 states a step over 100000 steps") {
    Owned<CostGreedy> placement(16);
    int64_t stores = 0;
    while (placement.next().step < 100'000) ++stores;
    CHECK(stores <= 12'000);
}

TEST_CASE("cost_greedy: never more evaluations than Equinox's loop, c = 1 .. 64, n <= 10000") {
    constexpr int64_t max_length = 10'000;
    const support::BisectedGap bisected(64, max_length);
    int64_t worse = 0;
    for (int64_t checkpoints = 1; checkpoints <= 64; ++checkpoints) {
        std::vector<int64_t> theirs(max_length + 1);
        for_every_length(support::EquinoxForward(checkpoints), checkpoints, max_length, bisected,
                         [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                             theirs[static_cast<std::size_t>(n)] = recomputed;
                         });
        for_every_length(Owned<CostGreedy>(checkpoints), checkpoints, max_length, BinomialGap{},
                         [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                             worse += recomputed > theirs[static_cast<std::size_t>(n)];
                         });
    }
    CHECK(worse == 0);
}

TEST_CASE("online_treeverse: stores what the model of the published loop stores, slot by slot") {
    for (const int64_t checkpoints : {1, 2, 3, 4, 7, 16}) {
        Owned<OnlineTreeverse> placement(checkpoints);
        support::EquinoxForward model(checkpoints);
        bool same = true;
        for (int i = 0; i < 1000; ++i) same = same && placement.next() == model.next();
        INFO("c = " << checkpoints);
        CHECK(same);
    }
}

TEST_CASE("online_treeverse: optimal for every n < (c + 1)(c + 2)/2, c = 1 .. 32") {
    int64_t wrong = 0;
    for (int64_t checkpoints = 1; checkpoints <= 32; ++checkpoints) {
        for_every_length(Owned<OnlineTreeverse>(checkpoints), checkpoints,
                         (checkpoints + 1) * (checkpoints + 2) / 2 - 1, BinomialGap{},
                         [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                             wrong += recomputed != optimal_recomputations(n, checkpoints);
                         });
    }
    CHECK(wrong == 0);
}

TEST_CASE("cost_greedy: of 12,000 loops none evaluates more than under online_treeverse") {
    // c = 1 .. 12, n = 1 .. 1000.
    int64_t more = 0, fewer = 0;
    for (int64_t checkpoints = 1; checkpoints <= 12; ++checkpoints) {
        support::for_both_placements(checkpoints, 1000, [&](int64_t ours, int64_t published) {
            more += ours > published;
            fewer += ours < published;
        });
    }
    CHECK(more == 0);
    CHECK(fewer > 7000);
}
