#pragma once
// What a gradient gives back: the loss and its derivatives, lane by lane, and what they took.

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <vector>

namespace eddy::inline v0 {

/// The loss of each trajectory, with its sum and its mean over all: NaN unless all succeed, so that
/// failing never looks like progress.
template <class Real>
struct Loss {
    double total = 0;
    double mean = 0;
    // The same over those that succeeded, whose gradients are summed; NaN where none has.
    double total_of_successful = 0;
    double mean_of_successful = 0;
    std::int64_t num_successful =
        0;  ///< how many those are; a lane of some paths counts while one succeeds
    std::vector<Real> of_lane;  ///< NaN where it failed

    [[nodiscard]] Real operator()(std::ptrdiff_t lane) const {
        detail::require_index(lane, static_cast<std::ptrdiff_t>(of_lane.size()),
                              "loss: trajectory");
        return of_lane[static_cast<std::size_t>(lane)];
    }
};

/// One number per lane.
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

/// Gradients, of the shapes of y0 and p; a shared p has one row, summed over the lanes. Those of a
/// lane that failed are zero.
template <class Real>
struct Gradient {
    EnsembleArray<Real> y0;
    EnsembleArray<Real> p;
    // Of times, where `differentiate_times` asked for them:
    LaneValues<Real> t0, t1;
    EnsembleArray<Real> save_at;  ///< (lane, save point); empty where the end is the only one
};

/// Estimated errors of a gradient, of its shape, in its units.
struct GradientError {
    EnsembleArray<double> y0;
    EnsembleArray<double> p;
};

/// What a gradient did, besides the outcomes of all lanes: counts are of rows, in which each slot
/// of a group makes a step.
struct GradientReport : Outcomes {
    LoopCounters counters;  ///< advances, recomputed, pullbacks, stores, loads; most kept at once
    std::int64_t checkpoints = 0;  ///< that each group was allowed
    /// Bytes that the states and logs for the way back take, of all threads together; the solver
    /// object keeps them for its next call.
    std::int64_t bytes_kept = 0;
    /// Evaluations of f on the way back, all lanes together; stats(lane) has those forward.
    std::int64_t evaluations_back = 0;

    /// Was the lane solved once more, because its steps did not carry its derivative? Its loss,
    /// gradient and statistics are then those of the second solve.
    [[nodiscard]] bool redone(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        const auto index = static_cast<std::size_t>(lane);
        return index < was_redone.size() && was_redone[index] != 0;
    }
    /// Was the way back watched, so that `unreliable` may tell? Not where steps have a constant size.
    bool is_watched = false;
    /// Where the steps of a lane did not carry its derivative, and nothing was done about it: the
    /// gradient is that of the numbers computed, and may be far from that of the solution. Tells
    /// true then; to_text(report.unreliable(lane)) says what helps.
    [[nodiscard]] GradientMark unreliable(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        const auto index = static_cast<std::size_t>(lane);
        need();  // it comes with the outcomes
        return index < marks.size() ? marks[index] : GradientMark{};
    }

    /// Where `estimate_gradient_error` asked for it: how far the gradient moves, to first order, if
    /// the embedded error estimate of each step is added to the state at its end. Usually more than
    /// the error itself, as the estimates of steps are. Empty else.
    GradientError error_estimate;
    /// Of one lane, relative: its largest estimate over its largest derivative, of y0 and of
    /// parameters that are its own apart. Above one the gradient is worthless, or one of the two is
    /// zero but for its error. NaN of a lane that failed.
    [[nodiscard]] double gradient_error(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "report: trajectory");
        require_argument(!relative_errors.empty(),
                         "report: an error of the gradient was asked for, but none was estimated; "
                         "put eddy::estimate_gradient_error after the options of the call");
        return relative_errors[static_cast<std::size_t>(lane)];
    }

    // For the call that fills it in: (lane), or empty.
    std::vector<double> relative_errors;
    std::vector<GradientMark> marks;
    std::vector<char> was_redone;
};

template <class Real>
struct [[nodiscard]] ValueAndGradient {
    Loss<Real> loss;
    Gradient<Real> gradient;
    GradientReport report;
};

/// The gradient, and the product of the Hessian of the total loss with the direction.
template <class Real>
struct [[nodiscard]] HessianVectorProduct {
    Gradient<Real> gradient;
    Gradient<Real> product;
    GradientReport report;
    Loss<Real> loss;
};

}  // namespace eddy::inline v0
