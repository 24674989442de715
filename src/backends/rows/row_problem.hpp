#pragma once
// What is asked of all lanes of a call on rows: plain numbers and views, whatever the equation and the method.

#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/lane/times.hpp>
#include <eddy/steppers/rows/method_on_rows.hpp>

namespace eddy::inline v0::detail {

template <class Real>
struct RowProblem {
    CallTimes times;
    const MethodOnRows* method = nullptr;
    row_kernels::Control control;
    row_kernels::Tolerances<Real> tolerances{};
    EnsembleView<const Real> y0, p;  // p: one row where it is shared
    bool shares_parameters = false, is_fused = false;
    /// Are the cotangents of shared parameters added up in the tile, where they are many? The equation then has them as
    /// numbers, not as rows.
    bool sums_tile = false;
    int state_size = 0, parameter_size = 0;

    [[nodiscard]] row_kernels::Times row_times() const {
        const Clock<double> clock(times);
        return {times.direction, times.dt0, clock.dt_max, clock.least};
    }
    [[nodiscard]] LaneTimes times_of(std::ptrdiff_t lane) const { return times.of(Row{lane}); }
    [[nodiscard]] std::ptrdiff_t row_of_p(std::ptrdiff_t lane) const {
        return shares_parameters ? 0 : lane;
    }
};

}  // namespace eddy::inline v0::detail
