#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

using eddy::LoopOptions;
using eddy::Placement;
using eddy::PlacementPlan;
using eddy::PlacementSequence;
using std::int64_t;

namespace {

PlacementPlan plan(const LoopOptions& options) { return eddy::plan_placement(options, "loop"); }

std::string complaint(const LoopOptions& options) {
    return support::message_of([&] { (void)plan(options); });
}

std::vector<int64_t> stored_steps(const LoopOptions& options) {
    PlacementSequence sequence(plan(options));
    std::vector<int64_t> steps;
    for (auto placed = sequence.next(); placed.step < sequence.plan().limit;
         placed = sequence.next()) {
        steps.push_back(placed.step);
    }
    return steps;
}

}  // namespace

TEST_CASE("placement: bad options say what was got and what to do") {
    CHECK(complaint({.length = 2}) ==
          "loop: checkpoints = 0; give at least 1, or a placement that needs no number (store_all, "
          "square_root)");
    CHECK(complaint({.checkpoints = -1}) ==
          "loop: checkpoints = -1; give at least 1; the initial state needs one");
    CHECK(complaint({.checkpoints = 2, .length = -5}) ==
          "loop: length = -5; give a length of at least 0");
    CHECK(complaint({.checkpoints = 2, .max_steps = -1}) ==
          "loop: max_steps = -1; give at least 0, or leave it out for no limit");
    CHECK(complaint({.checkpoints = 2, .max_steps = 9, .length = 10}) ==
          "loop: max_steps = 9 is below length = 10; raise max_steps or leave it out");
    CHECK(complaint({.placement = Placement::store_all}) ==
          "loop: a placement whose memory grows with the length; give length or max_steps");
    CHECK(complaint({.checkpoints = 5, .placement = Placement::store_all, .length = 6}) ==
          "loop: checkpoints = 5 for a placement that keeps 6 states; raise checkpoints or leave "
          "it out");
    CHECK(complaint({.checkpoints = 5, .placement = Placement::offline}) ==
          "loop: offline placement without a length; give the length or choose cost_greedy");
    CHECK(complaint({.placement = Placement::periodic, .length = 10}) ==
          "loop: period = 0; periodic placement needs a period of at least 1");
    CHECK(complaint({.checkpoints = 3, .period = 7}) ==
          "loop: period = 7 for a placement that has none; give Placement::periodic, or leave the "
          "period out");
    CHECK(
        complaint({.checkpoints = 3, .nested_lengths = {10, 10, 10}}) ==
        "loop: checkpoints = 3 for nested_lengths that keep 28 states; raise checkpoints or leave "
        "it out");
    CHECK(complaint({.length = 20, .nested_lengths = {3, 7}}) ==
          "loop: the product of nested_lengths is 21 but length is 20; make them agree");
    CHECK(complaint({.max_steps = 22, .nested_lengths = {3, 7}}) ==
          "loop: the product of nested_lengths is 21 but max_steps is 22; make them agree");
    CHECK(complaint({.length = 0, .nested_lengths = {3, 0}}) ==
          "loop: a nested length = 0; give lengths of at least 1");
    CHECK_THROWS_AS(plan({.checkpoints = -1}), eddy::InvalidArgument);
    CHECK(complaint({.placement = Placement::none, .length = 9, .nested_lengths = {3, 3}}) ==
          "loop: nested_lengths together with a placement; give one of them");
    CHECK(complaint({.checkpoints = 2, .placement = Placement::none}) ==
          "loop: checkpoints = 2 for a placement that keeps only the first state; leave them out, "
          "or leave the placement out");
    CHECK(complaint({.checkpoints = 1, .placement = Placement::none}).empty());
    CHECK(complaint({.checkpoints = 2, .placement = static_cast<Placement>(8)}) ==
          "loop: placement = 8 is none; give one of Placement, such as Placement::store_all");
}

TEST_CASE("placement: numbers beyond what a loop can keep are refused, others cost nothing") {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    const std::string end =
        " states; a loop keeps 2^31 - 2 of them at most: give fewer checkpoints, or a placement "
        "that keeps fewer";
    CHECK(complaint({.checkpoints = most}) == "loop: room for 9223372036854775807" + end);
    CHECK(complaint({.checkpoints = eddy::most_slots + 1}) == "loop: room for 2147483647" + end);
    CHECK(complaint({.max_steps = most - 1, .placement = Placement::store_all}) ==
          "loop: room for 9223372036854775806" + end);
    CHECK(complaint({.max_steps = most - 1, .placement = Placement::square_root}) ==
          "loop: room for 6074000998" + end);
    CHECK(complaint({.nested_lengths = {most, most}}) ==
          "loop: room for 9223372036854775807" + end);

    CHECK(plan({.checkpoints = most, .length = 10}).slots == 10);
    CHECK(stored_steps({.checkpoints = eddy::most_slots, .max_steps = 3}) ==
          std::vector<int64_t>{0, 1, 2});
    PlacementSequence sequence(plan({.checkpoints = eddy::most_slots}));
    CHECK(sequence.next_piece().back().slot > 0);
}

TEST_CASE("placement: pieces are the stores one by one, along the staircase and behind it") {
    for (const Placement placement : {Placement::cost_greedy, Placement::online_treeverse}) {
        for (const int64_t checkpoints : {1, 2, 3, 5, 16, 40, 200}) {
            const PlacementPlan planned =
                plan({.checkpoints = checkpoints, .placement = placement});
            PlacementSequence by_piece(planned), one_by_one(planned);
            int64_t wrong = 0;
            for (int64_t index = 0; index < 3000 && checkpoints > 1;) {
                for (const eddy::Placed& placed : by_piece.next_piece()) {
                    wrong += placed != one_by_one.next();
                    ++index;
                }
            }
            INFO("c = " << checkpoints);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("placement: no checkpoints are enough for a loop of at most one step") {
    CHECK(plan({.length = 0}).slots == 1);
    CHECK(plan({.length = 1}).slots == 1);
    CHECK(plan({.max_steps = 1}).slots == 1);
}

TEST_CASE("placement: never more slots than steps") {
    CHECK(plan({.checkpoints = 1'000'000'000, .max_steps = 7}).slots == 7);
}

TEST_CASE("placement: the classics store where their names say") {
    CHECK(stored_steps({.placement = Placement::store_all, .length = 4}) ==
          std::vector<int64_t>{0, 1, 2, 3});
    CHECK(stored_steps({.placement = Placement::none, .length = 4}) == std::vector<int64_t>{0});
    CHECK(stored_steps({.placement = Placement::periodic, .length = 10, .period = 4}) ==
          std::vector<int64_t>{0, 4, 8});
    CHECK(stored_steps({.placement = Placement::square_root, .length = 12}) ==
          std::vector<int64_t>{0, 4, 8});
    CHECK(stored_steps({.length = 24, .nested_lengths = {3, 2, 4}}) ==
          std::vector<int64_t>{0, 8, 16});
    CHECK(stored_steps({.checkpoints = 3, .length = 10}) == std::vector<int64_t>{0, 5, 8});
}

TEST_CASE("placement: a nested scan reserves no more slots than the sum of its lengths") {
    CHECK(plan({.length = 1000, .nested_lengths = {10, 10, 10}}).slots == 28);
    CHECK(plan({.nested_lengths = {16, 16}}).limit == 256);
}
