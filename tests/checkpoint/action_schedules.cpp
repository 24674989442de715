#include <cmath>
#include <eddy/checkpoint/action_schedules.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/hrevolve.hpp>
#include <eddy/core/error.hpp>
#include <functional>
#include <limits>
#include <numeric>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/schedule_executor.hpp"

using eddy::ActionList;
using eddy::Placement;
using support::ScheduleChecker;

namespace {

constexpr std::int64_t lengths[]{0, 1, 2, 3, 4, 5, 7, 10, 16, 33, 100, 250};

// Requires the list to keep every invariant within `limits`; returns its forward steps.
std::int64_t checked_forward_steps(const ActionList& actions, std::int64_t length,
                                   std::vector<std::int64_t> limits) {
    ScheduleChecker checker(length, std::move(limits));
    checker.accepts(actions);
    INFO("length " << length << '\n' << (length <= 10 ? eddy::to_string(actions) : ""));
    REQUIRE(checker.violation == "");
    return checker.forward_steps;
}

}  // namespace

TEST_CASE("action_schedules: offline runs length + E* steps within its slots") {
    for (std::int64_t length : lengths) {
        for (std::int64_t checkpoints : {1, 2, 3, 4, 5, 8, 16, 300}) {
            const ActionList actions =
                eddy::loop_actions(length, {.checkpoints = checkpoints, .length = length});
            CHECK(checked_forward_steps(actions, length, {checkpoints}) ==
                  length + eddy::schedule::optimal_recomputations(length, checkpoints));
        }
    }
}

TEST_CASE("action_schedules: online is optimal to (c + 1)(c + 2) / 2 steps and valid beyond") {
    for (Placement placement : {Placement::cost_greedy, Placement::online_treeverse}) {
        for (std::int64_t length : lengths) {
            for (std::int64_t checkpoints : {1, 2, 3, 4, 5, 8, 16, 300}) {
                const ActionList actions = eddy::loop_actions(
                    length, {.checkpoints = checkpoints, .placement = placement});
                const std::int64_t steps = checked_forward_steps(actions, length, {checkpoints});
                const std::int64_t optimal =
                    length + eddy::schedule::optimal_recomputations(length, checkpoints);
                CHECK(steps >= optimal);
                if (length < (checkpoints + 1) * (checkpoints + 2) / 2) CHECK(steps == optimal);
            }
        }
    }
}

TEST_CASE("action_schedules: 2 checkpoints, 4 steps are written out in full") {
    CHECK_THROWS_AS(
        eddy::loop_actions(std::numeric_limits<std::int64_t>::max(), {.checkpoints = 2}),
        eddy::InvalidArgument);
    CHECK(eddy::to_string(eddy::loop_actions(4, {.checkpoints = 2, .length = 4})) ==
          "write 0 to memory\nforward 0 -> 3\nwrite 3 to memory\nforward 3 -> 4\n"
          "read 3 from memory\nreverse 4 -> 3\ndiscard 3 from memory\n"
          "read 0 from memory\nforward 0 -> 1\nwrite 1 to memory\nforward 1 -> 2\nreverse 3 -> 2\n"
          "read 1 from memory\nreverse 2 -> 1\ndiscard 1 from memory\n"
          "read 0 from memory\nreverse 1 -> 0\ndiscard 0 from memory\n");
}

TEST_CASE("action_schedules: multistage is binomial with the busiest stack indices in memory") {
    for (std::int64_t length : lengths) {
        for (std::int64_t memory : {0, 1, 2, 5}) {
            for (std::int64_t disk : {0, 1, 3, 11}) {
                if (memory + disk == 0) continue;
                const ActionList actions = eddy::multistage_actions(length, memory, disk);

                const std::int64_t steps = checked_forward_steps(actions, length, {memory, disk});

                CHECK(steps ==
                      length + eddy::schedule::optimal_recomputations(length, memory + disk));
                const eddy::ActionCounts counts = eddy::count_actions(actions);
                const std::int64_t on_disk =
                    counts.writes.size() > 1 ? counts.writes[1] + counts.reads[1] : 0;
                const std::int64_t in_memory = counts.writes[0] + counts.reads[0];
                if (memory >= disk) CHECK(in_memory >= on_disk);
            }
        }
    }
}

TEST_CASE("action_schedules: H-Revolve is never dearer than multistage") {
    for (std::int64_t length : lengths) {
        for (std::int64_t memory : {0, 1, 2, 5}) {
            for (std::int64_t disk : {0, 1, 3, 8}) {
                for (double io : {0., 0.125, 1., 4., 50.}) {
                    if (memory + disk == 0 || length == 0) continue;
                    const eddy::HRevolveOptions options{
                        .tiers = {{memory, 0, 0}, {disk, io, 2 * io}}};

                    const double multistage = eddy::schedule_cost(
                        eddy::multistage_actions(length, memory, disk), options.tiers);

                    INFO("length " << length << ", slots " << memory << " + " << disk << ", io "
                                   << io);
                    CHECK(eddy::hrevolve_cost(length, options) <= multistage);
                }
            }
        }
    }
}

