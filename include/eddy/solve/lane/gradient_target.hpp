#pragma once
// The arrays to which the gradients of a call go, and which of them a derivative with respect to a time belongs to.
// Test: tests/solve/oracle_gradients.cpp, tests/solve/times.cpp

#include <eddy/solve/lane/landing.hpp>

namespace eddy::inline v0::detail {

/// The tangents are those of a Hessian-vector product. A row is that of the caller's arrays.
template <class Real>
struct GradientTarget {
    EnsembleView<Real> y0, p;                  // p: one row where it is shared
    EnsembleView<Real> y0_tangent, p_tangent;  // empty unless numbers are dual
    EnsembleView<Real> t0, t1, save_at;        // empty unless asked for
    EnsembleView<Real> impulse_amounts;        // empty where there are none
    EnsembleView<Real> impulse_times;          // empty unless asked for
    EnsembleView<Real> inputs;                 // of coefficients (lane, piece · number); or empty

    EDDY_HD static void add(const EnsembleView<Real>& values, std::ptrdiff_t row, std::int32_t k,
                            const Real& value) {
        if (values.first) values(row, k) += value;  // events ask for all times
    }
    /// Tstop 0 is the start, tstop j the j-th of the plan. A tstop with impulses is theirs: what several at one time
    /// have together is that of the first.
    EDDY_HD void add_tstop(const LaneTimes& times, std::ptrdiff_t row, std::int32_t tstop,
                           const Real& value) const {
        const ImpulseRange impulses =
            tstop == 0 ? times.impulses_at_start() : times.tstops[tstop - 1].impulses;
        if (!impulses.is_empty()) {
            add(impulse_times, row, impulses.first, value);
        } else if (tstop == 0) {
            add(t0, row, 0, value);
        } else if (times.is_end(tstop - 1)) {
            add(t1, row, 0, value);
        } else {  // a save point that is stepped to moves the tstop along, if it is not at a jump
            const Tstop& at = times.tstops[tstop - 1];
            const std::int32_t k = first_save_from(times, at.elapsed);
            if (k < times.num_saves && times.saves[k] == at.elapsed && !at.is_jump)
                add(save_at, row, k, value);
        }
    }
    EDDY_HD void add_save_time(const SharedTimes& times, std::ptrdiff_t row, std::int32_t k,
                               const Real& value) const {
        if (times.saves_the_end)
            add(t1, row, 0, value);
        else
            add(save_at, row, k, value);
    }
};

}  // namespace eddy::inline v0::detail
