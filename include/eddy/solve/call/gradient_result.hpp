#pragma once
// What a gradient returns: the loss and its derivatives, of each trajectory, and what they took.
// Test: tests/solve/unreliable.cpp, tests/solve/oracle_gradients.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/sweeps.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// The loss of each trajectory, with its sum and its mean over all: NaN unless all succeed, so that
/// failing never looks like progress.
template <class Real>
struct Loss {
    double total = 0;  ///< the sum over all trajectories
    double mean = 0;   ///< the mean over all trajectories
    /// The sum over those that succeeded, of which gradients of shared parameters are; NaN if none has.
    double total_of_successful = 0;
    double mean_of_successful = 0;  ///< the mean over those that succeeded; NaN if none has
    /// How many have succeeded; with `.paths`, those of which a path has.
    std::int64_t num_successful = 0;
    std::vector<Real> of_lane;  ///< that of each trajectory; NaN if it failed

    /// The loss of one trajectory; NaN if it failed.
    [[nodiscard]] Real operator()(std::ptrdiff_t lane) const {
        detail::require_index(lane, static_cast<std::ptrdiff_t>(of_lane.size()),
                              "loss: trajectory");
        return of_lane[static_cast<std::size_t>(lane)];
    }
};

/// One number for each trajectory.
template <class Real>
struct LaneValues : EnsembleArray<Real> {
    [[nodiscard]] Real operator()(std::ptrdiff_t lane) const {
        require_argument(
            this->cols() == 1,
            "gradient: a derivative with respect to a time was asked for, but none is here; put "
            "eddy::differentiate_times after the options of the call (of the solve, for a "
            "pullback), "
            "or read the array that it was given to write into");
        detail::require_index(lane, this->rows(), "gradient: trajectory");
        return EnsembleArray<Real>::operator()(lane, 0);
    }
};

/// Gradients, of the shapes of y0 and p. Those of a failed trajectory are zero.
template <class Real>
struct Gradient {
    EnsembleArray<Real> y0;  ///< with respect to the initial values
    /// The gradient with respect to the parameters. `shared` parameters have one row, summed over the
    /// trajectories.
    EnsembleArray<Real> p;
    LaneValues<Real> t0;  ///< with `differentiate_times`: with respect to the start
    LaneValues<Real> t1;  ///< with `differentiate_times`: with respect to the end
    /// The derivatives with respect to the save points, (trajectory, save point), with
    /// `differentiate_times`; empty without `.save_at`.
    EnsembleArray<Real> save_at;
    /// With respect to the amounts of impulses, (trajectory, impulse); empty without `.impulses`.
    EnsembleArray<Real> impulse_amounts;
    /// With respect to the times of impulses, (trajectory, impulse), with `differentiate_times`. Of several at one
    /// time the first has the derivative with respect to the time that they have together, and the others have zero.
    EnsembleArray<Real> impulse_times;
    /// Of `parameters(own, shared)`: with respect to the shared ones, one row, summed over the trajectories.
    EnsembleArray<Real> shared;
    /// With respect to the values of `.inputs`, of their shape: (knot, component), summed over the trajectories, or, of each
    /// trajectory's own, (trajectory, knot · component). Empty where there are no inputs.
    EnsembleArray<Real> inputs;
};

/// Estimated errors of a gradient, of its shape, in its units.
struct GradientError {
    EnsembleArray<double> y0;
    EnsembleArray<double> p;
};

/// A parameter that nothing reads, as an entry of the gradient: a zero there says nothing of the data.
struct UnreadParameter {
    std::ptrdiff_t row = -1;    ///< of `gradient.p`; -1: every row
    std::ptrdiff_t column = 0;  ///< of `gradient.p`, or of `gradient.shared`
    bool is_shared = false;     ///< in `gradient.shared`
    friend bool operator==(const UnreadParameter&, const UnreadParameter&) = default;
};

/// The outcomes of all trajectories, and what the gradient took. A counted step is one of a whole
/// group of trajectories.
struct GradientReport : Outcomes {
    LoopCounters counters;  ///< advances, recomputed, pullbacks, stores, loads; most kept at once
    std::int64_t checkpoints = 0;  ///< states that each group was allowed to keep
    /// Bytes of states and step sizes for the backward pass, all threads together; the solver object
    /// keeps them for its next call.
    std::int64_t bytes_kept = 0;
    /// Evaluations of f in the backward pass, all trajectories together; `stats(lane)` has those of the
    /// forward pass.
    std::int64_t evaluations_back = 0;

    /// How many values of data the loss of a trajectory has: of those given by `missing_as_nan` the ones that are not
    /// missing.
    [[nodiscard]] std::int64_t num_observed(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        return observed.empty() ? num_values : observed[static_cast<std::size_t>(lane)];
    }

