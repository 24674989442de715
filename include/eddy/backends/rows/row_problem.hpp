#pragma once
// What is asked of all lanes of a call on rows: plain numbers and views, whatever the equation and the method.
// Test: tests/solve/tiles_oracle.cpp, tests/backends/joint_steps.cpp

#include <eddy/backends/rows/row_events.hpp>
#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/lane/input_tables.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/prescribed_steps.hpp>
#include <eddy/solve/lane/problem.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>
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
    EnsembleView<const Real> y0, p;               // p: one row where it is shared
    Rows rows;                                    // of those that lanes are given
    const ParameterTable<Real>* table = nullptr;  // in the place of p
    /// Where steps are not to be chosen: lanes that have failed by them do not begin. `shares_steps`: those of lane 0 are all
    /// lanes'.
    PrescribedSteps prescribed;
    bool shares_steps = false;
    bool counts_tangents = false;  // does the norm of errors? Of one tangent
    bool has_fixed_directions =
        false;  // in the place of a tangent, which arrays do not have then: fixed_sign
    bool shares_parameters = false, is_fused = false;
    /// Are the cotangents of shared parameters added up in the tile, where they are many? The equation then has them as
    /// numbers, not as rows.
    bool sums_tile = false;
    bool differentiates_times = false;
    bool is_watched = false;               // the way back: do steps carry the derivatives of lanes?
    const EventsOnRows* events = nullptr;  // null: the equation has none
    LaneEvents* told_events = nullptr;     // (lane) of one that has
    int state_size = 0, parameter_size = 0;
    int num_tangents = 0;  // behind y in a state; they decide nothing
    /// Where lanes are marked whose steps do not carry a tangent: those of a lane lie so far behind those of the one before.
    /// Null: nobody watches.
    TangentMark* tangent_marks = nullptr;
    std::ptrdiff_t marks_of_lane = 1;
    InputTables<Real> inputs{};
    int input_room = 0;  // numbers of a piece of them, which lie behind the parameters

    /// The components of y without its tangents.
    [[nodiscard]] int own_size() const { return state_size / (1 + num_tangents); }
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
        const std::ptrdiff_t row = times.table_row(Row{row_of(lane)});
        return std::ptrdiff_t{inputs.pieces[row * times.num_tstops + tstop]} * input_room;
    }
    [[nodiscard]] Real input_number(std::ptrdiff_t lane, std::int32_t tstop, int i) const {
        const EnsembleView<const Real>& given = inputs.coefficients;
        return given(given.num_lanes == 1 ? 0 : row_of(lane), piece_of(lane, tstop) + i);
    }

    [[nodiscard]] row_kernels::Times row_times() const {
        const Clock<double> clock(times);
        return {times.direction, times.dt0, clock.dt_max, clock.least};
    }
    /// The row of the caller's arrays that a lane is given.
    [[nodiscard]] std::ptrdiff_t row_of(std::ptrdiff_t lane) const {
        return to_index(rows(LaunchLane{lane}));
    }
    [[nodiscard]] LaneTimes times_of(std::ptrdiff_t lane) const {
        return times.of(Row{row_of(lane)});
    }
    [[nodiscard]] std::ptrdiff_t row_of_p(std::ptrdiff_t lane) const {
        return shares_parameters ? 0 : row_of(lane);
    }
    [[nodiscard]] Real parameter(std::ptrdiff_t row, int i) const {
        const int own = parameter_size / 2;
        if (has_fixed_directions && i >= own) {
            const Real x = parameter(row, i - own), size = x < 0 ? -x : x;
            return static_cast<Real>(fixed_sign(own_size() + i - own)) * (x == 0 ? Real(1) : size);
        }
        return table ? (*table)(row, i) : p(row, i);
    }
    /// A component of the state that a lane is given.
    [[nodiscard]] Real start(std::ptrdiff_t lane, int i) const {
        if (has_fixed_directions && i >= own_size())
            return static_cast<Real>(fixed_sign(i - own_size()));
        return y0(row_of(lane), i);
    }
    /// The same lanes with a tangent of fixed directions, in the place of one that is given; its errors count.
    void add_tangent() {
        if (num_tangents == 0) {
            state_size *= 2;
            parameter_size *= 2;
            num_tangents = 1;
        }
        counts_tangents = has_fixed_directions = true;
    }
};

/// Lanes of a tile: as many as keep what an attempt reads and writes, in numbers of a size, within the second-level
/// cache.
[[nodiscard]] constexpr int most_row_width(std::int64_t num_states, const MethodOnRows& method,
                                           bool goes_back, std::size_t bytes_of_number) {
    // Stages, and rows of the equation's program.
    const std::int64_t rows = num_states * (method.num_dense + (goes_back ? 20 : 10));
    constexpr std::int64_t bytes = 512 << 10;
    if (method.is_implicit())
        return 16;  // their programs have many rows: factors, and all U at once
    int width = row_kernels::widest;
    while (width > 16 && rows * width * static_cast<std::int64_t>(bytes_of_number) > bytes)
        width /= 2;
    return width;
}

}  // namespace eddy::inline v0::detail
