#pragma once
// The controller of constant steps: it changes nothing.
// Test: tests/steppers/controllers.cpp

#include <eddy/steppers/controller/decision.hpp>

namespace eddy::inline v0 {

/// Keeps the step size constant at dt0, for methods with or without an error estimate.
struct ConstantController {
    static constexpr bool is_adaptive = false;

    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD StepDecision<Real> propose(
        const Real&, float, const ControllerHistory<Real>& history) const {
        return {Real(1), history};
    }
};

}  // namespace eddy::inline v0
