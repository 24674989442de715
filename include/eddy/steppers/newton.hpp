#pragma once
// When Newton's iteration for the stage of a step ends, in each place of a Number by itself (Hairer &
// Wanner 1996, Solving ODEs II, IV.8, eqs. 8.10 and 8.11). The matrix stays that of the step, so that
// updates fall geometrically: with their norms in units of what may be left of the error, and θ the ratio
// of the last two,
//
//   θ / (1 − θ) ‖Δ‖ ≤ 1   ends it.
//
// Invariant: what a place computes does not depend on its neighbours: once its iteration has ended, it
// stands still until theirs have.
// Test: tests/steppers/newton.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/counted_components.hpp>
#include <eddy/steppers/stepper.hpp>
#include <limits>

namespace eddy::inline v0 {

/// How large updates may be when they are the last: the method's part of the step's tolerances, but not
/// below what rounding leaves; without tolerances, that alone.
template <class Scalar>
struct NewtonScale {
    static constexpr Scalar rounding = 20 * std::numeric_limits<Scalar>::epsilon();

    template <class Tolerances>
    EDDY_HD explicit NewtonScale(const Tolerances& tolerances) {
        if constexpr (requires { tolerances.rtol; }) {
            share = tolerances.newton_tolerance;
            most_iterations = 10;
            rtol = max(share * tolerances.rtol, rounding);
        }
    }

    Scalar share = 1, rtol = rounding;
    int most_iterations = 50;  // for one stage

    /// The norm of an update between y, where the step starts, and what it leads to.
    template <class Real, int size, class Tolerances>
    [[nodiscard]] EDDY_INLINE EDDY_HD Real norm(const Vec<Real, size>& update,
                                                const Vec<Real, size>& y,
                                                const Vec<Real, size>& next,
                                                const Tolerances& tolerances) const {
        if constexpr (requires { tolerances.atol; })
            return norm_by(update, y, next, tolerances.atol);
        else
            return norm_by(update, y, next, Scalar(0));
    }
    /// The same over the components of a term's state that change.
    template <class Term, class State, class Tolerances>
    [[nodiscard]] EDDY_INLINE EDDY_HD auto norm_of(const State& update, const State& y,
                                                   const State& next,
                                                   const Tolerances& tolerances) const {
        if constexpr (detail::CountedComponents<Term>::are_all)
            return norm(update, y, next, tolerances);
        else if constexpr (requires { tolerances.atol; })
            return norm_by(detail::counted<Term>(update), detail::counted<Term>(y),
                           detail::counted<Term>(next), detail::counted<Term>(tolerances.atol));
        else
            return norm_by(detail::counted<Term>(update), detail::counted<Term>(y),
                           detail::counted<Term>(next), Scalar(0));
    }
    /// Updates below this are rounding.
    [[nodiscard]] EDDY_HD Scalar floor() const { return rounding / rtol; }

  private:
    /// `atol`: a number for all, or one for each.
    template <class Real, int size, class Atol>
    [[nodiscard]] EDDY_INLINE EDDY_HD Real norm_by(const Vec<Real, size>& update,
                                                   const Vec<Real, size>& y,
                                                   const Vec<Real, size>& next,
                                                   const Atol& atol) const {
        const auto ratio = [&](int i) EDDY_INLINE {
            Scalar of_component(0);
            if constexpr (requires { atol[i]; }) of_component = share * atol[i];
            return scaled_error(update[i], y[i], next[i], rtol, of_component);
        };
        const Real per_component(Scalar(1) / Scalar(size));
        if constexpr (sizeof(Scalar) <= sizeof(double)) {
            return sqrt(convert<Real>(sum_of_squared_ratios<size>(ratio)) * per_component);
        } else {  // of the bits of which nothing is known
            Real sum(0);
            for (int i = 0; i < size; ++i) {
                const Real x = ratio(i).x / ratio(i).scale;
                sum = mul_add(x, x, sum);
            }
            return sqrt(sum * per_component);
        }
    }
};

/// The iterations of the stages of one step.
template <class Real>
class NewtonProgress {
    using Mask = MaskOf<Real>;

  public:
    /// `floor`: norm of updates that are rounding.
    EDDY_INLINE EDDY_HD NewtonProgress(const Mask& failed, const ScalarOf<Real>& floor)
        : failed_(failed), floor_(floor) {}

    /// Has it ended without a solution, in this stage or one before?
    [[nodiscard]] EDDY_HD const Mask& failed() const { return failed_; }
    /// Updates so far, of all stages: each asks f once.
    [[nodiscard]] EDDY_HD const Real& num_updates() const { return num_updates_; }
    /// Does it go on anywhere?
    [[nodiscard]] EDDY_INLINE EDDY_HD bool goes_on() const { return any(active_); }

    EDDY_INLINE EDDY_HD void begin_stage() { active_ = !failed_; }
    /// Takes the norm of an update, and says where it is made. Updates of Newton's own iteration may grow
    /// until it is near.
    [[nodiscard]] EDDY_INLINE EDDY_HD Mask take(const Real& norm, bool is_first,
                                                bool may_grow = false) {
        const Mask was_active = active_, is_number = norm <= Real(largest);
        // What the stage before has shown serves until there are two updates.
        Mask stagnates = norm < norm, grows = stagnates;
        if (!is_first) {
            const Real ratio = norm / last_;
            rate_ = select(was_active, max(ratio, Real(least_rate)), rate_);
            stagnates = ratio >= Real(1);
            if (!may_grow) grows = ratio >= Real(2);
        }
        last_ = norm;
        num_updates_ = num_updates_ + select(was_active, Real(1), Real(0));
        // An update that grows no smaller, but is within bounds, is rounding as well.
        const Mask converged = (rate_ * norm <= Real(1) - rate_) | (norm <= Real(floor_)) |
                               (stagnates & (norm <= Real(1)));
        const Mask diverges = (!is_number) | (grows & (!converged));
        failed_ = failed_ | (was_active & diverges);
        active_ = was_active & (!converged) & (!diverges);
        return was_active & is_number;
    }
    /// What has not converged by now has failed.
    EDDY_INLINE EDDY_HD void end_stage() { failed_ = failed_ | active_; }
    /// Takes back that the stage failed, where iterations of another kind have solved it since.
    EDDY_HD void solved_by(const NewtonProgress& others, const Mask& where) {
        failed_ = failed_ & (!where);
        num_updates_ = num_updates_ + others.num_updates_;
    }

  private:
    using Scalar = ScalarOf<Real>;
    static constexpr Scalar largest = static_cast<Scalar>(1e30);
    /// Quick convergence of one stage promises no more than this of the next.
    static constexpr Scalar least_rate = static_cast<Scalar>(1e-3);

    Mask failed_, active_{};
    Real rate_{Scalar(1)}, last_{}, num_updates_{};
    Scalar floor_;
};

}  // namespace eddy::inline v0
