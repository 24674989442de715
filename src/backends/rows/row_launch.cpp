// Launches over rows: groups of lanes for the workers of a call of another kind.

#include <algorithm>
#include <array>
#include <eddy/ad/rows/runtime_field.hpp>
#include <utility>
#include "round_plan.hpp"
#include "row_launches.hpp"
#include "row_work.hpp"

namespace eddy::inline v0::detail {
namespace {

/// What launches of a solver object keep. A plan is made for tiles of many lanes: with fewer of them, it is for more
/// rounds.
template <class Real>
struct KeptLaunches {
    LaunchesOnRows<Real> launches;
    GradientPlan given, plan;

    void take(const GradientPlan& wanted, const RowProblem<Real>& problem, int width) {
        const auto numbers_of = [](const GradientPlan& of) {
            return std::array{of.slots, of.logged_rounds, of.checkpoints,
                              std::int64_t{of.num_lanes}};
        };
        if (numbers_of(wanted) != numbers_of(given)) launches.forget();
        given = plan = wanted;
        const int planned = most_row_width(problem.state_size, *problem.method, true, sizeof(Real));
        plan.slots *= planned / width;
        plan.logged_rounds *= planned / width;
        plan.num_lanes = std::min(plan.num_lanes, RowGradient<Real>::most_tiles * width);
    }
};
template <class Real>
int width_of(const RowLaunch<Real>& launch, bool goes_back) {
    return row_width(*launch.equation->field, *launch.problem.method, launch.plan.num_lanes,
                     goes_back, launch.problem.sums_tile, sizeof(Real));
}

}  // namespace

std::shared_ptr<const FieldMaker> field_of_constant(const ConstantGraph& constant, RowLevel level,
                                                    InputSizes inputs) {
    return RuntimeField(constant.thaw(), {}, level, inputs).maker();
}

RowEquation row_equation(std::shared_ptr<const FieldMaker> field, bool sums_tile) {
    RowProblem<double> problem;
    problem.sums_tile = sums_tile;
    const int num_residuals = tile_of(*field, problem, 1)->num_residuals();
    std::vector<int> counted = field->counted_components();
    return {std::move(field), std::move(counted), num_residuals};
}

RowEquation with_tangent(const FieldMaker& field) {
    auto both = field.with_tangents({Direction::given});
    if (!both) return {};
    std::vector<int> counted = both->counted_components();
    return {std::move(both), std::move(counted)};
}

void plan_launch_back(GradientPlan& plan, const SolveOptions& options, const WorkerBudget& budget,
                      std::int64_t rounds_of_lane, const RowEquation& equation,
                      const MethodOnRows& method, std::size_t bytes_of_number) {
    const int num_states = equation.field->num_states();
    const int width = most_row_width(num_states, method, true, bytes_of_number);
    const auto plan_of = [&]<class Real>(Real) {
        plan_rounds_of_tile(
            plan, options, budget, rounds_of_lane,
            {width * std::int64_t{sizeof(LoggedStep)},
             RowGradient<Real>::kept_bytes(num_states, equation.num_residuals, method, width)},
            [&](bool with_clocks) {
                return RowGradient<Real>::bytes_of_slot(num_states, width, with_clocks);
            });
    };
    if (bytes_of_number == sizeof(float))
        plan_of(0.f);
    else
        plan_of(0.);
}

template <class Real>
void solve_launch(Workspace& kept, const RowLaunch<Real>& launch, RowRecorder<Real>& recorder) {
    if (!launch.equation->field) {  // it knows no tangent
        for (std::ptrdiff_t lane = 0; lane < launch.plan.num_lanes; ++lane)
            launch.outcomes[lane].result = Result::non_finite;
        return;
    }
    RowRecorder<Real>* const for_all[] = {&recorder};
    kept.get<KeptLaunches<Real>>().launches.solve(launch, width_of(launch, false), for_all);
}
template <class Real>
void differentiate_launch(Workspace& kept, const RowLaunch<Real>& launch,
                          const RowLaunchBack<Real>& back) {
    auto& of_object = kept.get<KeptLaunches<Real>>();
    const int width = width_of(launch, true);
    of_object.take(*back.plan, launch.problem, width);
    const auto objective_of = [&](std::ptrdiff_t worker) {
        RowObjective<Real> objective{};
        objective.by_lane = back.losses[static_cast<std::size_t>(worker)];
        objective.has_report = back.has_report;
        objective.marks = back.marks;
        objective.leaves_out_marked = back.leaves_out_marked;
        return objective;
    };
    of_object.launches.differentiate(
        launch, width, {&of_object.plan, objective_of, back.target, back.shared, back.costs});
}
template decltype(solve_launch<double>) solve_launch<double>;
template decltype(solve_launch<float>) solve_launch<float>;
template decltype(differentiate_launch<double>) differentiate_launch<double>;
template decltype(differentiate_launch<float>) differentiate_launch<float>;

}  // namespace eddy::inline v0::detail
