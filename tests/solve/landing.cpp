// What a round means for a lane, and when something other than a step comes next.

#include <eddy/solve/lane/landing.hpp>
#include <limits>
#include <vector>

#include "support/catch.hpp"

using namespace eddy::detail;
using eddy::Result;
using eddy::Tstop;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// From 0 to 10 with tstops at 4 and 10, save points at 1, 4, 4 and 7; 100 steps at most.
struct Times {
    std::vector<Tstop> tstops{{4, 4}, {10, 10}};
    std::vector<double> saves{1, 4, 4, 7};

    [[nodiscard]] LaneTimes view() const {
        LaneTimes times;
        times.span = 10;
        times.max_steps = 100;
        times.tstops = tstops.data();
        times.num_tstops = static_cast<std::int32_t>(tstops.size());
        times.saves = saves.data();
        times.num_saves = static_cast<std::int32_t>(saves.size());
        return times;
    }
};
constexpr RoundFacts plain{
    .save_is_broken = false, .stalled = false, .lands = false, .cancelled = false, .attempts = 1};

}  // namespace

TEST_CASE("landing: the next one is a save point or the tstop, whichever comes first") {
    const Times times;
    const LaneTimes view = times.view();
    CHECK(next_landing(view, {.lane = 0, .tstop = 0}, 0) == 1);
    CHECK(next_landing(view, {.lane = 0, .tstop = 0}, 3) == 4);
    CHECK(next_landing(view, {.lane = 0, .tstop = 1}, 3) == 7);
    CHECK(next_landing(view, {.lane = 0, .tstop = 1}, 4) == 10);
    CHECK(next_landing(view, {.lane = no_lane, .tstop = 0}, 0) == infinity);
    CHECK(next_save(view, 4) == infinity);
}

TEST_CASE("landing: the first save point from a time on, among equal ones the first") {
    const Times times;
    const LaneTimes view = times.view();
    CHECK(first_save_from(view, 0) == 0);
    CHECK(first_save_from(view, 1) == 0);
    CHECK(first_save_from(view, 1.5) == 1);
    CHECK(first_save_from(view, 4) == 1);
    CHECK(first_save_from(view, 4.5) == 3);
    CHECK(first_save_from(view, 8) == 4);
}

TEST_CASE("landing: a lane goes on, goes on to its next tstop, or ends at the last") {
    const Times times;
    const LaneTimes view = times.view();
    RoundFacts lands = plain;
    lands.lands = true;
    CHECK(verdict_of(view, {0, 0}, plain).turn == Turn::goes_on);
    CHECK(verdict_of(view, {0, 0}, lands).turn == Turn::to_next_tstop);
    const Verdict last = verdict_of(view, {0, 1}, lands);
    CHECK(last.turn == Turn::ends);
    CHECK(last.result == Result::success);
}

TEST_CASE("landing: of several ends in one round the first in order counts") {
    const Times times;
    const LaneTimes view = times.view();
    RoundFacts round{
        .save_is_broken = true, .stalled = true, .lands = true, .cancelled = true, .attempts = 100};
    const auto verdict = [&] { return verdict_of(view, {0, 1}, round); };
    CHECK(verdict().turn == Turn::breaks_at_save);
    round.save_is_broken = false;
    CHECK(verdict().turn == Turn::breaks);
    round.stalled = false;
    CHECK(verdict().result == Result::success);
    round.lands = false;
    CHECK(verdict().result == Result::cancelled);
    round.cancelled = false;
    CHECK(verdict().result == Result::max_steps_reached);
    round.attempts = 99;
    CHECK(verdict().turn == Turn::goes_on);
}
