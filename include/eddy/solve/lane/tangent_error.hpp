#pragma once
// Do the steps of a pushforward, chosen for the state, carry its tangent? Each step says: the error
// estimate of a dual number has a tangent of its own. Where it is far above the tangent's tolerance,
// by the tolerances of the state, the lane is marked. Norms are largest magnitudes.
// Test: tests/solve/unreliable.cpp

#include <eddy/core/vec_math.hpp>
#include <eddy/solve/lane/problem.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>
#include <eddy/solve/lane/tangent_tolerance.hpp>
#include <eddy/steppers/adjoint_watch.hpp>

namespace eddy::inline v0::detail {

/// The error of a step's tangent in units of the tolerance.
template <class Spec>
struct TangentError {
    using Real = typename Spec::Primal;
    using State = typename Spec::State;
    template <class Number>
    using Tangents = Vec<Number, Spec::state_size>;

    /// In which places is the error of some component beyond the limit? `next` is the step's end.
    [[nodiscard]] EDDY_INLINE EDDY_HD static MaskOf<Real> is_beyond(const Problem<Spec>& problem,
                                                                    const State& error,
                                                                    const State& next) {
        return are_beyond(problem, tangents(error), tangents(next));
    }
    /// The same of tangents alone.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static MaskOf<Number> are_beyond(
        const Problem<Spec>& problem, const Tangents<Number>& error, const Tangents<Number>& next) {
        const TangentTolerance allowed(problem, largest_magnitude(next), tangent_limit);
        MaskOf<Number> beyond(false);
        for_components<Spec::state_size>(
            [&](int i) EDDY_INLINE { beyond = beyond | (abs(error[i]) > allowed(i)); });
        return beyond;
    }
    /// The largest of all components.
    [[nodiscard]] EDDY_HD static Real ratio(const Problem<Spec>& problem, const State& error,
                                            const State& next) {
        return ratio_of(problem, tangents(error), tangents(next));
    }
    template <class Number>
    [[nodiscard]] EDDY_HD static Number ratio_of(const Problem<Spec>& problem,
                                                 const Tangents<Number>& error,
                                                 const Tangents<Number>& next) {
        const TangentTolerance allowed(problem, largest_magnitude(next), 1);
        Number largest(0);
        for (int i = 0; i < Spec::state_size; ++i)
            largest = max(largest, abs(error[i]) / allowed(i));
        return largest;
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD static Tangents<Real> tangents(const State& x) {
        Tangents<Real> tangents;
        for_components<Spec::state_size>([&](int i)
                                             EDDY_INLINE { tangents[i] = primal(x[i].tangent); });
        return tangents;
    }
};

/// Solves whose tangents can be watched, and recorders that want them to be.
template <class Spec>
inline constexpr bool can_watch_tangents = Spec::is_dual&& Spec::is_adaptive && !Spec::has_event;
template <class Recorder>
inline constexpr bool wants_tangents_watched = requires {
    requires Recorder::watches_tangents;
};

}  // namespace eddy::inline v0::detail
