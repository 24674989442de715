#include <algorithm>
#include <cstdint>
#include <eddy/checkpoint/stage_plan.hpp>
#include <eddy/core/error.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/golden_plans.hpp"

using eddy::ChainCosts;
using eddy::StageAction;
using eddy::StageActionKind;
using eddy::StageCost;
using eddy::StageOption;
using eddy::StagePlan;
using support::next;

namespace {

struct GoldenChain {
    ChainCosts costs;
    std::int64_t budget, least_budget, budget_of_least_time, peak;
    double least_time, time;  // time < 0: nothing fits
    std::vector<eddy::BudgetPoint> points;
};

std::vector<GoldenChain> golden_chains() {
    std::vector<GoldenChain> chains;
    auto numbers = support::golden_plans("chains.txt");
    for (std::size_t stages; numbers >> stages;) {
        GoldenChain& chain = chains.emplace_back();
        chain.budget = next(numbers);
        chain.least_budget = next(numbers);
        chain.least_time = next<double>(numbers);
        chain.budget_of_least_time = next(numbers);
        chain.time = next<double>(numbers);
        chain.peak = next(numbers);
        chain.points.resize(static_cast<std::size_t>(next(numbers)));
        for (auto& point : chain.points) numbers >> point.bytes >> point.time;
        chain.costs.stages.resize(stages);
        for (StageCost& stage : chain.costs.stages) numbers >> stage.state_bytes;
        numbers >> chain.costs.output_bytes;
        for (StageCost& stage : chain.costs.stages) numbers >> stage.cotangent_bytes;
        numbers >> chain.costs.output_cotangent_bytes;
        for (StageCost& stage : chain.costs.stages) {
            numbers >> stage.time >> stage.transient;
            stage.options.resize(static_cast<std::size_t>(next(numbers)));
            for (StageOption& option : stage.options) {
                numbers >> option.record_time >> option.pullback_time >> option.residual_bytes >>
                    option.record_transient >> option.pullback_transient >> option.reads_input >>
                    option.reads_output;
            }
            if (next(numbers) != 0) {
                stage.direct.emplace();
                numbers >> stage.direct->time >> stage.direct->transient;
            }
        }
    }
    return chains;
}

/// Carries a plan out in numbers, and checks that everything is there when it is needed.
struct Replay {
    const ChainCosts& costs;
    std::set<int> kept{0};
    std::vector<int> recorded;  // (stage) the option, -1: not
    int position;               // the cotangent in hand is that of this value
    double time = 0;
    std::int64_t peak = 0;
    bool valid = true;

    explicit Replay(const ChainCosts& chain)
        : costs(chain),
          recorded(chain.stages.size(), -1),
          position(static_cast<int>(chain.stages.size())) {}

    const StageCost& stage(int i) const { return costs.stages[static_cast<std::size_t>(i)]; }
    int& option(int i) { return recorded[static_cast<std::size_t>(i)]; }
    const StageOption& recorded_option(int i) {
        return stage(i).options[static_cast<std::size_t>(option(i))];
    }
    bool is_last(int i) const { return static_cast<std::size_t>(i) == costs.stages.size(); }
    std::int64_t size(int i) const {
        return is_last(i) ? costs.output_bytes : stage(i).state_bytes;
    }
    std::int64_t cotangent(int i) const {
        const std::int64_t bytes =
            is_last(i) ? costs.output_cotangent_bytes : stage(i).cotangent_bytes;
        return bytes < 0 ? size(i) : bytes;
    }
    std::set<int> held() {
        std::set<int> values = kept;
        for (int i = 0; !is_last(i); ++i) {
            if (option(i) < 0) continue;
            if (recorded_option(i).reads_input) values.insert(i);
            if (recorded_option(i).reads_output) values.insert(i + 1);
        }
        return values;
    }
    std::int64_t alive() {
        std::int64_t bytes = cotangent(position);
        for (int i : held()) bytes += size(i);
        for (int i = 0; !is_last(i); ++i)
            if (option(i) >= 0) bytes += recorded_option(i).residual_bytes;
        return bytes;
    }
    void need(std::int64_t more) { peak = std::max(peak, alive() + more); }
    void require(bool holds) { valid = valid && holds; }

