#pragma once
// Launches of lanes over rows, for a call whose arrays, recorders and sums are those of other backends: the loop is the
// library's, compiled once.
// Test: tests/solve/tiles_oracle.cpp, tests/backends/tiles_objects.cpp

#include <eddy/backends/cpu/thread_team.hpp>
#include <eddy/backends/rows/row_problem.hpp>
#include <eddy/backends/rows/row_recorder.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/kept_object.hpp>
#include <eddy/solve/group/back_cost.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/static_graph.hpp>
#include <memory>
#include <span>

namespace eddy::inline v0::detail {

/// The equation that the graph (t, y, p) → dy/dt is.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<const FieldMaker> field_of_constant(
    const ConstantGraph& constant, RowLevel level, InputSizes inputs);

/// An equation as rows take it.
struct RowEquation {
    std::shared_ptr<const FieldMaker> field;
    std::vector<int> counted;  // components that count in norms
    int num_residuals = 0;
};
/// `sums_tile`: are the cotangents of shared parameters added up in tiles?
[[nodiscard]] EDDY_EXPORT RowEquation row_equation(std::shared_ptr<const FieldMaker> field,
                                                   bool sums_tile);
/// With a tangent, for solves alone; without a field where it knows none.
[[nodiscard]] EDDY_EXPORT RowEquation with_tangent(const FieldMaker& field);

/// Lanes that are to be solved.
template <class Real>
struct RowLaunch {
    RowProblem<Real> problem;
    const RowEquation* equation;
    LaunchPlan plan;
    ThreadLink link;
    LaneOutcome* outcomes;  // (lane)
    bool is_joint;          // do all lanes take the same steps?
};
/// What becomes of their gradients.
template <class Real>
struct RowLaunchBack {
    std::span<RowLosses<Real>* const> losses;  // (worker)
    const GradientPlan* plan;
    GradientTarget<Real> target;
    SharedTarget<Real> shared;  // of all groups
    bool has_report;            // is the caller told of lanes whose gradient is not finite?
    BackCost* costs;            // (worker)
    GradientMark* marks;        // (lane); null: nobody watches
    bool leaves_out_marked;     // do marked lanes bring nothing to shared parameters?
};

/// Solves lanes, by threads; `kept` is what the next launch works in.
template <class Real>
EDDY_EXPORT void solve_launch(Workspace& kept, const RowLaunch<Real>& launch,
                              RowRecorder<Real>& recorder);
/// Solves lanes and goes back.
template <class Real>
EDDY_EXPORT void differentiate_launch(Workspace& kept, const RowLaunch<Real>& launch,
                                      const RowLaunchBack<Real>& back);
/// From the budget of a worker to what it keeps of the rounds of a tile.
EDDY_EXPORT void plan_launch_back(GradientPlan& plan, const SolveOptions& options,
                                  const WorkerBudget& budget, std::int64_t rounds_of_lane,
                                  const RowEquation& equation, const MethodOnRows& method,
                                  std::size_t bytes_of_number);

}  // namespace eddy::inline v0::detail
