#pragma once
// The guest that watches the tangents of a group on its way forward: a lane is marked at the first accepted step whose
// error in the tangent is beyond its limit (lane/tangent_mark.hpp). Which that is depends on the lane
// alone, and nothing that is computed changes.
// Test: tests/solve/unreliable.cpp

#include <eddy/solve/group/round_guests.hpp>
#include <eddy/solve/lane/tangent_error.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
struct TangentWatch : Guest<TangentWatch<Spec>> {
    using Primal = typename Spec::Primal;

    EDDY_HD static void enter(const auto& at, int place, std::int32_t) {
        set_lane(at.chain.watched, place, at.memory.tangent_marks != nullptr);
    }
    /// Is there any lane to mark?
    [[nodiscard]] EDDY_INLINE EDDY_HD static bool sees(const Problem<Spec>& problem,
                                                       const Chain<Spec>& chain,
                                                       const Attempt<Spec>& attempt) {
        return any(beyond(problem, chain, attempt));
    }
    /// Marks the lanes whose tangents are beyond their limits.
    EDDY_HD static void mean(const auto& at, const RoundOfChain<Spec>& round, auto&, auto&) {
        const auto& [chain, before, attempt, after] = round;
        const MaskOf<Primal> seen = beyond(at.problem, chain, attempt);
        if (!any(seen)) return;
        const Primal ratio =
            TangentError<Spec>::ratio(at.problem, attempt.trial.error, attempt.trial.next);
        for (int place = 0; place < Spec::num_places; ++place) {
            if (!get_lane(seen, place)) continue;
            set_lane(at.chain.watched, place, false);
            at.memory.tangent_marks[chain.occupants[place].lane] = {
                chain.steps.time_of(before.elapsed, place),
                static_cast<float>(get_lane(ratio, place))};
        }
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD static MaskOf<Primal> beyond(const Problem<Spec>& problem,
                                                                   const Chain<Spec>& chain,
                                                                   const Attempt<Spec>& attempt) {
        return chain.watched & attempt.accepted &
               TangentError<Spec>::is_beyond(problem, attempt.trial.error, attempt.trial.next);
    }
};

template <class Spec, class Team, class Recorder>
using TangentWatchFor =
    std::conditional_t<can_watch_tangents<Spec> && wants_tangents_watched<Recorder> &&
                           Team::watches.tangents,
                       TangentWatch<Spec>, NoGuest<1>>;

}  // namespace eddy::inline v0::detail
