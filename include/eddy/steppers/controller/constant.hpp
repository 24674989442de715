#pragma once
#include <eddy/steppers/controller/decision.hpp>

namespace eddy {

/// Accepts every step and keeps its size.
struct ConstantController {
    template <class Real>
    [[nodiscard]] EDDY_HD StepDecision<Real> propose(const Real&, const Real& dt, int,
                                                     const ControllerHistory<Real>& history) const {
        return {MaskOf<Real>(true), MaskOf<Real>(false), dt, history};
    }
};

}  // namespace eddy