    void act(const StageAction& action) {
        const int i = action.stage;
        switch (action.kind) {
            case StageActionKind::advance:
                require(held().count(i) == 1);
                need(size(i + 1) + stage(i).transient);
                kept.insert(i + 1);
                time += stage(i).time;
                break;
            case StageActionKind::record:
                require(held().count(i) == 1 && option(i) < 0);
                {
                    const StageOption& way =
                        stage(i).options[static_cast<std::size_t>(action.option)];
                    need(way.residual_bytes + size(i + 1) + way.record_transient);
                    time += way.record_time;
                }
                option(i) = action.option;
                kept.insert(i + 1);
                break;
            case StageActionKind::pullback:
                require(option(i) >= 0 && position == i + 1);
                need(cotangent(i) + recorded_option(i).pullback_transient);
                time += recorded_option(i).pullback_time;
                option(i) = -1;
                position = i;
                break;
            case StageActionKind::direct:
                require(held().count(i) == 1 && position == i + 1);
                need(cotangent(i) + stage(i).direct->transient);
                time += stage(i).direct->time;
                position = i;
                break;
            case StageActionKind::free: kept.erase(i); break;
        }
    }
};

Replay replayed(const StagePlan& plan, const ChainCosts& costs) {
    Replay replay(costs);
    for (const StageAction& action : plan.actions) replay.act(action);
    return replay;
}

ChainCosts random_chain(std::mt19937& random, std::size_t length) {
    std::uniform_real_distribution<double> exponent(4, 6);
    const auto bytes = [&] { return static_cast<std::int64_t>(std::pow(10, exponent(random))); };
    ChainCosts costs;
    for (std::size_t i = 0; i < length; ++i) {
        const double time = static_cast<double>(bytes());
        costs.stages.push_back(
            {.time = time,
             .state_bytes = i == 0 ? 0 : bytes(),
             .options = {{.record_time = time, .pullback_time = time, .residual_bytes = bytes()}}});
    }
    costs.output_bytes = 0;
    return costs;
}

}  // namespace

// rows 64, 63: stages that may keep their residuals
TEST_CASE("plan: time, peak and validity equal the golden chains") {
    for (const GoldenChain& chain : golden_chains()) {
        if (chain.time < 0) {
            CHECK_THROWS_WITH(eddy::plan(chain.costs, {.memory_bytes = chain.budget}),
                              support::contains("no plan of these") &&
                                  support::contains("than " + std::to_string(chain.least_budget)));
            continue;
        }
        const StagePlan plan = eddy::plan(chain.costs, {.memory_bytes = chain.budget});
        CHECK(plan.time == chain.time);
        CHECK(plan.peak_bytes == chain.peak);
        CHECK(plan.least_bytes == chain.least_budget);
        CHECK(plan.curve.back().bytes <= chain.budget);

        Replay replay = replayed(plan, chain.costs);
        CHECK(replay.valid);
        CHECK(replay.position == 0);
        CHECK(replay.time == chain.time);
        CHECK(replay.peak == chain.peak);
    }
}

TEST_CASE("plan: without a budget the curve has every budget of the golden chains") {
    for (const GoldenChain& chain : golden_chains()) {
        const StagePlan plan = eddy::plan(chain.costs, {.most_points = 0});
        CHECK(plan.time == chain.least_time);
        CHECK(plan.peak_bytes == chain.budget_of_least_time);
        CHECK(plan.least_bytes == chain.least_budget);
        for (const eddy::BudgetPoint& point : chain.points) {
            CHECK(std::ranges::any_of(plan.curve, [&](const eddy::BudgetPoint& found) {
                return found.bytes == point.bytes && found.time == point.time;
            }));
        }
    }
}

TEST_CASE("plan: 100 stages are planned exactly, and with 1000 points to the same time") {
    std::mt19937 random(11);
    const ChainCosts costs = random_chain(random, 100);
    std::int64_t all = 0;
    for (const StageCost& stage : costs.stages) all += stage.options[0].residual_bytes;

    const StagePlan thinned = eddy::plan(costs, {.memory_bytes = all * 3 / 10});
    const StagePlan exact = eddy::plan(costs, {.memory_bytes = all * 3 / 10, .most_points = 0});

    Replay replay = replayed(exact, costs);
    CHECK(replay.valid);
    CHECK(replay.peak == exact.peak_bytes);
    CHECK(exact.peak_bytes <= all * 3 / 10);
    CHECK(thinned.time >= exact.time);
    CHECK(thinned.time <= 1.001 * exact.time);
    CHECK(thinned.least_bytes == exact.least_bytes);
}

TEST_CASE("plan: says what is kept of each stage between the passes") {
    const StageOption copy{.record_time = 1, .residual_bytes = 3};
    const ChainCosts costs{.stages = {{.state_bytes = 0, .options = {copy}},
                                      {.state_bytes = 1, .options = {copy}},
                                      {.state_bytes = 1, .options = {copy}}},
                           .output_bytes = 0};

    using eddy::KeptOfStage;
    const auto all = std::vector(3, KeptOfStage::residuals);
    CHECK(eddy::plan(costs).kept == all);
    CHECK(eddy::plan(costs).time == 3);
    const StagePlan least = eddy::plan(costs, {.memory_bytes = 6});
    CHECK(least.kept ==
          std::vector{KeptOfStage::input, KeptOfStage::input, KeptOfStage::residuals});
    CHECK(least.time == 5);
}

TEST_CASE("plan: refuses what is no chain in a sentence") {
    const auto says = [](const char* text) { return support::contains(text); };

    CHECK_THROWS_WITH(eddy::plan({.stages = {{}}}), says("neither an option to record it"));
    CHECK_THROWS_WITH(eddy::plan({.stages = {{.time = -1, .options = {{}}}}}),
                      says("negative or infinite"));
    CHECK_THROWS_WITH(eddy::plan({}, {.most_points = 1}), says("most_points = 1"));
    CHECK(eddy::plan({}).actions.empty());
}
