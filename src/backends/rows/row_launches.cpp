#include "row_launches.hpp"
#include <algorithm>
#include "row_work.hpp"

namespace eddy::inline v0::detail {

template <class Real>
const FieldOnTileOf<Real>& LaunchesOnRows<Real>::open(const FieldMaker& field,
                                                      const RowProblem<Real>& problem, int width,
                                                      std::ptrdiff_t num_workers, bool goes_back) {
    if (width != width_ || goes_back != goes_back_ || problem.sums_tile != problem_.sums_tile ||
        problem.times.num_saves != problem_.times.num_saves)
        forget();
    width_ = width;
    goes_back_ = goes_back;
    problem_ = problem;
    field_ = &field;
    const auto wanted = static_cast<std::size_t>(num_workers);
    if (workers_.size() < wanted) workers_.resize(wanted);
    return *worker(0).field;
}
template <class Real>
void LaunchesOnRows<Real>::open(const RowLaunch<Real>& launch, int width, bool goes_back) {
    launch_ = &launch;
    open(*launch.equation->field, launch.problem, width, launch.plan.num_workers, goes_back);
}
/// With its equation: few calls are long enough for all of them.
template <class Real>
RowWorker<Real>& LaunchesOnRows<Real>::worker(std::size_t number) {
    Worker& at = workers_[number];
    if (!at.field) at.field = tile_of(*field_, problem_, width_);
    return at;
}
template <class Real>
std::span<FieldOnTileOf<Real>* const> LaunchesOnRows<Real>::all_fields() {
    fields_.clear();
    for (std::size_t i = 0; i < workers_.size(); ++i) fields_.push_back(worker(i).field.get());
    return fields_;
}
template <class Real>
void LaunchesOnRows<Real>::solve(const RowLaunch<Real>& launch, int width,
                                 std::span<RowRecorder<Real>* const> recorders) {
    open(launch, width, false);
    back_ = nullptr;
    recorders_ = recorders;
    if (launch.is_joint)
        joint_.run(problem_, tiles(), launch.link, all_fields(), recorders, launch.outcomes, true);
    else
        run_groups();
}
template <class Real>
void LaunchesOnRows<Real>::differentiate(const RowLaunch<Real>& launch, int width,
                                         const RowsBack<Real>& back) {
    open(launch, width, true);
    back_ = &back;
    if (launch.is_joint)
        joint_.find_steps(problem_, tiles(), launch.link, all_fields(), launch.outcomes);
    run_groups();
    if (!launch.is_joint) return;
    joint_.add_first_solve(launch.outcomes);
    // The first worker has had the first solve's memory as well: at most both, where they do not overlap.
    back.costs[0].most_bytes += joint_.num_bytes();
}
template <class Real>
void LaunchesOnRows<Real>::operator()(std::ptrdiff_t number, std::ptrdiff_t group) {
    ThreadTeam<1> team(launch_->link, launch_->plan, number, group);
    const auto of_worker = static_cast<std::size_t>(number);
    Worker& at = worker(of_worker);
    if (back_)
        differentiate_group(at, team, group);
    else
        at.solve(team, problem_, *recorders_[std::min(of_worker, recorders_.size() - 1)],
                 launch_->outcomes);
}
template <class Real>
void LaunchesOnRows<Real>::differentiate_group(Worker& at, ThreadTeam<1>& team,
                                               std::ptrdiff_t group) {
    const RowObjective<Real> objective = back_->objective_of(team.worker());
    RowLosses<Real>* const losses = objective.by_lane;
    if (losses) losses->begin(team.first_lane(), team.num_lanes());
    if (!at.has_begun()) at.begin(problem_, objective, *back_->plan);
    SharedTarget<Real> of_group = back_->shared;
    if (problem_.sums_tile) of_group.sums += group * problem_.parameter_size;
    at.run(team, problem_, objective, back_->target, of_group, launch_->outcomes,
           back_->costs[team.worker()]);
    if (losses) losses->finish(launch_->outcomes + team.first_lane());
}

template class LaunchesOnRows<double>;
template class LaunchesOnRows<float>;

}  // namespace eddy::inline v0::detail
