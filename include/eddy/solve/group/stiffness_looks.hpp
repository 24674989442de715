#pragma once
// The guest that looks now and then at an attempt of every lane of a chain for signs of stiffness
// (steppers/stiffness.hpp): off the hot path, at rounds that are known beforehand, so that the others cost
// nothing. Which attempts those are depends on the lane alone. Where a lane may be sent to another method
// (ask/auto_switch.hpp), looks are more frequent, and a few in a row that see it end the lane.
// Test: tests/solve/stiffness.cpp, tests/solve/auto_switch.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/group/round_guests.hpp>
#include <eddy/steppers/stiffness.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Spec, class Team>
class StiffnessLooks : public Guest<StiffnessLooks<Spec, Team>> {
    static constexpr bool may_switch = detail::switches<Spec>;

  public:
    /// Looks at the attempt of a round, if it is time. Not all of it is where a tangent is watched.
    [[nodiscard]] EDDY_HD bool is_all(const auto& at, const JudgedAttempt<Spec>& judged,
                                      bool is_seen) {
        OfChain& looks = of_[at.number];
        if (at.round < looks.next) return false;
        const bool has_switched = look(at, judged);
        if (at.round >= looks.next_attendance ||
            at.team.any(is_seen || has_switched ||
                        any((judged.after.elapsed >= at.chain.landing) | judged.attempt.stalled)))
            return false;
        at.chain.next_check = looks.next_attendance;
        plan_ahead(at);
        return true;
    }
    EDDY_HD void enter(const auto& at, int place, std::int32_t) {
        of_[at.number].count[place] = 0;
        of_[at.number].streaks.begin(place);
    }
    /// Looks may have seen enough to send the lane to the second method.
    EDDY_HD void judge(const auto& at, const Attempt<Spec>&, int place, RoundFacts& facts) const {
        facts.switches = of_[at.number].streaks.sends(place) && !at.problem.prescribed;
    }
    /// What was seen, into the outcome of a lane that ends. One that runs out of steps while stability
    /// bounds them is sent as well.
    EDDY_HD void leave(const auto& at, int place, LaneOutcome& outcome) const {
        outcome.stiff_looks = of_[at.number].count[place];
        if (outcome.result == Result::max_steps_reached && of_[at.number].streaks.has_begun(place))
            outcome.method = 1;
    }
    /// Finds out after `round` when to look next, all members at once.
    EDDY_HD void plan_ahead(const auto& at) {
        constexpr LookSchedule schedule = of_looks();
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        for (int place = 0; place < Spec::num_places; ++place) {
            if (at.chain.occupants[place].lane == no_lane) continue;
            const std::int64_t first = at.chain.first_round[place];
            next = min(next, first + schedule.next(at.round + 1 - first) - 1);
        }
        OfChain& looks = of_[at.number];
        looks.next = at.team.min(next);
        looks.next_attendance = at.chain.next_check;
        at.chain.next_check = min(looks.next_attendance, looks.next);
    }

  private:
    /// Device code takes constants of classes from constants of its own alone.
    static constexpr LookSchedule of_looks() {
        return may_switch ? switching_looks : counted_looks;
    }

    /// How many looks in a row have seen it; so many send a lane to the second method.
    struct Streaks {
        std::uint8_t length[Spec::num_places] = {};  // (place)

        EDDY_HD void begin(int place) { length[place] = 0; }
        [[nodiscard]] EDDY_HD bool has_begun(int place) const { return length[place] > 0; }
        [[nodiscard]] EDDY_HD bool sends(int place) const {
            return length[place] >= looks_to_switch;
        }
        EDDY_HD void look(int place, bool is_seen) {
            std::uint8_t& streak = length[place];
            if (!is_seen)
                streak = 0;
            else if (streak < looks_to_switch)
                ++streak;
        }
    };
    /// There is no second method.
    struct NoStreaks {
        EDDY_HD static void begin(int) {}
        [[nodiscard]] EDDY_HD static constexpr bool has_begun(int) { return false; }
        [[nodiscard]] EDDY_HD static constexpr bool sends(int) { return false; }
        EDDY_HD static void look(int, bool) {}
    };
    struct OfChain {
        [[no_unique_address]] std::conditional_t<may_switch, Streaks, NoStreaks> streaks{};
        std::uint16_t count[Spec::num_places] = {};  // how often stability has bounded a step
        std::int64_t next = 0;                       // a round
        std::int64_t next_attendance = 0;  // a round: at the latest, whatever is looked at
    };

    /// True where that sends a lane to the second method.
    [[nodiscard]] EDDY_HD bool look(const auto& at, const JudgedAttempt<Spec>& judged) {
        const Chain<Spec>& chain = at.chain;
        OfChain& looks = of_[at.number];
        const Attempt<Spec>& attempt = judged.attempt;
        const MaskOf<typename Spec::Primal> seen =
            attempt.accepted &
            chain.steps.with_input(judged.from, attempt.size, [&](const auto& in) {
                return Spec::Stepper::is_stiff(in, attempt.trial);
            });
        constexpr LookSchedule schedule = of_looks(), counted = counted_looks;
        bool has_switched = false;
        for (int place = 0; place < Spec::num_places; ++place) {
            if (chain.occupants[place].lane == no_lane) continue;
            const std::int64_t attempts = at.round - chain.first_round[place] + 1;
            const bool counts = counted.holds(attempts) && get_lane(seen, place);
            std::uint16_t& count = looks.count[place];
            if (counts && count < std::numeric_limits<std::uint16_t>::max()) ++count;
            if (!schedule.holds(attempts) || !get_lane(attempt.accepted, place)) continue;
            looks.streaks.look(place, get_lane(seen, place));
            has_switched = has_switched || looks.streaks.sends(place);
        }
        return has_switched;
    }

    OfChain of_[Team::num_chains]{};
};

/// Teams of devices have registers for it only where lanes may be sent to a second method. Who wants steps alone asks
/// for no counts.
template <class Spec, class Team, class Recorder>
using StiffnessLooksFor =
    std::conditional_t<TellsStiffness<typename Spec::Stepper> &&
                           ((Team::watches.stiffness && !saves_nothing<Recorder>) ||
                            switches<Spec>),
                       StiffnessLooks<Spec, Team>, NoGuest<2>>;

}  // namespace eddy::inline v0::detail
