#include <array>
#include <cstdint>
#include <eddy/checkpoint/action_schedules.hpp>
#include <eddy/checkpoint/chain.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <eddy/checkpoint/hrevolve.hpp>
#include <eddy/checkpoint/scheduled_loop.hpp>
#include <functional>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/message_of.hpp"

using eddy::Action;
using eddy::ActionList;
using eddy::DiskStore;
using eddy::MemoryStore;
using support::Swirl;
using State = Swirl::State;

namespace {

// Cotangents of x_0 and of the parameter.
template <class Loop, class Run>
std::array<double, 3> gradient(Loop& loop, Run run) {
    loop.body().parameter_cotangent = 0;
    run();
    const State x0 = loop.reverse({1.0, -0.5});
    return {x0[0], x0[1], loop.body().parameter_cotangent};
}

std::array<double, 3> store_all(std::int64_t length) {
    eddy::CheckpointedLoop<State, Swirl> loop(
        Swirl{}, {.placement = eddy::Placement::store_all, .length = length});
    return gradient(loop, [&] { loop.run({0.1, 0.2}); });
}

template <class... Stores>
std::array<double, 3> scheduled(const ActionList& actions, Stores... stores) {
    eddy::ScheduledLoop<State, Swirl, Stores...> loop(Swirl{}, actions, std::move(stores)...);
    const auto run = [&] { loop.run({0.1, 0.2}); };
    const auto first = gradient(loop, run);
    CHECK(gradient(loop, run) == first);  // a loop may run again

    const eddy::ActionCounts counts = eddy::count_actions(actions);
    CHECK(loop.counters().advances == counts.forward_steps);
    CHECK(loop.counters().recomputed == counts.forward_steps - counts.reverse_steps);
    CHECK(loop.counters().pullbacks == counts.reverse_steps);
    for (std::size_t tier = 0; tier < counts.peak.size(); ++tier)
        CHECK(loop.plan().slots[tier] == counts.peak[tier]);
    return first;
}

using Strict = support::StrictStore<State>;

}  // namespace

TEST_CASE("scheduled_loop: a run moves with its loop, and what it was moved from says so") {
    using Loop = eddy::ScheduledLoop<State, Swirl, MemoryStore<State>>;
    const ActionList actions = eddy::loop_actions(60, {.checkpoints = 4, .length = 60});
    Loop loop(Swirl{}, actions, {});
    loop.run({0.1, 0.2});

    Loop moved = std::move(loop);

    const State x0 = moved.reverse({1.0, -0.5});
    CHECK(x0[0] == store_all(60)[0]);
    CHECK(x0[1] == store_all(60)[1]);
    CHECK(support::message_of([&] {
              (void)loop.reverse({1.0, -0.5});
          }) == "ScheduledLoop::reverse: this loop was moved from; assign another one to it");
    CHECK(support::message_of([&] {
              loop.run({0.1, 0.2});
          }) == "ScheduledLoop::run: this loop was moved from; assign another one to it");
}

TEST_CASE("scheduled_loop: a body that throws, or calls the loop, leaves it empty and reusable") {
    struct Fragile : Swirl {
        std::function<void()> acts;
        State advance(const State& x, std::int64_t step) const {
            if (acts && step == 30) acts();
            return Swirl::advance(x, step);
        }
    };
    const ActionList actions = eddy::loop_actions(60, {.checkpoints = 4, .length = 60});
    eddy::ScheduledLoop<State, Fragile, Strict> loop(Fragile{}, actions, {});
    const auto run = [&] { loop.run({0.1, 0.2}); };

    loop.body().acts = [] { throw std::runtime_error("advance"); };
    CHECK_THROWS_WITH(run(), "advance");
    CHECK(loop.store<0>().held() == 0);
    loop.body().acts = run;
    CHECK(support::message_of(run) ==
          "ScheduledLoop::run: this loop is in a call already, and serves one at a time; use "
          "another loop in its condition, in its body and in each thread");
    CHECK(loop.store<0>().held() == 0);
    loop.body().acts = nullptr;
    CHECK(gradient(loop, run) == store_all(60));
}

TEST_CASE("scheduled_loop: gradients are bit for bit those of store-all, for every schedule") {
    for (std::int64_t length : {1, 2, 7, 60}) {
        const std::array<double, 3> expected = store_all(length);
        const eddy::HRevolveOptions tiers{.tiers = {{2, 0, 0}, {3, 1, 1}}};
        const std::vector<eddy::ChainStep> chain(static_cast<std::size_t>(length), {1, 8});
        const ActionList hrevolve = eddy::hrevolve_actions(length, tiers);

        INFO(length << " steps");
        CHECK(scheduled(hrevolve, Strict(), Strict()) == expected);
        CHECK(scheduled(hrevolve, MemoryStore<State>(), DiskStore<State>({.buffers = 1})) ==
              expected);
        CHECK(scheduled(eddy::multistage_actions(length, 2, 3), MemoryStore<State>(),
                        DiskStore<State>()) == expected);
        CHECK(scheduled(eddy::chain_actions(chain, {.memory_bytes = 24}), Strict()) == expected);
        CHECK(scheduled(eddy::loop_actions(length, {.checkpoints = 3}), DiskStore<State>()) ==
              expected);
    }
}

TEST_CASE("scheduled_loop: a state that is discarded while it is in hand stays in hand") {
    const ActionList actions{Action::write(0),      Action::forward(0, 1), Action::write(1),
                             Action::forward(1, 2), Action::read(1),       Action::discard(1),
                             Action::reverse(1),    Action::read(0),       Action::reverse(0),
                             Action::discard(0)};
    CHECK(scheduled(actions, Strict()) == store_all(2));
}

TEST_CASE("scheduled_loop: the plan knows what a tier reads next") {
    const eddy::ActionPlan plan =
        eddy::plan_actions(eddy::loop_actions(40, {.checkpoints = 4, .length = 40}), 1);
    std::int64_t hints = 0, reads_of_others = 0, last_read = -1;
    std::int64_t hinted = -1;
    for (const eddy::PlannedAction& planned : plan.actions) {
        if (planned.action.kind != eddy::ActionKind::read) continue;
        if (planned.action.first != last_read) {
            if (hinted >= 0) CHECK(planned.action.first == hinted);
            reads_of_others += 1;
        }
        hinted = planned.next_step;
        hints += hinted >= 0;
        last_read = planned.action.first;
    }
    CHECK(reads_of_others > 4);
    CHECK(hints >= reads_of_others / 2);
}

TEST_CASE("scheduled_loop: a list that is no schedule is refused, and the action named") {
    const ActionList good = eddy::loop_actions(3, {.checkpoints = 2, .length = 3});
    for (std::size_t removed = 0; removed < good.size(); ++removed) {
        ActionList bad = good;
        bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(removed));
        INFO(eddy::to_string(bad));
        CHECK_THROWS_AS(eddy::plan_actions(bad, 1), eddy::InvalidArgument);
    }
    const auto message = support::message_of([] {
        (void)eddy::plan_actions(
            std::vector{Action::write(0), Action::forward(0, 1), Action::read(1)}, 1);
    });
    CHECK(support::mentions(message, "action 2, 'read 1 from memory': it is not stored there"));
    CHECK_THROWS_AS(eddy::plan_actions(std::vector{Action::write(0, 1)}, 1), eddy::InvalidArgument);

    eddy::ScheduledLoop<State, Swirl, Strict> loop(Swirl{}, good, Strict());
    CHECK_THROWS_AS(loop.reverse({1, 1}), eddy::InvalidArgument);
}
