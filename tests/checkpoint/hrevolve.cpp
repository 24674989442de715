#include <algorithm>
#include <cstdint>
#include <eddy/checkpoint/hrevolve.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/schedule.hpp>
#include <limits>
#include <random>

#include "support/catch.hpp"
#include "support/schedule_executor.hpp"
#include "support/schedule_search.hpp"

using eddy::hrevolve_actions;
using eddy::hrevolve_cost;
using eddy::HRevolveOptions;
using eddy::StorageTier;
using support::ScheduleChecker;

namespace {

std::vector<std::int64_t> slots(const HRevolveOptions& options) {
    std::vector<std::int64_t> limits;
    for (const StorageTier& tier : options.tiers) limits.push_back(tier.slots);
    return limits;
}

double searched_cost(int length, const HRevolveOptions& options) {
    support::SearchProblem problem{
        .step_costs = std::vector<double>(std::size_t(length), options.step_cost),
        .sizes = {},
        .tiers = {},
        .output_first = !options.joint};
    for (const StorageTier& tier : options.tiers)
        problem.tiers.push_back({tier.slots, tier.write_cost, tier.read_cost});
    return support::least_cost(problem);
}

}  // namespace

TEST_CASE("hrevolve: every schedule is valid and costs what the recursion says") {
    for (bool joint : {false, true}) {
        for (std::int64_t length : {0, 1, 2, 3, 5, 10, 33, 100}) {
            for (std::int64_t fast : {0, 1, 2, 5}) {
                for (std::int64_t slow : {0, 1, 3, 8}) {
                    if (fast + slow == 0) continue;
                    const HRevolveOptions options{.tiers = {{fast, 0.25, 0.125}, {slow, 2, 3}},
                                                  .step_cost = 1,
                                                  .joint = joint};

                    const eddy::ActionList actions = hrevolve_actions(length, options);
                    ScheduleChecker checker(length, slots(options), !joint);

                    INFO("length " << length << ", slots " << fast << " + " << slow);
                    INFO(eddy::to_string(actions));
                    CHECK(checker.accepts(actions));
                    CHECK(checker.violation == "");
                    CHECK(eddy::schedule_cost(actions, options.tiers) ==
                          hrevolve_cost(length, options));
                }
            }
        }
    }
}

TEST_CASE("hrevolve: no legal schedule of a short run is cheaper") {
    std::mt19937 random(1);
    const auto below = [&random](unsigned bound) { return static_cast<int>(random() % bound); };
    for (int repetition = 0; repetition < 300; ++repetition) {
        const int length = 1 + below(6);
        const auto costs = std::minmax({below(9) / 4., below(17) / 4.});
        const auto reads = std::minmax({below(9) / 4., below(17) / 4.});
        const HRevolveOptions options{.tiers = {{below(3), costs.first, reads.first},
                                                {1 + below(2), costs.second, reads.second}},
                                      .joint = below(2) == 0};

        const eddy::ActionList actions = hrevolve_actions(length, options);

        INFO("repetition " << repetition << ", length " << length << '\n'
                           << eddy::to_string(actions));
        CHECK(eddy::schedule_cost(actions, options.tiers) == searched_cost(length, options));
    }
}

TEST_CASE("hrevolve: one tier without costs is Revolve") {
    for (std::int64_t length : {1, 2, 3, 5, 17, 60, 200}) {
        for (std::int64_t slots : {1, 2, 3, 5, 8, 30}) {
            const double revolve =
                static_cast<double>(eddy::schedule::untaped_advances(length, slots));
            const double loop =
                static_cast<double>(length + eddy::schedule::optimal_recomputations(length, slots));

            INFO("length " << length << ", slots " << slots);
            CHECK(hrevolve_cost(length, {.tiers = {{slots}}, .joint = true}) == revolve);
            CHECK(hrevolve_cost(length, {.tiers = {{slots}}}) == loop);
            CHECK(hrevolve_cost(length, {.tiers = {{slots - 1}, {1}}}) == loop);
        }
    }
}

TEST_CASE("hrevolve: three tiers are used where each pays") {
    const HRevolveOptions options{.tiers = {{2, 0, 0}, {2, 1, 1}, {20, 8, 8}}};

    const eddy::ActionList actions = hrevolve_actions(200, options);
    ScheduleChecker checker(200, {2, 2, 20});

    CHECK(checker.accepts(actions));
    CHECK(checker.violation == "");
    for (std::int64_t writes : eddy::count_actions(actions).writes) CHECK(writes > 0);
    CHECK(hrevolve_cost(200, options) < hrevolve_cost(200, {.tiers = {{2, 0, 0}, {2, 1, 1}}}));
}

TEST_CASE("hrevolve: bad arguments are refused") {
    CHECK_THROWS_AS(hrevolve_cost(-1, {.tiers = {{1}}}), eddy::InvalidArgument);
    CHECK_THROWS_AS(hrevolve_cost(3, {}), eddy::InvalidArgument);
    CHECK_THROWS_AS(hrevolve_cost(3, {.tiers = {{0}, {0}}}), eddy::InvalidArgument);
    CHECK_THROWS_AS(hrevolve_cost(3, {.tiers = {{1, -1, 0}}}), eddy::InvalidArgument);
    CHECK(hrevolve_actions(0, {}).empty());
    CHECK_THROWS_AS(hrevolve_cost(3, {.tiers = {{-1}, {1}}}), eddy::InvalidArgument);
    CHECK_THROWS_AS(hrevolve_cost(3, {.tiers = std::vector<eddy::StorageTier>(1000, {1})}),
                    eddy::InvalidArgument);
}

TEST_CASE("hrevolve: costs that no schedule can have are refused") {
    // The search for a schedule never ended where all cost infinity.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(hrevolve_actions(3, {.tiers = {{1, infinity, 0}}}), eddy::InvalidArgument);
    CHECK_THROWS_AS(hrevolve_actions(3, {.tiers = {{1}}, .step_cost = infinity}),
                    eddy::InvalidArgument);
    CHECK_THROWS_AS(hrevolve_actions(3, {.tiers = {{1}}, .step_cost = 1e308}),
                    eddy::InvalidArgument);
    // A tier that costs infinity is left alone.
    CHECK(hrevolve_cost(20, {.tiers = {{2}, {INT64_MAX, infinity, 0}}}) ==
          hrevolve_cost(20, {.tiers = {{2}}}));
    CHECK(hrevolve_cost(20, {.tiers = {{INT64_MAX}, {INT64_MAX, 1, 1}}}) ==
          hrevolve_cost(20, {.tiers = {{20}}}));
}