TEST_CASE("action_schedules: store-all recomputes nothing, none every step from the start") {
    for (std::int64_t length : lengths) {
        const auto forward_steps = [&](Placement placement, std::int64_t slots) {
            return checked_forward_steps(
                eddy::loop_actions(length, {.placement = placement, .length = length}), length,
                {slots});
        };
        CHECK(forward_steps(Placement::store_all, length) == length);
        CHECK(forward_steps(Placement::none, 1) == length + length * (length - 1) / 2);
    }
}

TEST_CASE("action_schedules: square root and periodic run every step at most once more") {
    for (std::int64_t length : lengths) {
        if (length == 0) continue;
        const auto root =
            static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(length))));
        CHECK(checked_forward_steps(eddy::loop_actions(length, {.placement = Placement::square_root,
                                                                .length = length}),
                                    length, {2 * root}) <= 2 * length);
        for (std::int64_t period : {1, 2, 3, 10, 400}) {
            const std::int64_t outer = (length + period - 1) / period;
            const ActionList actions = eddy::loop_actions(
                length, {.placement = Placement::periodic, .length = length, .period = period});
            CHECK(checked_forward_steps(actions, length, {outer + period}) <= 2 * length - outer);
        }
    }
}

TEST_CASE(
    "action_schedules: nested scans hold the sum of the lengths and rerun at most once per further "
    "level") {
    const std::vector<std::vector<std::int64_t>> nestings{
        {1}, {5}, {2, 3}, {3, 2}, {1, 4, 1}, {10, 10}, {4, 5, 6}, {2, 2, 2, 2, 2}};
    for (const auto& nesting : nestings) {
        const auto levels = static_cast<std::int64_t>(nesting.size());
        const std::int64_t sum = std::accumulate(nesting.begin(), nesting.end(), std::int64_t{0});
        const std::int64_t length =
            std::accumulate(nesting.begin(), nesting.end(), std::int64_t{1}, std::multiplies<>());
        const ActionList actions =
            eddy::loop_actions(length, {.length = length, .nested_lengths = nesting});

        CHECK(checked_forward_steps(actions, length, {sum - levels + 1}) <= levels * length);
    }
}

TEST_CASE("action_schedules: the list is what the loop does") {
    const std::vector<eddy::LoopOptions> all_options{
        {.checkpoints = 3},
        {.checkpoints = 4, .placement = Placement::online_treeverse},
        {.checkpoints = 4, .length = 50},
        {.placement = Placement::none},
        {.placement = Placement::square_root, .length = 50},
        {.length = 50, .nested_lengths = {5, 2, 5}}};
    for (const eddy::LoopOptions& options : all_options) {
        std::vector<std::int64_t> of_loop, of_actions;
        eddy::CheckpointedLoop<double, support::Recorder> loop({&of_loop}, options);
        loop.run(0., [](double, std::int64_t step) { return step < 50; });
        CHECK(loop.reverse(1.) == 1.);

        const ActionList actions = eddy::loop_actions(50, options);
        for (const eddy::Action& action : actions) {
            if (action.kind == eddy::ActionKind::reverse) of_actions.push_back(action.last);
            if (action.kind != eddy::ActionKind::forward) continue;
            for (std::int64_t step = action.first; step < action.last; ++step)
                of_actions.push_back(step);
        }

        CHECK(of_actions == of_loop);
        const eddy::ActionCounts counts = eddy::count_actions(actions);
        CHECK(counts.writes[0] == loop.counters().stores);
        CHECK(counts.reads[0] == loop.counters().loads);
        CHECK(counts.peak[0] == loop.counters().peak_checkpoints);
    }
}

TEST_CASE("action_schedules: bad arguments are refused") {
    CHECK_THROWS_WITH(eddy::loop_actions(-1, {.checkpoints = 3}),
                      "loop_actions: length = -1; give a length of at least 0");
    CHECK_THROWS_WITH(eddy::multistage_actions(-1, 2, 2),
                      "multistage_actions: length = -1; give a length of at least 0");
    CHECK_THROWS_AS(eddy::loop_actions(5, {}), eddy::InvalidArgument);
    CHECK_THROWS_AS(eddy::loop_actions(5, {.checkpoints = 3, .length = 6}), eddy::InvalidArgument);
    CHECK_THROWS_AS(eddy::loop_actions(7, {.checkpoints = 3, .max_steps = 6}),
                    eddy::InvalidArgument);
    CHECK_THROWS_AS(eddy::multistage_actions(5, -1, 3), eddy::InvalidArgument);
    CHECK_THROWS_AS(eddy::multistage_actions(5, 0, 0), eddy::InvalidArgument);
    CHECK(eddy::multistage_actions(5, INT64_MAX, INT64_MAX) == eddy::multistage_actions(5, 5, 5));
}
