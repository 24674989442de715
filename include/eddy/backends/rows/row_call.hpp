#pragma once
// Calls on rows, as the library compiles them once: the equation is an interface, the method a table, the
// controller its numbers.
// Test: tests/backends/row_solve.cpp, tests/backends/row_objects.cpp

#include <cstdint>
#include <eddy/backends/rows/row_events.hpp>
#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/cancellation.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/outputs.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/kept_object.hpp>
#include <eddy/solve/call/sensitivity_result.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/steppers/rows/method_on_rows.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

/// What a call on rows is given besides its arrays.
struct RowCall {
    std::shared_ptr<const FieldMaker> field;
    const MethodOnRows* method = nullptr;
    row_kernels::Control control;
    bool is_joint = false;  // do all trajectories take the same steps?
    bool differentiates_times = false;
    RowLevel level = row_level;  // of the source that calls, so that steps have the bits of its own
    SolveOptions options;
    std::uint64_t edition = 0;  // grows where values of the options are replaced
    int threads = 0;
    std::shared_ptr<const EventsOnRows> events{};  // null: the equation has none
    /// What is saved of a solve in place of states: an equation of `num_observed` results. Null: states are.
    std::shared_ptr<const FieldMaker> observed{};
    int num_observed = 0;
    std::shared_ptr<const FieldMaker> own_field{};  // without tangents, where `field` has any
};
/// Its arrays, in which alone calls of one solver object differ. They live longer than it.
template <class Real>
struct RowArrays {
    EnsembleView<const Real> y0{};
    GivenParameters<Real> p{};
    /// In the place of `y0`, where it is a function of (t0, p): an equation that reads no state, and how many trajectories it
    /// is asked for.
    std::shared_ptr<const FieldMaker> start{};
    std::ptrdiff_t num_started = 0;
};
template <class Real>
using RowViews = std::vector<EnsembleView<const Real>>;  // (save point)

/// What save points are pulled back from.
template <class Real>
struct RowSeeds {
    /// The loss as an equation of one result: its parameters are those of the equation, then a save point's data.
    /// Null: `arrays` are cotangents.
    std::shared_ptr<const FieldMaker> loss;
    RowViews<Real> arrays;
    bool may_miss_values = false;  // of data: NaN is none
};

/// Solves all lanes, after checks, in memory that is kept for the next call. So does a gradient; both are given what
/// the caller wants written into arrays of its own.
template <class Real>
EDDY_EXPORT Solution<Real>& solve_on_rows(Workspace& kept, const RowCall& call,
                                          const RowArrays<Real>& arrays,
                                          const SolutionInto<Real>& into,
                                          const Cancellation& cancelled);
/// The same with a tangent, which begins with arrays `along` those of the call.
template <class Real>
EDDY_EXPORT Solution<Real>& push_forward_on_rows(Workspace& kept, const RowCall& call,
                                                 const RowArrays<Real>& arrays,
                                                 const RowArrays<Real>& along,
                                                 const SolutionInto<Real>& into,
                                                 const Cancellation& cancelled);
/// The same with tangents along each parameter, each component of y0, or both.
template <class Real>
EDDY_EXPORT Sensitivities<Real>& carry_on_rows(Workspace& kept, const RowCall& call,
                                               const RowArrays<Real>& arrays, bool of_p, bool of_y0,
                                               const Cancellation& cancelled);
/// Solves all lanes and goes back.
template <class Real>
EDDY_EXPORT ValueAndGradient<Real>& differentiate_on_rows(Workspace& kept, const RowCall& call,
                                                          const RowArrays<Real>& arrays,
                                                          const RowSeeds<Real>& seeds,
                                                          const GradientInto<Real>& into,
                                                          const Cancellation& cancelled);
/// A gradient, and the product of the Hessian with a direction, which begins with arrays `along` those of the call.
template <class Real>
EDDY_EXPORT HessianVectorProduct<Real> multiply_hessian_on_rows(
    Workspace& kept, const RowCall& call, const RowArrays<Real>& arrays,
    const RowArrays<Real>& along, const RowSeeds<Real>& seeds, const Cancellation& cancelled);

}  // namespace detail

/// The solution of an equation whose sizes are known when the program runs, with the problem that it
/// solves, for `pullback`.
template <class Real>
class EDDY_EXPORT RowSolutionOf : public Solution<Real> {
  public:
    /// Solves all lanes, after checks.
    RowSolutionOf(detail::RowCall call, const detail::RowArrays<Real>& arrays);
    /// The gradients of a loss with these derivatives with respect to each saved state.
    [[nodiscard]] PulledGradient<Real> pull_back(detail::RowViews<Real> cotangents,
                                                 const Cancellation& cancelled = {}) const;

  private:
    detail::RowCall call_;
    EnsembleArray<Real> y0_, p_;
    bool shares_parameters_, began_by_function_;
};
/// The same in double.
using RowSolution = RowSolutionOf<double>;

}  // namespace eddy::inline v0
