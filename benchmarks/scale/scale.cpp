// What bounds a gradient of 10^8 trajectories on 100, 1,000 and 10,000 ranks: the model of support/rank_model.hpp, whose
// messages, bytes and sums kept test_ranks compares with those of 1 to 4 ranks. Prints the tables of
// docs/design/many_machines.md.

#include <cmath>
#include <cstdio>
#include <eddy/solve/ranks/rank_rows.hpp>
#include <random>

#include "support/rank_model.hpp"

namespace {

constexpr double seconds_per_lane = 1e-6;

/// The work of each rank, rows divided by count in multiples of `leaf`. The sum of costs that vary by `spread` (their
/// standard deviation over their mean), in random order, is normal.
std::vector<support::RankWork> divided(std::int64_t lanes, int ranks, std::int64_t leaf,
                                       double spread) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<support::RankWork> work(static_cast<std::size_t>(ranks));
    const std::int64_t leaves = (lanes + leaf - 1) / leaf;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const std::int64_t first = std::min(lanes, leaves * rank / ranks * leaf),
                           end = std::min(lanes, leaves * (rank + 1) / ranks * leaf);
        const auto count = static_cast<double>(end - first);
        const double cost = count + spread * std::sqrt(count) * normal(random);
        work[static_cast<std::size_t>(rank)] = {end - first, cost * seconds_per_lane};
    }
    return work;
}

double efficiency(std::int64_t lanes, int ranks, std::int64_t leaf, std::int64_t columns,
                  double spread) {
    const support::RankModel call(divided(lanes, ranks, leaf, spread), leaf, columns);
    return static_cast<double>(lanes) * seconds_per_lane / ranks / call.seconds();
}

}  // namespace

int main() {
    constexpr std::int64_t lanes = 100'000'000, loss = 3;
    const int ranks[] = {100, 1000, 10'000};
    std::printf("%lld trajectories, 1 us each; 1.5 us a message, 10 GB/s\n",
                static_cast<long long>(lanes));
    std::printf("%-62s %10s %10s %10s\n", "efficiency", "100", "1,000", "10,000 ranks");
    const auto row = [&](const char* what, const auto& of) {
        std::printf("%-62s", what);
        for (const int count : ranks) std::printf(" %10.4f", of(count));
        std::printf("\n");
    };
    row("60 parameters, equal costs",
        [&](int r) { return efficiency(lanes, r, 64, loss + 60, 0); });
    row("60 parameters, costs of spread 1",
        [&](int r) { return efficiency(lanes, r, 64, loss + 60, 1); });
    row("100 parameters, groups of 1,536, equal costs",
        [&](int r) { return efficiency(lanes, r, 1536, loss + 100, 0); });
    row("100 parameters, groups of 1,536, costs of spread 1",
        [&](int r) { return efficiency(lanes, r, 1536, loss + 100, 1); });
    row("100,000 parameters, groups of 1,536, equal costs",
        [&](int r) { return efficiency(lanes, r, 1536, loss + 100'000, 0); });

    std::printf(
        "\nweak scaling: 10,000 trajectories a rank (100 parameters), 100,000, and with the work "
        "of 6 groups\n");
    row("10,000 a rank, costs of spread 1",
        [&](int r) { return efficiency(10'000LL * r, r, 1536, loss + 100, 1); });
    row("9,216 a rank, six groups, costs of spread 1",
        [&](int r) { return efficiency(9'216LL * r, r, 1536, loss + 100, 1); });
    row("100,000 a rank, costs of spread 1",
        [&](int r) { return efficiency(100'000LL * r, r, 1536, loss + 100, 1); });

    std::printf("\na call of 60 parameters\n");
    const auto counted = [&](const char* what, const auto& of) {
        std::printf("%-62s", what);
        for (const int count : ranks) {
            const support::RankModel call(divided(lanes, count, 64, 0), 64, loss + 60);
            std::printf(" %10lld", static_cast<long long>(of(call)));
        }
        std::printf("\n");
    };
    counted("messages in all", [](const auto& call) { return call.traffic().messages; });
    counted("messages of one rank, at most", [](const auto& call) { return call.most_messages(); });
    counted("kB in all", [](const auto& call) { return call.traffic().bytes / 1000; });
    counted("sums kept by one rank, at most",
            [](const auto& call) { return call.traffic().most_rows; });
}
