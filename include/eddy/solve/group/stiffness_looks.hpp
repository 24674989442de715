#pragma once
// One attempt in 256 of every lane of a chain, looked at for signs of stiffness (steppers/stiffness.hpp):
// off the hot path, at rounds that are known beforehand, so that the others cost nothing. Which attempts
// those are depends on the lane alone.

#include <eddy/core/numeric.hpp>
#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/chain.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// What was tried, and where it leads.
template <class Spec>
struct JudgedAttempt {
    const Attempt<Spec>& attempt;
    const AfterAttempt<Spec>& after;
};

/// Looks at nothing.
template <class Spec>
struct NoStiffnessLooks {
    [[nodiscard]] EDDY_HD static bool are_all(const Problem<Spec>&, Chain<Spec>&,
                                              const JudgedAttempt<Spec>&, std::int64_t) {
        return false;
    }
    EDDY_HD static void begin(Chain<Spec>&, int) {}
    [[nodiscard]] EDDY_HD static std::uint16_t count(const Chain<Spec>&, int) { return 0; }
    EDDY_HD static void look_ahead(Chain<Spec>&, std::int64_t) {}
};

template <class Spec, class TangentWatch>
struct StiffnessLooks {
    /// Looks at the attempt of `round`, if it is time. Is that all that happens in this round?
    [[nodiscard]] EDDY_HD static bool are_all(const Problem<Spec>& problem, Chain<Spec>& chain,
                                              const JudgedAttempt<Spec>& judged,
                                              std::int64_t round) {
        if (round < chain.next_look) return false;
        look(chain, judged.attempt, round);
        if (round >= chain.next_attendance || TangentWatch::sees(problem, chain, judged.attempt) ||
            any((judged.after.elapsed >= chain.landing) | judged.attempt.stalled))
            return false;
        chain.next_check = chain.next_attendance;
        look_ahead(chain, round);
        return true;
    }

    /// A lane begins.
    EDDY_HD static void begin(Chain<Spec>& chain, int place) { chain.stiff_looks[place] = 0; }
    [[nodiscard]] EDDY_HD static std::uint16_t count(const Chain<Spec>& chain, int place) {
        return chain.stiff_looks[place];
    }
    /// After `round`: finds out when to look next.
    EDDY_HD static void look_ahead(Chain<Spec>& chain, std::int64_t round) {
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        for (int place = 0; place < Spec::num_places; ++place) {
            if (chain.occupants[place].lane == no_lane) continue;
            const std::int64_t first = chain.first_round[place];
            next = min(next, first + next_stiffness_look(round + 1 - first) - 1);
        }
        chain.next_look = next;
        chain.next_attendance = chain.next_check;
        chain.next_check = min(chain.next_attendance, next);
    }

  private:
    EDDY_HD static void look(Chain<Spec>& chain, const Attempt<Spec>& attempt, std::int64_t round) {
        const MaskOf<typename Spec::Primal> seen =
            attempt.accepted & Spec::Stepper::is_stiff(attempt.trial);
        for (int place = 0; place < Spec::num_places; ++place) {
            if (chain.occupants[place].lane == no_lane) continue;
            const bool counts =
                looks_for_stiffness(round - chain.first_round[place] + 1) && get_lane(seen, place);
            std::uint16_t& looks = chain.stiff_looks[place];
            if (counts && looks < std::numeric_limits<std::uint16_t>::max()) ++looks;
        }
    }
};

template <class Spec, class Team, class TangentWatch>
using StiffnessLooksFor =
    std::conditional_t<ChainLooks<Spec>::are_taken && may_watch<Team>,
                       StiffnessLooks<Spec, TangentWatch>, NoStiffnessLooks<Spec>>;

}  // namespace eddy::inline v0::detail