    /// The parameters that neither the equation, nor `start_from`, nor the loss reads, and entries of a table that no
    /// trajectory selects. Empty after `pullback`, and of equations with noise or events.
    std::vector<UnreadParameter> unread;

    /// Whether the trajectory was solved once more, because its steps did not resolve its derivative.
    /// The loss, gradient and statistics of such a trajectory are those of the second solve.
    [[nodiscard]] bool redone(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        const auto index = static_cast<std::size_t>(lane);
        return index < was_redone.size() && was_redone[index] != 0;
    }
    /// Whether the backward pass checked this at all: not with constant steps, and only for explicit
    /// Runge–Kutta methods.
    bool is_watched = false;
    /// Whether the steps of a trajectory did not resolve its derivative, and no second solve helped: its
    /// gradient is that of the computed numbers, and may be far from that of the solution. The mark
    /// converts to bool; `to_text(report.unreliable(lane))` says what helps.
    [[nodiscard]] GradientMark unreliable(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        const auto index = static_cast<std::size_t>(lane);
        need();  // it comes with the outcomes
        return index < marks.size() ? marks[index] : GradientMark{};
    }

    /// How far the gradient moves, to first order, if the embedded error estimate of each step is
    /// added to the state at its end; with `estimate_gradient_error`, else empty. It usually exceeds
    /// the error, as the estimates of steps do.
    GradientError error_estimate;
    /// The relative error of one trajectory: its largest estimate over its largest derivative, for y0
    /// and for parameters of its own separately. Above one, the gradient is worthless, or one of the two
    /// is zero except for its error. NaN if the trajectory failed.
    [[nodiscard]] double gradient_error(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        require_argument(!relative_errors.empty(),
                         "report: an error of the gradient was asked for, but none was estimated; "
                         "put eddy::estimate_gradient_error after the options of the call");
        return relative_errors[static_cast<std::size_t>(lane)];
    }

    // For the call that fills it in: (lane), or empty.
    std::vector<double> relative_errors;
    /// For each trajectory its `num_observed`; empty where no value may be missing.
    std::vector<std::int64_t> observed;
    std::int64_t num_values = 0;  ///< values of data that are given to each trajectory
    std::vector<GradientMark> marks;
    std::vector<char> was_redone;
};

/// What `value_and_gradient` returns.
template <class Real>
struct [[nodiscard]] ValueAndGradient {
    Loss<Real> loss;          ///< of each trajectory, and over all
    Gradient<Real> gradient;  ///< with respect to initial values, parameters and times
    GradientReport report;    ///< how each trajectory ended, and what it cost
};

namespace detail {

/// What a call has found, moved out of it: in src/.
[[nodiscard]] EDDY_EXPORT ValueAndGradient<float> taken(ValueAndGradient<float>& found);
[[nodiscard]] EDDY_EXPORT ValueAndGradient<double> taken(ValueAndGradient<double>& found);

}  // namespace detail

/// A gradient with its report: `pulled.gradient.p`, as of every call, or `pulled.p` for short; and
/// `pulled.report`.
template <class Real>
struct [[nodiscard]] PulledGradient {
    Gradient<Real> gradient;
    GradientReport report;
    EnsembleArray<Real>&y0 = gradient.y0, &p = gradient.p;
    LaneValues<Real>&t0 = gradient.t0, &t1 = gradient.t1;
    EnsembleArray<Real>& save_at = gradient.save_at;

    PulledGradient(Gradient<Real>&& of, GradientReport&& told)
        : gradient(std::move(of)), report(std::move(told)) {}
    // The short names of a copy are those of its own gradient.
    PulledGradient(const PulledGradient& other) : gradient(other.gradient), report(other.report) {}
    PulledGradient(PulledGradient&& other) noexcept
        : PulledGradient(std::move(other.gradient), std::move(other.report)) {}
    PulledGradient& operator=(PulledGradient other) noexcept {
        gradient = std::move(other.gradient);
        report = std::move(other.report);
        return *this;
    }
    ~PulledGradient() = default;

    operator const Gradient<Real>&() const { return gradient; }
};

/// What `pullback_solver` gives: both stay valid until its next call.
template <class Real>
struct [[nodiscard]] PulledBack {
    Gradient<Real>& gradient;
    GradientReport& report;
};

/// The gradient, and the product of the Hessian of the total loss with the direction.
template <class Real>
struct [[nodiscard]] HessianVectorProduct {
    Gradient<Real> gradient;  ///< with respect to initial values and parameters
    Gradient<Real> product;   ///< the Hessian of `loss.total` times the direction
    GradientReport report;    ///< how each trajectory ended, and what it cost
    Loss<Real> loss;          ///< of each trajectory, and over all
};

}  // namespace eddy::inline v0
