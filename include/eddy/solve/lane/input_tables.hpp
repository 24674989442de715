#pragma once
// The inputs of an equation, as the loops read them.
// Test: tests/solve/inputs.cpp

#include <cstdint>
#include <eddy/solve/ask/ensemble_array.hpp>

namespace eddy::inline v0::detail {

/// Where steps find the pieces, beside the table of tstops. In a piece: its knot, then coefficients (power, component) of
/// the powers of the time since the knot.
template <class Real>
struct InputTables {
    EnsembleView<const Real> coefficients;  // (row, piece · number); one row for all
    /// (row of times, tstop) The piece that the steps to a tstop lie in, or, where they pass over knots, begin in.
    const std::int32_t* pieces = nullptr;

    /// The row of the coefficients of a lane that is given this row.
    [[nodiscard]] EDDY_HD std::ptrdiff_t row_of(std::ptrdiff_t row) const {
        return coefficients.num_lanes == 1 ? 0 : row;
    }
    /// One of the `room` numbers of a piece.
    [[nodiscard]] EDDY_HD Real number(std::ptrdiff_t row, std::ptrdiff_t piece, int room,
                                      int i) const {
        return coefficients(row, piece * room + i);
    }
    [[nodiscard]] EDDY_HD std::int32_t num_pieces(int room) const {
        return static_cast<std::int32_t>(coefficients.num_components / room);
    }
    /// From any piece to that in which t lies. Where t is no number it stays.
    EDDY_HD void seek(std::int32_t& piece, std::ptrdiff_t row, Real t, int room) const {
        while (piece > 0 && t < number(row, piece, room, 0)) --piece;
        const std::int32_t last = num_pieces(room) - 1;
        while (piece < last && t >= number(row, piece + 1, room, 0)) ++piece;
    }
};

}  // namespace eddy::inline v0::detail
