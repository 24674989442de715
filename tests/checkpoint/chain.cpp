#include <algorithm>
#include <cstdint>
#include <eddy/checkpoint/chain.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/schedule.hpp>
#include <limits>
#include <random>

#include "support/catch.hpp"
#include "support/schedule_executor.hpp"
#include "support/schedule_search.hpp"

using eddy::chain_actions;
using eddy::chain_cost;
using eddy::ChainStep;

namespace {

// The most bytes stored at once.
std::int64_t peak_bytes(const eddy::ActionList& actions, const std::vector<ChainStep>& steps) {
    std::int64_t held = 0, peak = 0;
    for (const eddy::Action& action : actions) {
        const auto step = static_cast<std::size_t>(action.last);
        if (action.kind == eddy::ActionKind::write) held += steps[step].state_bytes;
        if (action.kind == eddy::ActionKind::discard) held -= steps[step].state_bytes;
        peak = std::max(peak, held);
    }
    return peak;
}

std::vector<ChainStep> random_chain(std::mt19937& random, std::size_t length, int largest) {
    std::vector<ChainStep> steps(length);
    for (ChainStep& step : steps) {
        step.time = static_cast<double>(random() % 9) / 4;
        step.state_bytes = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(largest));
    }
    return steps;
}

}  // namespace

TEST_CASE("chain: a uniform chain costs length + E*") {
    for (std::size_t length : {1u, 2u, 3u, 5u, 10u, 33u, 60u}) {
        for (std::int64_t slots : {1, 2, 3, 5, 8, 100}) {
            const std::vector<ChainStep> steps(length, ChainStep{.time = 1, .state_bytes = 7});
            const auto n = static_cast<std::int64_t>(length);

            CHECK(chain_cost(steps, {.memory_bytes = 7 * slots + 6}) ==
                  static_cast<double>(n + eddy::schedule::optimal_recomputations(n, slots)));
        }
    }
}

TEST_CASE("chain: no legal schedule of a short chain with persistent checkpoints is cheaper") {
    std::mt19937 random(3);
    for (int repetition = 0; repetition < 300; ++repetition) {
        const std::vector<ChainStep> steps = random_chain(random, 1 + random() % 7, 4);
        const std::int64_t budget = steps[0].state_bytes + static_cast<std::int64_t>(random() % 9);
        support::SearchProblem problem{
            .step_costs = {}, .sizes = {}, .tiers = {{budget}}, .persistent = true};
        for (const ChainStep& step : steps) {
            problem.step_costs.push_back(step.time);
            problem.sizes.push_back(step.state_bytes);
        }

        INFO("repetition " << repetition << ", " << steps.size() << " steps");
        CHECK(chain_cost(steps, {.memory_bytes = budget}) == support::least_cost(problem));
    }
}

TEST_CASE("chain: every schedule is valid, within its budget, and costs what the recursion says") {
    std::mt19937 random(5);
    for (std::size_t length : {1u, 2u, 5u, 20u, 60u}) {
        for (std::int64_t budget : {1000, 1500, 5000, 100'000}) {
            for (std::int64_t units : {20, 500}) {
                const std::vector<ChainStep> steps = random_chain(random, length, 1000);
                const eddy::ChainOptions options{.memory_bytes = budget, .memory_units = units};

                const eddy::ActionList actions = chain_actions(steps, options);
                const auto n = static_cast<std::int64_t>(length);
                support::ScheduleChecker checker(n, {n});

                INFO("length " << length << ", budget " << budget << ", units " << units);
                CHECK(checker.accepts(actions));
                CHECK(checker.violation == "");
                CHECK(peak_bytes(actions, steps) <= budget);
                CHECK(eddy::chain_time(actions, steps) == chain_cost(steps, options));
            }
        }
    }
}

TEST_CASE("chain: it avoids running a costly step again, which the binomial schedule does not") {
    std::vector<ChainStep> steps(20, ChainStep{.time = 1, .state_bytes = 1});
    steps[10].time = 100;

    const double cost = chain_cost(steps, {.memory_bytes = 2});

    // One of the two slots goes after the costly step: it runs once more at most where nothing
    // else would do.
    const std::vector<ChainStep> uniform(20, ChainStep{.time = 1, .state_bytes = 1});
    const double binomial = eddy::chain_time(chain_actions(uniform, {.memory_bytes = 2}), steps);
    CHECK(cost < binomial);
}

TEST_CASE("chain: bad arguments are refused") {
    const std::vector<ChainStep> steps{{1, 10}, {1, 10}};
    CHECK_THROWS_AS(chain_actions(steps, {.memory_bytes = 9}), eddy::InvalidArgument);
    CHECK_THROWS_AS(chain_actions(steps, {.memory_bytes = -1}), eddy::InvalidArgument);
    CHECK_THROWS_AS(chain_actions(steps, {.memory_bytes = 20, .memory_units = 0}),
                    eddy::InvalidArgument);
    CHECK_THROWS_AS(chain_cost(std::vector<ChainStep>{{-1, 1}}, {.memory_bytes = 9}),
                    eddy::InvalidArgument);
    CHECK_THROWS_AS(chain_cost(std::vector<ChainStep>(20'000), {.memory_bytes = 90}),
                    eddy::InvalidArgument);
    // Times that are or add up to infinity; sizes whose sum is beyond an integer.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(chain_cost(std::vector<ChainStep>{{infinity, 1}}, {.memory_bytes = 9}),
                    eddy::InvalidArgument);
    CHECK_THROWS_AS(chain_cost(std::vector<ChainStep>(2, {1e308, 1}), {.memory_bytes = 9}),
                    eddy::InvalidArgument);
    CHECK(chain_cost(std::vector<ChainStep>(3, {1, INT64_MAX / 2}), {.memory_bytes = INT64_MAX}) ==
          4);
    CHECK(chain_actions({}, {}).empty());
    CHECK(chain_cost({}, {}) == 0);
}
