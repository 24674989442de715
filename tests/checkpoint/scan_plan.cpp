#include <algorithm>
#include <cstdint>
#include <eddy/checkpoint/scan_plan.hpp>
#include <eddy/core/error.hpp>
#include <set>
#include <vector>

#include "support/catch.hpp"
#include "support/golden_plans.hpp"

using eddy::ScanAction;
using eddy::ScanActionKind;
using eddy::ScanCosts;
using eddy::ScanPlan;

namespace {

/// Carries a plan out in numbers: bytes stored beside x_0, and evaluations.
struct Replay {
    std::vector<std::int64_t> kept;
    std::set<std::int64_t> recorded;
    std::int64_t now = 0, position, evaluations = 0, peak = 0;
    bool valid = true;

    Replay(const ScanPlan& plan, const ScanCosts& costs) : position(costs.steps) {
        for (const ScanAction& action : plan.actions) {
            if (action.kind == ScanActionKind::advance || action.kind == ScanActionKind::record) {
                for (std::int64_t step = action.first; step < action.last; ++step) {
                    valid = valid && now == step;
                    if (action.kind == ScanActionKind::record) recorded.insert(step);
                    ++evaluations;
                    ++now;
                }
            } else if (action.kind == ScanActionKind::pullback) {
                for (std::int64_t step = action.last; step-- > action.first;) {
                    valid = valid && position == step + 1 && recorded.erase(step) == 1;
                    --position;
                }
            } else {
                act(action);
            }
            const auto carries = std::ranges::count_if(kept, [](auto step) { return step > 0; });
            peak = std::max(peak,
                            costs.state_bytes * carries +
                                costs.residual_bytes * static_cast<std::int64_t>(recorded.size()));
        }
    }
    void act(const ScanAction& action) {
        if (action.kind == ScanActionKind::keep) {
            valid = valid && now == action.first;
            kept.push_back(now);
        } else {
            valid = valid && !kept.empty() && kept.back() == action.first;
            now = action.first;
            if (action.kind == ScanActionKind::take) kept.pop_back();
        }
    }
};

}  // namespace

TEST_CASE("plan_scan: evaluations and validity equal the golden scans") {
    auto numbers = support::golden_plans("scans.txt");
    for (std::int64_t steps; numbers >> steps;) {
        const std::int64_t state = support::next(numbers), residual = support::next(numbers);
        const std::int64_t budget = support::next(numbers), evaluations = support::next(numbers);
        for (int unused = 0; unused < 3; ++unused) support::next(numbers);
        const ScanCosts costs{steps, state, residual};

        const ScanPlan plan = eddy::plan_scan(costs, budget);
        const Replay replay(plan, costs);
        CHECK(plan.evaluations == evaluations);
        CHECK(replay.evaluations == evaluations);
        CHECK(replay.valid);
        CHECK(replay.position == 0);
        CHECK(replay.kept.empty());
        CHECK(replay.peak <= budget);
    }
}

TEST_CASE(
    "plan_scan: every budget of short scans gives a valid plan, and more bytes cost no more") {
    for (std::int64_t state : {1, 2, 5}) {
        for (std::int64_t residual : {0, 1, 3, 4}) {
            for (std::int64_t steps : {0, 1, 2, 7, 20}) {
                const ScanCosts costs{steps, state, residual};
                std::int64_t before = steps * steps;
                for (std::int64_t budget = residual; budget <= 40; ++budget) {
                    const ScanPlan plan = eddy::plan_scan(costs, budget);
                    const Replay replay(plan, costs);
                    const bool holds =
                        replay.valid && replay.position == 0 && replay.peak <= budget &&
                        replay.evaluations == plan.evaluations && plan.evaluations <= before;
                    if (!holds) CHECK(holds);
                    before = plan.evaluations;
                }
                CHECK(before >= steps);
            }
        }
    }
}

TEST_CASE("plan_scan: long scans in closed form, and sentences where nothing fits") {
    const ScanCosts costs{1'000'000, 100, 400};
    const ScanPlan plan = eddy::plan_scan(costs, 1'000'000);
    const Replay replay(plan, {1'000'000, 100, 400});
    CHECK(replay.valid);
    CHECK(replay.peak <= 1'000'000);
    CHECK(plan.evaluations < 2'000'000);
    CHECK_THROWS_WITH(eddy::plan_scan(costs, 399), support::contains("one step take 400"));
    CHECK_THROWS_WITH(eddy::plan_scan(costs, 4000), support::contains("more than once"));
}
