#include <eddy/checkpoint/action.hpp>
#include <eddy/core/error.hpp>

#include "support/catch.hpp"
#include "support/schedule_executor.hpp"

using eddy::Action;
using eddy::ActionList;
using support::ScheduleChecker;

namespace {

const ActionList two_steps{Action::write(0),
                           Action::forward(0, 1),
                           Action::write(1, eddy::disk_tier),
                           Action::forward(1, 2),
                           Action::read(1, eddy::disk_tier),
                           Action::reverse(1),
                           Action::discard(1, eddy::disk_tier),
                           Action::read(0),
                           Action::reverse(0),
                           Action::discard(0)};

// What the checker says of a run of two steps with one slot per tier.
std::string violation(const ActionList& actions) {
    ScheduleChecker checker(2, {1, 1});
    checker.accepts(actions);
    return checker.violation;
}

ActionList without(std::size_t index) {
    ActionList actions = two_steps;
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(index));
    return actions;
}

}  // namespace

TEST_CASE("action: a list prints one action a line") {
    CHECK(eddy::to_string(two_steps) ==
          "write 0 to memory\nforward 0 -> 1\nwrite 1 to disk\nforward 1 -> 2\nread 1 from disk\n"
          "reverse 2 -> 1\ndiscard 1 from disk\nread 0 from memory\nreverse 1 -> 0\ndiscard 0 from "
          "memory\n");
    CHECK(eddy::to_string(Action::write(7, 2)) == "write 7 to tier 2");
}

TEST_CASE("action: counts and costs are those of the list") {
    const eddy::ActionCounts counts = eddy::count_actions(two_steps);

    CHECK(counts.forward_steps == 2);
    CHECK(counts.reverse_steps == 2);
    CHECK(counts.writes == std::vector<std::int64_t>{1, 1});
    CHECK(counts.reads == std::vector<std::int64_t>{1, 1});
    CHECK(counts.peak == std::vector<std::int64_t>{1, 1});
    const std::vector<eddy::StorageTier> tiers{{1, 0.5, 0.25}, {1, 8, 16}};
    CHECK(eddy::schedule_cost(two_steps, tiers, 3) == 2 * 3 + 0.5 + 0.25 + 8 + 16);
    CHECK_THROWS_AS(eddy::schedule_cost(two_steps, std::span(tiers).first(1)),
                    eddy::InvalidArgument);
}

TEST_CASE("action: the checker accepts a valid list and names what is wrong with a broken one") {
    CHECK(violation(two_steps) == "");
    CHECK(violation(without(0)) ==
          "not so at 'read 0 from memory': a checkpoint exists when it is read");
    CHECK(violation(without(1)) ==
          "not so at 'write 1 to disk': the state that is written is the model's");
    CHECK(violation(without(3)) ==
          "not so at 'reverse 2 -> 1': the output exists before the adjoint starts");
    CHECK(violation(without(4)) ==
          "not so at 'reverse 2 -> 1': the input of the reversed step is present");
    CHECK(violation(without(5)) ==
          "not so at 'reverse 1 -> 0': steps are reversed from the last to the first, each once");
    CHECK(violation(without(6)) == "not so at 'the end': storage is empty at the end");
    CHECK(violation(without(8)) == "not so at 'the end': every step is reversed");
    CHECK(violation({Action::write(0), Action::write(0)}) ==
          "not so at 'write 0 to memory': no checkpoint is written twice");
    CHECK(violation({Action::forward(0, 3)}) ==
          "not so at 'forward 0 -> 3': forward never passes the adjoint");
    CHECK(violation({Action::write(0), Action::forward(0, 1), Action::write(1)}) ==
          "not so at 'write 1 to memory': the tier's limit holds");
}
