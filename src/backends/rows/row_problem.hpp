#pragma once
// What is asked of all lanes of a call on rows: plain numbers and views, whatever the equation and the method.

#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/lane/input_tables.hpp>
#include <eddy/solve/lane/times.hpp>
#include <eddy/steppers/rows/method_on_rows.hpp>

namespace eddy::inline v0::detail {

/// Numbers, up to whole lines of a cache.
[[nodiscard]] constexpr std::ptrdiff_t whole_lines(std::ptrdiff_t size) {
    return (size + 7) / 8 * 8;
}

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
    InputTables<Real> inputs{};
    int input_room = 0;  // numbers of a piece of them, which lie behind the parameters

    /// Where, in a block of parameters, the rows begin of what is read behind them.
    [[nodiscard]] std::ptrdiff_t behind_parameters(int width) const {
        return sums_tile ? whole_lines(parameter_size) : std::ptrdiff_t{parameter_size} * width;
    }
    /// Numbers of a block of parameters and inputs.
    [[nodiscard]] std::ptrdiff_t size_of_reads(int width) const {
        return behind_parameters(width) + std::ptrdiff_t{input_room} * width;
    }
    /// Where the piece begins that the steps of a lane to a tstop read, within its row of coefficients.
    [[nodiscard]] std::ptrdiff_t piece_of(std::ptrdiff_t lane, std::int32_t tstop) const {
        return std::ptrdiff_t{
                   inputs.pieces[times.table_row(Row{lane}) * times.num_tstops + tstop]} *
               input_room;
    }
    [[nodiscard]] Real input_number(std::ptrdiff_t lane, std::int32_t tstop, int i) const {
        const EnsembleView<const Real>& rows = inputs.coefficients;
        return rows(rows.num_lanes == 1 ? 0 : lane, piece_of(lane, tstop) + i);
    }

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
