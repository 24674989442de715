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
    /// (row of times, tstop) The piece that the steps to a tstop lie in.
    const std::int32_t* pieces = nullptr;
};

}  // namespace eddy::inline v0::detail
