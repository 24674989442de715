#pragma once
// A controller as the loop over rows asks it: its coefficients, or, of the caller's own, a function.
// Test: tests/backends/row_solve.cpp, tests/backends/tiles_objects.cpp

#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/steppers/controller/joint.hpp>
#include <eddy/steppers/controller/predictive.hpp>

namespace eddy::inline v0::detail {

[[nodiscard]] inline row_kernels::Control control_of(const PIDController& controller) {
    const PIDControl of = controller.in_single();
    return {row_kernels::Control::Kind::pid,
            {of.beta1, of.beta2, of.beta3, of.safety, of.min_factor, of.max_factor}};
}
[[nodiscard]] inline row_kernels::Control control_of(const PredictiveController& controller) {
    const PredictiveControl of = controller.in_single();
    return {row_kernels::Control::Kind::predictive, {of.safety, of.min_factor, of.max_factor}};
}
[[nodiscard]] inline row_kernels::Control control_of(const JointController& joint) {
    return control_of(joint.controller);
}
/// What another controller answers in one lane.
template <class Controller>
float propose_in_lane(const void* controller, float squared_norm, float error_order,
                      float* history) {
    const StepDecision<float> answer =
        static_cast<const Controller*>(controller)
            ->propose(squared_norm, error_order,
                      ControllerHistory<float>{history[0], history[1], history[2] > 0});
    history[0] = answer.history.previous_log2;
    history[1] = answer.history.earlier_log2;
    history[2] = answer.history.was_rejected ? 1.f : 0.f;
    return answer.factor;
}
/// Another controller, which lives longer than what is returned. One of steps of constant size is not asked.
template <class Controller>
[[nodiscard]] row_kernels::Control control_of(const Controller& controller) {
    row_kernels::Control control;
    if constexpr (requires { controller.propose(1.f, 1.f, ControllerHistory<float>{}); }) {
        control.kind = row_kernels::Control::Kind::other;
        control.other = &controller;
        control.propose = &propose_in_lane<Controller>;
    }
    return control;
}

}  // namespace eddy::inline v0::detail
