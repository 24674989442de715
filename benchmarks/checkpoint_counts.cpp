// Evaluations of a gradient (each step advanced once, again where nothing was kept, and taped
// once), as Markdown: what the default online placement makes, what a known length needs, what
// Equinox's loop makes (a model of it), the optimum. Then the default placement against the optimum
// over all n to 100,000, and the states it stores. Last the steps that it advances for that of a known
// length, over all of 3 to 64 checkpoints, and how often it evaluates more than online_treeverse.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <vector>

#include "support/equinox_model.hpp"
#include "support/online_cost.hpp"

namespace {

using std::int64_t;

struct Counter {
    double advance(double x, int64_t) const { return x; }
    double pullback(double, int64_t, double cotangent) { return cotangent; }
};

using Loop = eddy::CheckpointedLoop<double, Counter>;

// Counted by running it.
int64_t evaluations(Loop loop, int64_t length) {
    loop.run(0.0, [length](double, int64_t step) { return step < length; });
    (void)loop.reverse(1.0);
    return loop.counters().advances + loop.counters().pullbacks;
}

// Counted by the cost of its gaps: with two slots it makes 1.7e9 evaluations for 100,000 steps.
int64_t equinox_evaluations(int64_t checkpoints, int64_t length, const support::BisectedGap& gap) {
    int64_t total = 0;
    support::for_every_length(support::EquinoxForward(checkpoints), checkpoints, length, gap,
                              [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                                  total = 2 * n + recomputed;
                              });
    return total;
}

void print_counts(const support::BisectedGap& gap) {
    std::printf(
        "| checkpoints | steps | eddy, length unknown | eddy, length known | Equinox | optimum "
        "|\n");
    std::printf("|---:|---:|---:|---:|---:|---:|\n");
    for (const int64_t checkpoints : {2, 4, 8, 16, 32, 64}) {
        for (const int64_t length : {100, 1'000, 10'000, 100'000}) {
            const int64_t online = evaluations(Loop({}, {.checkpoints = checkpoints}), length);
            const int64_t offline =
                evaluations(Loop({}, {.checkpoints = checkpoints, .length = length}), length);
            const int64_t equinox = equinox_evaluations(checkpoints, length, gap);
            std::printf(
                "| %lld | %lld | %lld | %lld | %lld | %lld |\n",
                static_cast<long long>(checkpoints), static_cast<long long>(length),
                static_cast<long long>(online), static_cast<long long>(offline),
                static_cast<long long>(equinox),
                static_cast<long long>(eddy::schedule::optimal_evaluations(length, checkpoints)));
        }
    }
}

void print_ratios(int64_t max_length) {
    std::printf(
        "\n| checkpoints | mean over the optimum | worst | at step | stores a step "
        "|\n|---:|---:|---:|---:|---:|\n");
    for (int64_t checkpoints = 2; checkpoints <= 64; checkpoints += checkpoints < 8 ? 1 : 8) {
        double sum = 0, worst = 0;
        int64_t worst_length = 0, stores = 0, latest = -1;
        support::for_every_length(
            support::Owned<eddy::CostGreedy>(checkpoints), checkpoints, max_length,
            support::BinomialGap{},
            [&](int64_t n, int64_t recomputed, const std::vector<int64_t>& held) {
                stores += held.back() != latest;
                latest = held.back();
                if (n <= checkpoints) return;
                const double ratio =
                    static_cast<double>(2 * n + recomputed) /
                    static_cast<double>(eddy::schedule::optimal_evaluations(n, checkpoints));
                sum += ratio;
                if (ratio > worst) worst_length = n;
                worst = std::max(worst, ratio);
            });
        std::printf("| %lld | %.4f | %.4f | %lld | %.3f |\n", static_cast<long long>(checkpoints),
                    sum / static_cast<double>(max_length - checkpoints), worst,
                    static_cast<long long>(worst_length),
                    static_cast<double>(stores) / static_cast<double>(max_length));
    }
}

void print_advances(int64_t max_length) {
    double highest_mean = 0, worst = 0;
    int64_t worst_checkpoints = 0, worst_length = 0;
    for (int64_t checkpoints = 3; checkpoints <= 64; ++checkpoints) {
        double sum = 0;
        support::for_every_length(
            support::Owned<eddy::CostGreedy>(checkpoints), checkpoints, max_length,
            support::BinomialGap{},
            [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                const int64_t known = n + eddy::schedule::optimal_recomputations(n, checkpoints);
                const double ratio =
                    static_cast<double>(n + recomputed) / static_cast<double>(known);
                sum += ratio;
                if (ratio <= worst) return;
                worst = ratio;
                worst_checkpoints = checkpoints;
                worst_length = n;
            });
        highest_mean = std::max(highest_mean, sum / static_cast<double>(max_length));
    }
    std::printf(
        "\nSteps advanced over those of a known length: on average at most %.4f, at worst %.4f "
        "(%lld "
        "checkpoints, %lld steps)\n",
        highest_mean, worst, static_cast<long long>(worst_checkpoints),
        static_cast<long long>(worst_length));
}

void print_published(int64_t most_checkpoints, int64_t max_length) {
    int64_t loops = 0, more = 0;
    double worst = 1;
    for (int64_t checkpoints = 1; checkpoints <= most_checkpoints; ++checkpoints) {
        support::for_both_placements(checkpoints, max_length, [&](int64_t ours, int64_t published) {
            ++loops;
            more += ours > published;
            worst = std::max(worst, static_cast<double>(ours) / static_cast<double>(published));
        });
    }
    std::printf(
        "Of %lld loops of at most %lld checkpoints and %lld steps %lld evaluate more than under "
        "online_treeverse, at worst %.4f times as often\n",
        static_cast<long long>(loops), static_cast<long long>(most_checkpoints),
        static_cast<long long>(max_length), static_cast<long long>(more), worst);
}

}  // namespace

int main() {
    constexpr int64_t max_length = 100'000;
    print_counts(support::BisectedGap(64, max_length));
    print_ratios(max_length);
    print_advances(max_length);
    print_published(12, 1'000);
    print_published(64, max_length);
}
