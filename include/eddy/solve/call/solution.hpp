#pragma once
// What a solve returns. Arrays are (trajectory, component), each component contiguous over trajectories;
// there is one per save point, however many steps were taken.
// Test: tests/solve/solver_objects.cpp, tests/solve/failures.cpp

#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/call/outcomes.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

class RankGroup;  // ranks/rank_group.hpp

/// What a solution keeps itself: not what the caller gave arrays for.
struct SolutionParts {
    bool y = true;
    bool has_tangents = false, tangent = false;
    bool steps = false;
    std::int64_t paths = 1;    // more: means in place of states, and variances
    bool comes_later = false;  // what becomes of the lanes
    double noise_cell = 0;     // of stochastic equations
    bool variance = true;      // of several paths
};

/// The accepted steps of one lane.
template <class Real>
struct StepsOfLane {
    std::vector<double> t;  // (step), the start first
    std::vector<Real> y;    // (step, component)
};

}  // namespace detail

/// The states at the save points, and the outcome of each trajectory. Save points that a trajectory
/// did not reach are NaN.
template <class Real>
class [[nodiscard]] Solution : public Outcomes {
  public:
    Solution() = default;
    Solution(const Solution&);
    Solution(Solution&&) noexcept;
    Solution& operator=(const Solution&);
    Solution& operator=(Solution&&) noexcept;
    ~Solution();

    /// The number of save points; 1, the end, if none were given.
    [[nodiscard]] std::ptrdiff_t num_saves() const {
        return static_cast<std::ptrdiff_t>(saved_.num_saves);
    }
    /// The time of save point k of all trajectories.
    [[nodiscard]] double t(std::ptrdiff_t k) const {
        require_save_point(k);
        require_argument(!saved_.is_own,
                         "solution: t({}) where each trajectory has times of its own; call t({}, "
                         "trajectory)",
                         k, k);
        return saved_.t[static_cast<std::size_t>(k)];
    }
    /// The time of save point k of a trajectory. NaN if it has fewer.
    [[nodiscard]] double t(std::ptrdiff_t k, std::ptrdiff_t lane) const {
        require_save_point(k);
        detail::require_index(lane, num_lanes(), "solution: trajectory");
        const std::ptrdiff_t row = saved_.is_own ? lane : 0;
        return saved_.t[static_cast<std::size_t>(row * num_saves() + k)];
    }
    /// The state at save point k, as (trajectory, component), or the values of `observe`. With times
    /// of their own it is each trajectory's k-th save point, NaN where it has fewer. It is a
    /// view of this solution's memory. For a temporary solution, as in `solve(…).y()`, it is an
    /// array of its own.
    [[nodiscard]] EnsembleView<const Real> y(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_kept(parts_.y);
        require_one_path();
        return block(y_, k);
    }
    [[nodiscard]] EnsembleArray<Real> y(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(y(k));
    }
    /// With `.paths`: the mean over the paths of each trajectory at save point k, as (trajectory,
    /// component). Failed paths are left out. NaN if no path is left.
    [[nodiscard]] EnsembleView<const Real> mean(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_paths();
        require_kept(parts_.y);
        return block(y_, k);
    }
    [[nodiscard]] EnsembleArray<Real> mean(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(mean(k));
    }
    /// With `.paths`: the variance over the paths of each trajectory, divided by n − 1. NaN for
    /// fewer than two paths.
    [[nodiscard]] EnsembleView<const Real> variance(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_paths();
        require_kept(parts_.variance);
        return block(variance_, k);
    }
    [[nodiscard]] EnsembleArray<Real> variance(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(variance(k));
    }
    /// After `pushforward`: the tangent at save point k, as (trajectory, component). With `.paths`,
    /// it is the tangent of the mean.
    [[nodiscard]] EnsembleView<const Real> tangent(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_argument(
            parts_.has_tangents,
            "solution: tangent(k) of a solve, which has none; call pushforward instead of solve");
        require_kept(parts_.tangent);
        return block(tangent_, k);
    }
    [[nodiscard]] EnsembleArray<Real> tangent(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(tangent(k));
    }

