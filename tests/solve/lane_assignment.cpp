// Who is in which place at every round: what seek finds against a table of all rounds.

#include <eddy/solve/group/lane_assignment.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

using namespace eddy::detail;

namespace {

constexpr int num_chains = 2, num_places = 3, num_rounds = 40;

struct Places {
    Occupant occupants[num_chains][num_places];

    friend bool operator==(const Places&, const Places&) = default;
};

/// Lanes of random lengths, some with a tstop on the way; and the table.
struct Run {
    std::vector<LaneChange> memory = std::vector<LaneChange>(1000);
    LaneAssignment assignment{memory.data(), 1000};
    std::vector<Places> at_round;  // 0 … num_rounds
    Places first;

    explicit Run(std::uint64_t seed) {
        support::Random random(seed);
        Places now;
        std::int32_t next_lane = 0;
        const auto change = [&](std::int64_t round, int chain, int place, Occupant to) {
            assignment.record({round, chain, place, now.occupants[chain][place], to});
            now.occupants[chain][place] = to;
        };
        first = now;
        for (std::int64_t round = -1; round < num_rounds; ++round) {
            for (int chain = 0; chain < num_chains; ++chain) {
                for (int place = 0; place < num_places; ++place) {
                    const Occupant from = now.occupants[chain][place];
                    if (round < 0 || random.one_in(6))
                        change(round, chain, place, {next_lane++, 0});
                    else if (from.lane != no_lane && random.one_in(5))
                        change(round, chain, place, {from.lane, from.tstop + 1});
                    else if (random.one_in(20))
                        change(round, chain, place, {});
                }
            }
            at_round.push_back(now);  // as they are at round + 1
        }
    }
};

}  // namespace

TEST_CASE("lane_assignment: seek finds the places of any round from any other") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Run run(seed);
        Places places = run.at_round.back();  // the cursor is at the end
        support::Random random(seed);
        for (int jump = 0; jump < 200; ++jump) {
            const int round = random.below(num_rounds + 1);
            const bool is_there = run.assignment.is_at(round);
            int num_moves = 0;
            run.assignment.seek(round, [&](int chain, int place, const Occupant& occupant) {
                places.occupants[chain][place] = occupant;
                ++num_moves;
            });
            CHECK(is_there == (num_moves == 0));
            CHECK(places == run.at_round[static_cast<std::size_t>(round)]);
        }
    }
}

TEST_CASE("lane_assignment: the changes after a round, from either side") {
    Run run(7);
    const auto ignore = [](int, int, const Occupant&) {};
    for (std::int64_t round = 0; round < num_rounds; ++round) {
        std::vector<const LaneChange*> after, before;
        run.assignment.seek(round, ignore);
        run.assignment.visit_after_cursor(
            round, [&](const LaneChange& change) { after.push_back(&change); });
        CHECK(run.assignment.changes_after_cursor(round) == !after.empty());
        run.assignment.seek(round + 1, ignore);
        run.assignment.visit_before_cursor(
            round, [&](const LaneChange& change) { before.push_back(&change); });
        CHECK(run.assignment.changed_before_cursor(round) == !before.empty());
        CHECK(std::vector<const LaneChange*>(before.rbegin(), before.rend()) == after);
        for (const LaneChange* change : after) CHECK(change->round == round);
    }
}

TEST_CASE("lane_assignment: room is counted, and one without memory remembers nothing") {
    LaneChange memory[3];
    LaneAssignment assignment(memory, 3);
    assignment.record({0, 0, 0, {}, {1, 0}});
    CHECK(assignment.has_room(2));
    CHECK_FALSE(assignment.has_room(3));
    assignment.clear();
    CHECK(assignment.has_room(3));

    LaneAssignment none;
    none.record({0, 0, 0, {}, {1, 0}});
    CHECK(none.size() == 0);
    CHECK(none.has_room(1'000'000));
}
