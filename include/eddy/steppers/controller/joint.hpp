#pragma once
// One step size for all lanes of a call, from one norm: the root of the mean, over lanes and components,
// of (error / scale)², as of a single equation that has all lanes for its state. What shares one step is
// for the solver to see to; here the norm of all meets the controller that a lane would have.
// Test: tests/backends/joint_steps.cpp

#include <eddy/steppers/controller/pid.hpp>

namespace eddy::inline v0 {

/// All trajectories of a call take the same steps, as in torchdiffeq; it needs the backend `Tiles` or `Rows`.
/// The error norm is over all of them, so a step may pass that a single trajectory would reject.
/// A trajectory whose step is not finite makes the common step shrink. If the smallest step does
/// not help, that trajectory ends there and the others continue.
struct JointController {
    static constexpr bool is_adaptive = true;
    static constexpr bool is_joint = true;
    PIDController controller{};  ///< gets the norm of all trajectories

    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD StepDecision<Real> propose(
        const Real& squared_norm, float error_order, const ControllerHistory<Real>& history) const {
        return controller.propose(squared_norm, error_order, history);
    }
};

namespace detail {

/// Does the controller choose one size for all lanes?
template <class Controller>
inline constexpr bool steps_jointly = [] {
    if constexpr (requires { Controller::is_joint; })
        return Controller::is_joint;
    else
        return false;
}();

}  // namespace detail
}  // namespace eddy::inline v0
