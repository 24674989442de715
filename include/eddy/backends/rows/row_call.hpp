#pragma once
// Calls on rows, as the library compiles them once: the equation is an interface, the method a table, the
// controller its numbers.
// Test: tests/backends/row_solve.cpp

#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/steppers/rows/method_on_rows.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// What a call on rows is given.
struct RowCall {
    const FieldMaker* field;
    const MethodOnRows* method;
    row_kernels::Control control;
    EnsembleView<const double> y0, p;
    bool shares_parameters;
    const SolveOptions* options;
    int threads = 0;
    int width = 0;  // of a tile; 0: chosen
};

/// Solves all lanes, after checks.
EDDY_EXPORT void solve_on_rows(const RowCall& call, Solution<double>& solution);

/// What save points are pulled back from.
struct RowSeeds {
    /// The loss as an equation of as many states: its parameters are those of the equation, then a save point's data;
    /// its first row is the loss, the others are zero. Null: `arrays` are cotangents.
    const FieldMaker* loss = nullptr;
    std::vector<EnsembleView<const double>> arrays;  // (save point)
};
/// Solves all lanes and goes back, after checks.
EDDY_EXPORT void differentiate_on_rows(const RowCall& call, const RowSeeds& seeds,
                                       ValueAndGradient<double>& result, const char* where);

}  // namespace eddy::inline v0::detail
