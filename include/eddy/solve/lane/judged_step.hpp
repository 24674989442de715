#pragma once
// What the error of an attempt means: whether the step is accepted, whether it could be no smaller, and the size of
// the next one. One text for all places of a chain and for a lane of a tile; the oracle has its own
// (backends/serial/lane_solve.hpp). What a step means for the life of its lane is told in landing.hpp.
// Test: tests/solve/failures.cpp, tests/solve/tiles_oracle.cpp

#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/problem.hpp>

namespace eddy::inline v0::detail {

/// The least size of a step: below four units in the last place of the elapsed time it would hardly move it.
template <class Spec>
[[nodiscard]] EDDY_INLINE EDDY_HD inline typename Spec::Time least_size(
    const Problem<Spec>& problem, const typename Spec::Time& elapsed) {
    using Time = typename Spec::Time;
    return max(Time(problem.clock.least), elapsed * Time(4 * TimeLimits<Time>::epsilon));
}

/// The verdict on what was `tried`, with this squared error: `used` is its size where it is accepted, else zero; NaN
/// is not accepted. `next` receives the size and the history of the next one, no smaller than `least`. Returns
/// where it is accepted.
template <class Spec, class From, class Tried, class Next>
EDDY_INLINE EDDY_HD inline MaskOf<typename Spec::Time> judge_step(
    const Problem<Spec>& problem, const From& from, Tried& tried, Next& next,
    const typename Spec::Single& squared_error, const typename Spec::Time& least, bool may_be_cut) {
    using Time = typename Spec::Time;
    using Single = typename Spec::Single;
    const auto decision =
        problem.control.propose(squared_error, problem.error_order(), from.history);
    const auto moves = tried.size > Time(0);
    const auto accepted = (convert<Time>(squared_error) <= Time(1)) & moves;
    tried.used = select(accepted, tried.size, Time(0));
    next.size = tried.size * convert<Time>(decision.factor);
    copy_parts(next.history, decision.history);
    if (Spec::has_dyadic_steps) {
        // At most twice the size follows one that was accepted, which it does not shrink; at most half
        // follows one that was rejected.
        next.size = select(accepted, min(max(next.size, tried.size), Time(2) * tried.size),
                           min(next.size, Time(0.5) * tried.size));
    } else if (may_be_cut) [[unlikely]] {
        // A step cut short to land says nothing against the size before the cut; and its small error is
        // none that the next one should be compared with.
        const auto cut = accepted & (tried.size < min(from.size, Time(problem.clock.dt_max)));
        const auto is_cut = places_of<Single, Time>(cut);
        next.size = select(cut, max(next.size, from.size), next.size);
        next.history.previous_log2 =
            select(is_cut, from.history.previous_log2, next.history.previous_log2);
        next.history.earlier_log2 =
            select(is_cut, from.history.earlier_log2, next.history.earlier_log2);
    }
    tried.stalled = moves & (!accepted) & (tried.size <= least);
    next.size = max(next.size, least);
    return accepted;
}

}  // namespace eddy::inline v0::detail
