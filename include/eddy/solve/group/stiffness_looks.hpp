#pragma once
// One attempt in 256 of every lane of a chain, looked at for signs of stiffness (steppers/stiffness.hpp):
// off the hot path, at rounds that are known beforehand, so that the others cost nothing. Which attempts
// those are depends on the lane alone.

#include <eddy/core/numeric.hpp>
#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/chain.hpp>
#include <eddy/steppers/stiffness.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// What was tried, and where it leads.
template <class Spec>
struct JudgedAttempt {
    const Attempt<Spec>& attempt;
    const AfterAttempt<Spec>& after;
};

/// Looks at nothing.
template <class Spec, class Team>
struct NoStiffnessLooks {
    [[nodiscard]] EDDY_HD bool are_all(Team&, Chain<Spec>&, int, const JudgedAttempt<Spec>&, bool,
                                       std::int64_t) {
        return false;
    }
    EDDY_HD void begin(int, int) {}
    [[nodiscard]] EDDY_HD std::uint16_t count(int, int) const { return 0; }
    EDDY_HD void look_ahead(Team&, Chain<Spec>&, int, std::int64_t) {}
};

template <class Spec, class Team>
class StiffnessLooks {
  public:
    /// Looks at the attempt of `round` of a chain, if it is time. Is that all that happens in this
    /// round, to any member of the team? Not where `is_seen`: a tangent is watched.
    [[nodiscard]] EDDY_HD bool are_all(Team& team, Chain<Spec>& chain, int number,
                                       const JudgedAttempt<Spec>& judged, bool is_seen,
                                       std::int64_t round) {
        OfChain& looks = of_[number];
        if (round < looks.next) return false;
        look(chain, number, judged.attempt, round);
        if (round >= looks.next_attendance ||
            team.any(is_seen ||
                     any((judged.after.elapsed >= chain.landing) | judged.attempt.stalled)))
            return false;
        chain.next_check = looks.next_attendance;
        look_ahead(team, chain, number, round);
        return true;
    }

    /// A lane begins.
    EDDY_HD void begin(int number, int place) { of_[number].count[place] = 0; }
    [[nodiscard]] EDDY_HD std::uint16_t count(int number, int place) const {
        return of_[number].count[place];
    }
    /// After `round`: finds out when to look next, all members at once.
    EDDY_HD void look_ahead(Team& team, Chain<Spec>& chain, int number, std::int64_t round) {
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        for (int place = 0; place < Spec::num_places; ++place) {
            if (chain.occupants[place].lane == no_lane) continue;
            const std::int64_t first = chain.first_round[place];
            next = min(next, first + next_stiffness_look(round + 1 - first) - 1);
        }
        OfChain& looks = of_[number];
        looks.next = team.min(next);
        looks.next_attendance = chain.next_check;
        chain.next_check = min(looks.next_attendance, looks.next);
    }

  private:
    struct OfChain {
        std::uint16_t count[Spec::num_places] = {};  // how often stability has bounded a step
        std::int64_t next = 0;                       // a round
        std::int64_t next_attendance = 0;  // a round: at the latest, whatever is looked at
    };

    EDDY_HD void look(const Chain<Spec>& chain, int number, const Attempt<Spec>& attempt,
                      std::int64_t round) {
        const MaskOf<typename Spec::Primal> seen =
            attempt.accepted & Spec::Stepper::is_stiff(attempt.trial);
        for (int place = 0; place < Spec::num_places; ++place) {
            if (chain.occupants[place].lane == no_lane) continue;
            const bool counts =
                looks_for_stiffness(round - chain.first_round[place] + 1) && get_lane(seen, place);
            std::uint16_t& count = of_[number].count[place];
            if (counts && count < std::numeric_limits<std::uint16_t>::max()) ++count;
        }
    }

    OfChain of_[Team::num_chains];
};

/// Teams of devices have no registers for it.
template <class Spec, class Team>
using StiffnessLooksFor =
    std::conditional_t<TellsStiffness<typename Spec::Stepper> && may_watch<Team>,
                       StiffnessLooks<Spec, Team>, NoStiffnessLooks<Spec, Team>>;

}  // namespace eddy::inline v0::detail
