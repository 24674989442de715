// Launches over rows: groups of lanes for the workers of a call of another kind.

#include <eddy/backends/rows/row_launch.hpp>
#include <utility>
#include "joint_rows.hpp"
#include "round_plan.hpp"
#include "row_work.hpp"
#include "row_workers.hpp"

namespace eddy::inline v0::detail {
namespace {

/// What workers compute in, as long as launches are alike.
template <class Real>
class LaunchesOnRows {
  public:
    void solve(const RowLaunch<Real>& launch, RowRecorder<Real>& recorder);
    void differentiate(const RowLaunch<Real>& launch, const RowLaunchBack<Real>& back);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return launch_->link.call->has_poll(); }
    void attend() const { launch_->link.call->poll(); }

  private:
    using Worker = RowWorker<Real>;

    void begin(const RowLaunch<Real>& launch, bool goes_back);
    void plan_back(const GradientPlan& plan);
    void differentiate_group(Worker& at, ThreadTeam<1>& team, std::ptrdiff_t group);
    void run_groups() {
        launch_->link.others->for_each_group(launch_->plan.num_groups(), launch_->plan.num_workers,
                                             *this);
    }
    [[nodiscard]] LaunchPlan tiles() const {
        return {launch_->plan.num_lanes, width_, launch_->plan.num_workers};
    }

    RowProblem<Real> problem_;
    int width_ = 0;
    bool goes_back_ = false;
    GradientPlan given_, plan_;
    std::vector<Worker> workers_;
    std::vector<FieldOnTileOf<Real>*> fields_;  // (worker)
    JointRows<Real> joint_;
    const RowLaunch<Real>* launch_ = nullptr;
    const RowLaunchBack<Real>* back_ = nullptr;
    RowRecorder<Real>* recorder_ = nullptr;
};

template <class Real>
void LaunchesOnRows<Real>::begin(const RowLaunch<Real>& launch, bool goes_back) {
    const RowProblem<Real>& problem = launch.problem;
    const int width = row_width(*launch.equation->field, *problem.method, launch.plan.num_lanes,
                                goes_back, problem.sums_tile, sizeof(Real));
    if (width != width_ || goes_back != goes_back_ ||
        problem.times.num_saves != problem_.times.num_saves)
        workers_.clear();
    width_ = width;
    goes_back_ = goes_back;
    problem_ = problem;
    launch_ = &launch;
    const auto wanted = static_cast<std::size_t>(launch.plan.num_workers);
    if (workers_.size() < wanted) workers_.resize(wanted);
    fields_.clear();
    for (Worker& at : workers_) {
        if (!at.field) at.field = tile_of(*launch.equation->field, problem_, width_);
        fields_.push_back(at.field.get());
    }
}
template <class Real>
void LaunchesOnRows<Real>::solve(const RowLaunch<Real>& launch, RowRecorder<Real>& recorder) {
    if (!launch.equation->field) {  // it knows no tangent
        for (std::ptrdiff_t lane = 0; lane < launch.plan.num_lanes; ++lane)
            launch.outcomes[lane].result = Result::non_finite;
        return;
    }
    begin(launch, false);
    back_ = nullptr;
    recorder_ = &recorder;
    RowRecorder<Real>* const for_all[] = {&recorder};
    if (launch.is_joint)
        joint_.run(problem_, tiles(), launch.link, fields_, for_all, launch.outcomes, true);
    else
        run_groups();
}
/// A plan is made for tiles of many lanes: with fewer of them, it is for more rounds.
template <class Real>
void LaunchesOnRows<Real>::plan_back(const GradientPlan& plan) {
    const auto numbers_of = [](const GradientPlan& of) {
        return std::array{of.slots, of.logged_rounds, of.checkpoints, std::int64_t{of.num_lanes}};
    };
    if (numbers_of(plan) != numbers_of(given_)) {
        workers_.clear();
        begin(*launch_, true);
    }
    given_ = plan_ = plan;
    const int planned = most_row_width(problem_.state_size, *problem_.method, true, sizeof(Real));
    plan_.slots *= planned / width_;
    plan_.logged_rounds *= planned / width_;
    plan_.num_lanes = std::min(plan_.num_lanes, RowGradient<Real>::most_tiles * width_);
}
template <class Real>
void LaunchesOnRows<Real>::differentiate(const RowLaunch<Real>& launch,
                                         const RowLaunchBack<Real>& back) {
    begin(launch, true);
    plan_back(*back.plan);
    back_ = &back;
    if (launch.is_joint)
        joint_.find_steps(problem_, tiles(), launch.link, fields_, launch.outcomes);
    run_groups();
    if (!launch.is_joint) return;
    joint_.add_first_solve(launch.outcomes);
    // The first worker has had the first solve's memory as well: at most both, where they do not overlap.
    back.costs[0].most_bytes += joint_.num_bytes();
}

template <class Real>
void LaunchesOnRows<Real>::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    ThreadTeam<1> team(launch_->link, launch_->plan, worker, group);
    Worker& at = workers_[static_cast<std::size_t>(worker)];
    if (back_)
        differentiate_group(at, team, group);
    else
        at.solve(team, problem_, *recorder_, launch_->outcomes);
}
template <class Real>
void LaunchesOnRows<Real>::differentiate_group(Worker& at, ThreadTeam<1>& team,
                                               std::ptrdiff_t group) {
    RowLosses<Real>& losses = *back_->losses[static_cast<std::size_t>(team.worker())];
    RowObjective<Real> objective{};
    objective.by_lane = &losses;
    objective.has_report = back_->has_report;
    objective.marks = back_->marks;
    objective.leaves_out_marked = back_->leaves_out_marked;
    losses.begin(team.first_lane(), team.num_lanes());
    if (!at.has_begun()) at.begin(problem_, objective, plan_);
    SharedTarget<Real> of_group = back_->shared;
    if (problem_.sums_tile) of_group.sums += group * problem_.parameter_size;
    at.run(team, problem_, objective, back_->target, of_group, launch_->outcomes,
           back_->costs[team.worker()]);
    losses.finish(launch_->outcomes + team.first_lane());
}

}  // namespace

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
    kept.get<LaunchesOnRows<Real>>().solve(launch, recorder);
}
template <class Real>
void differentiate_launch(Workspace& kept, const RowLaunch<Real>& launch,
                          const RowLaunchBack<Real>& back) {
    kept.get<LaunchesOnRows<Real>>().differentiate(launch, back);
}
template void solve_launch(Workspace&, const RowLaunch<double>&, RowRecorder<double>&);
template void solve_launch(Workspace&, const RowLaunch<float>&, RowRecorder<float>&);
template void differentiate_launch(Workspace&, const RowLaunch<double>&,
                                   const RowLaunchBack<double>&);
template void differentiate_launch(Workspace&, const RowLaunch<float>&,
                                   const RowLaunchBack<float>&);

}  // namespace eddy::inline v0::detail
