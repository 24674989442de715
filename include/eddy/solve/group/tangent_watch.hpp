#pragma once
// The tangents of a group on its way forward, watched: a lane is marked at the first accepted step whose
// error in the tangent is beyond its limit (lane/tangent_mark.hpp). Which that is depends on the lane
// alone, and nothing that is computed changes.
// Test: tests/solve/unreliable.cpp

#include <eddy/solve/group/forward_memory.hpp>
#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

/// Watches nothing.
template <class Spec>
struct NoTangentWatch {
    EDDY_HD static void begin(const Chain<Spec>&, int, const TangentMark*) {}
    [[nodiscard]] EDDY_HD static constexpr bool sees(const Problem<Spec>&, const Chain<Spec>&,
                                                     const Attempt<Spec>&) {
        return false;
    }
    EDDY_HD static void mark(const Problem<Spec>&, const Chain<Spec>&, const ChainState<Spec>&,
                             const Attempt<Spec>&, const TangentMark*) {}
};

template <class Spec>
struct TangentWatch {
    using Primal = typename Spec::Primal;

    /// A lane begins.
    EDDY_HD static void begin(Chain<Spec>& chain, int place, const TangentMark* marks) {
        set_lane(chain.watched, place, marks != nullptr);
    }
    /// Is there any lane to mark?
    [[nodiscard]] EDDY_INLINE EDDY_HD static bool sees(const Problem<Spec>& problem,
                                                       const Chain<Spec>& chain,
                                                       const Attempt<Spec>& attempt) {
        return any(beyond(problem, chain, attempt));
    }
    /// Marks them. `marks` are those of the group.
    EDDY_HD static void mark(const Problem<Spec>& problem, Chain<Spec>& chain,
                             const ChainState<Spec>& before, const Attempt<Spec>& attempt,
                             TangentMark* marks) {
        const MaskOf<Primal> seen = beyond(problem, chain, attempt);
        if (!any(seen)) return;
        const Primal ratio =
            TangentError<Spec>::ratio(problem, attempt.trial.error, attempt.trial.next);
        for (int place = 0; place < Spec::num_places; ++place) {
            if (!get_lane(seen, place)) continue;
            set_lane(chain.watched, place, false);
            marks[chain.occupants[place].lane] = {chain.steps.time_of(before.elapsed, place),
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
                       TangentWatch<Spec>, NoTangentWatch<Spec>>;

}  // namespace eddy::inline v0::detail