    /// After `pushforward`: whether the steps, chosen for the state, fail to resolve the tangent of
    /// this trajectory. The mark converts to bool; `to_text(solution.unreliable(lane))` says what
    /// helps.
    [[nodiscard]] TangentMark unreliable(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "solution: trajectory");
        need();
        return marks_.empty() ? TangentMark{} : marks_[static_cast<std::size_t>(lane)];
    }

    /// Stochastic equations: the interval of time with normals of its own, from options.noise_cell
    /// or, if that is 0, dt0. Solves with the same seed, path number and cell follow the same path.
    /// 0 for equations without noise.
    [[nodiscard]] double noise_cell() const { return parts_.noise_cell; }

    /// The number of accepted steps kept by `save_steps`, the initial state included.
    [[nodiscard]] std::ptrdiff_t num_steps(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "solution: trajectory");
        return steps_.empty() ? 0 : static_cast<std::ptrdiff_t>(of(lane).t.size());
    }
    /// The time after accepted step k; t0 for k = 0.
    [[nodiscard]] double step_t(std::ptrdiff_t lane, std::ptrdiff_t k) const {
        require_step(lane, k);
        return of(lane).t[static_cast<std::size_t>(k)];
    }
    /// Component i of the state after accepted step k.
    [[nodiscard]] Real step_y(std::ptrdiff_t lane, std::ptrdiff_t k, std::ptrdiff_t i) const {
        require_step(lane, k);
        detail::require_index(i, num_state_, "solution: component");
        return of(lane).y[static_cast<std::size_t>(k * num_state_ + i)];
    }

    /// Allocates for these save points, everything NaN; called by whoever fills it in.
    void reset(std::ptrdiff_t lanes, const detail::PlannedSaves& save_times, std::ptrdiff_t columns,
               std::ptrdiff_t state_size, const detail::SolutionParts& parts);
    /// No trajectories and no save points; the memory is kept.
    void clear();
    TangentMark* watch_tangents();
    [[nodiscard]] EnsembleView<Real> y_of(std::ptrdiff_t k) { return block(y_, k); }
    [[nodiscard]] EnsembleView<Real> tangent_of(std::ptrdiff_t k) { return block(tangent_, k); }
    [[nodiscard]] EnsembleView<Real> variance_of(std::ptrdiff_t k) { return block(variance_, k); }
    [[nodiscard]] std::ptrdiff_t num_columns() const { return num_columns_; }
    /// The accepted steps of a row of another solution, and the mark of its tangent.
    void take_steps(std::ptrdiff_t lane, Solution& other, std::ptrdiff_t row);
    void append_step(std::ptrdiff_t lane, double t, const Real* y);
    /// The ranks among whose trajectories these are; null: these are all.
    [[nodiscard]] const std::shared_ptr<detail::RankGroup>& ranks() const { return ranks_; }
    /// Says among which ranks' trajectories these are.
    void set_ranks(std::shared_ptr<detail::RankGroup> ranks) { ranks_ = std::move(ranks); }

  private:
    friend struct detail::SolutionRows<Real>;
    void clear_parts();
    void require_save_point(std::ptrdiff_t k) const {
        detail::require_index(k, num_saves(), "solution: save point");
    }
    static void require_kept(bool is_kept) {
        require_argument(is_kept,
                         "solution: these states are in the arrays that the call was given to "
                         "write into; read them there");
    }
    void require_one_path() const {
        require_argument(num_paths() == 1,
                         "solution: y(k) of a trajectory with {} paths, whose states are not kept; "
                         "call mean(k) and variance(k), or make each path a trajectory",
                         num_paths());
    }
    void require_paths() const {
        require_argument(num_paths() > 1,
                         "solution: mean and variance of one path; set .paths, or call y(k)");
    }
    void require_step(std::ptrdiff_t lane, std::ptrdiff_t k) const {
        detail::require_index(lane, num_lanes(), "solution: trajectory");
        require_argument(!steps_.empty() || num_lanes() == 0,
                         "solution: no steps were kept; set .save_steps = true");
        detail::require_index(k, num_steps(lane), "solution: step");
    }
    [[nodiscard]] const detail::StepsOfLane<Real>& of(std::ptrdiff_t lane) const {
        return steps_[static_cast<std::size_t>(lane)];
    }
    template <class Values>
    [[nodiscard]] auto block(Values& values, std::ptrdiff_t k) const {
        using Element = std::remove_pointer_t<decltype(values.data())>;
        return EnsembleView<Element>{values.data() + k * num_lanes() * num_columns_, num_lanes(),
                                     num_columns_, 1, num_lanes()};
    }

    detail::SolutionParts parts_;
    detail::SavedTimes saved_;
    std::vector<Real> y_, tangent_, variance_;  // (save point, component, lane)
    std::ptrdiff_t num_columns_ = 0;
    std::ptrdiff_t num_state_ = 0;
    std::vector<detail::StepsOfLane<Real>> steps_;  // (lane)
    std::vector<TangentMark> marks_;                // (lane) of tangents; empty: none watched
    std::shared_ptr<detail::RankGroup> ranks_;
};

extern template class EDDY_EXPORT Solution<float>;
extern template class EDDY_EXPORT Solution<double>;

}  // namespace eddy::inline v0
