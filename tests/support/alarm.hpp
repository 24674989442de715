#pragma once
// Stops a call from within, after so many attempts of all lanes.

#include <cstdint>
#include <eddy/steppers/controller/pid.hpp>
#include <stop_token>

namespace support {

/// `Controller`, which requests a stop at its `left`-th call.
template <class Controller>
struct Alarm {
    static inline std::int64_t left = 0;
    static inline std::stop_source source;

    template <class Real>
    eddy::StepDecision<Real> propose(const Real& squared_norm, float order,
                                     const eddy::ControllerHistory<Real>& history) const {
        if (--left == 0) source.request_stop();
        return Controller{}.propose(squared_norm, order, history);
    }
};

}  // namespace support
