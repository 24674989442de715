#pragma once
// All derivatives that `sensitivities` has found: a matrix of each trajectory at each save point.
// Test: tests/solve/all_sensitivities.cpp

#include <cstddef>
#include <eddy/solve/call/solution.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// With respect to what derivatives are wanted.
template <bool parameters, bool y0>
struct Along {};
/// First after the options of `sensitivities`: with respect to all parameters, as without it.
inline constexpr Along<true, false> along_parameters{};
/// First after the options of `sensitivities`: with respect to y0.
inline constexpr Along<false, true> along_y0{};
/// First after the options of `sensitivities`: with respect to all parameters, then to y0.
inline constexpr Along<true, true> along_both{};

/// One derivative for each trajectory, component and direction. A view of what `sensitivities` returned.
template <class Real>
struct SensitivityView {
    const Real* first = nullptr;        ///< (component, trajectory, direction)
    std::ptrdiff_t num_lanes = 0;       ///< how many trajectories
    std::ptrdiff_t num_components = 0;  ///< how many components of y
    std::ptrdiff_t num_directions = 0;  ///< how many directions

    /// The derivative of a component in a direction.
    [[nodiscard]] const Real& operator()(std::ptrdiff_t lane, std::ptrdiff_t component,
                                         std::ptrdiff_t direction) const {
        return first[(component * num_lanes + lane) * num_directions + direction];
    }
    /// Those of one trajectory, as (component, direction): its Jacobian matrix.
    [[nodiscard]] EnsembleView<const Real> of(std::ptrdiff_t lane) const {
        return {first + lane * num_directions, num_components, num_directions,
                num_lanes * num_directions, 1};
    }
    /// Those in one direction, as (trajectory, component): what `pushforward` calls a tangent.
    [[nodiscard]] EnsembleView<const Real> along(std::ptrdiff_t direction) const {
        return {first + direction, num_lanes, num_components, num_directions,
                num_lanes * num_directions};
    }
};

/// What `sensitivities` returns: the solution, and its derivative in each direction at each save point.
template <class Real>
class [[nodiscard]] Sensitivities {
  public:
    /// The number of trajectories.
    [[nodiscard]] std::ptrdiff_t num_lanes() const {
        return solution_.num_lanes() / lanes_of_each_;
    }
    /// The number of save points.
    [[nodiscard]] std::ptrdiff_t num_saves() const { return solution_.num_saves(); }
    /// The number of directions: the parameters, then the components of y0, of those that were asked for.
    [[nodiscard]] std::ptrdiff_t num_directions() const { return num_directions_; }
    /// The time of save point k of all trajectories.
    [[nodiscard]] double t(std::ptrdiff_t k) const { return solution_.t(k); }
    /// The time of save point k of a trajectory. NaN if it has fewer.
    [[nodiscard]] double t(std::ptrdiff_t k, std::ptrdiff_t lane) const {
        require_lane(lane);
        return solution_.t(k, lane * lanes_of_each_);
    }
    /// The state at save point k, as (trajectory, component), or the values of `observe`.
    [[nodiscard]] EnsembleView<const Real> y(std::ptrdiff_t k = 0) const& {
        const EnsembleView<const Real> all = solution_.y(k);
        return {all.first, num_lanes(), all.num_components, lanes_of_each_, all.component_stride};
    }
    EnsembleView<const Real> y(std::ptrdiff_t k = 0) const&& = delete;
    /// The derivatives at save point k, as (trajectory, component, direction).
    [[nodiscard]] SensitivityView<Real> sensitivity(std::ptrdiff_t k = 0) const& {
        const std::ptrdiff_t size = solution_.y(k).num_components;
        if (lanes_of_each_ > 1)
            return {solution_.tangent(k).first, num_lanes(), size, num_directions_};
        return {carried_.data() + k * size * num_lanes() * num_directions_, num_lanes(), size,
                num_directions_};
    }
    SensitivityView<Real> sensitivity(std::ptrdiff_t k = 0) const&& = delete;

    /// How a trajectory ended.
    [[nodiscard]] Result result(std::ptrdiff_t lane) const {
        return solution_.result(told_by(lane));
    }
    /// What the steps of a trajectory cost, once for all directions.
    [[nodiscard]] LaneStats stats(std::ptrdiff_t lane) const {
        return solution_.stats(told_by(lane));
    }
    /// One sentence that says what happened to a trajectory and what to do.
    [[nodiscard]] const char* message(std::ptrdiff_t lane) const {
        return solution_.message(told_by(lane));
    }
    /// Where and how a trajectory ended.
    [[nodiscard]] LaneFailure failure(std::ptrdiff_t lane) const {
        return solution_.failure(told_by(lane));
    }
    /// True if no trajectory failed.
    [[nodiscard]] bool success() const { return solution_.success(); }
    /// Whether the steps, chosen for the state, fail to resolve the derivative of this trajectory in this
    /// direction.
    [[nodiscard]] TangentMark unreliable(std::ptrdiff_t lane, std::ptrdiff_t direction) const {
        require_lane(lane);
        detail::require_index(direction, num_directions_, "sensitivities: direction");
        if (lanes_of_each_ > 1) return solution_.unreliable(lane * lanes_of_each_ + direction);
        return marks_.empty()
                   ? TangentMark{}
                   : marks_[static_cast<std::size_t>(lane * num_directions_ + direction)];
    }

    /// The outcomes of all trajectories.
    [[nodiscard]] Outcomes outcomes() const {
        Outcomes all(static_cast<std::size_t>(num_lanes()));
        for (std::ptrdiff_t lane = 0; lane < num_lanes(); ++lane)
            all.lanes()[static_cast<std::size_t>(lane)] =
                solution_.outcomes()[static_cast<std::size_t>(told_by(lane))];
        return all;
    }

    /// Takes what a pushforward of all directions found, and gives the memory of the last one back.
    void take(Solution<Real>& solution, std::ptrdiff_t num_directions) {
        std::swap(solution_, solution);
        num_directions_ = lanes_of_each_ = num_directions;
    }
    /// Takes what a solve found whose steps have carried derivatives along.
    void take(Solution<Real>& solution, std::vector<Real>& carried, std::vector<TangentMark>& marks,
              std::ptrdiff_t num_directions) {
        std::swap(solution_, solution);
        std::swap(carried_, carried);
        std::swap(marks_, marks);
        num_directions_ = num_directions;
        lanes_of_each_ = 1;
    }

  private:
    void require_lane(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "sensitivities: trajectory");
    }
    /// The lane that says what became of a trajectory: the first that failed. They differ where a call is cancelled.
    [[nodiscard]] std::ptrdiff_t told_by(std::ptrdiff_t lane) const {
        require_lane(lane);
        const std::ptrdiff_t first = lane * lanes_of_each_, end = first + lanes_of_each_;
        for (std::ptrdiff_t one = first; one < end; ++one) {
            if (is_failure(solution_.result(one))) return one;
        }
        return first;
    }

    Solution<Real> solution_;  // of a lane for each trajectory, or for each and each direction
    std::vector<Real>
        carried_;  // (save point, component, trajectory, direction), of the first kind
    std::vector<TangentMark> marks_;  // (trajectory, direction)
    std::ptrdiff_t num_directions_ = 0, lanes_of_each_ = 1;
};

/// Throws SolveFailed unless every trajectory succeeded.
template <class Real>
void require_success(const Sensitivities<Real>& solution) {
    require_success(solution.outcomes());
}

}  // namespace eddy::inline v0
