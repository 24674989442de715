#pragma once
// Launches of lanes over rows, whoever calls: groups of lanes for the workers of a call, and what these compute in, as
// long as launches are alike. Lanes that share their steps find them first.

#include <eddy/backends/rows/row_launch.hpp>
#include <functional>
#include "joint_rows.hpp"
#include "row_workers.hpp"

namespace eddy::inline v0::detail {

/// What becomes of the gradients of a launch.
template <class Real>
struct RowsBack {
    const GradientPlan* plan;
    std::function<RowObjective<Real>(std::ptrdiff_t)> objective_of;  // (worker)
    GradientTarget<Real> target;
    SharedTarget<Real> shared;  // of all groups
    BackCost* costs;            // (worker)
};

template <class Real>
class LaunchesOnRows {
  public:
    /// Begins anew: what is kept is for another plan.
    void forget() { workers_.clear(); }
    /// Makes room for workers on tiles of a width; the equation on one of these. Throws what rows cannot do.
    const FieldOnTileOf<Real>& open(const FieldMaker& field, const RowProblem<Real>& problem,
                                    int width, std::ptrdiff_t num_workers, bool goes_back);
    /// `recorders`: (worker), or one for all.
    void solve(const RowLaunch<Real>& launch, int width,
               std::span<RowRecorder<Real>* const> recorders);
    void differentiate(const RowLaunch<Real>& launch, int width, const RowsBack<Real>& back);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return launch_->link.call->has_poll(); }
    void attend() const { launch_->link.call->poll(); }

  private:
    using Worker = RowWorker<Real>;

    void open(const RowLaunch<Real>& launch, int width, bool goes_back);
    [[nodiscard]] Worker& worker(std::size_t number);
    [[nodiscard]] std::span<FieldOnTileOf<Real>* const> all_fields();
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
    std::vector<Worker> workers_;
    std::vector<FieldOnTileOf<Real>*> fields_;  // (worker)
    JointRows<Real> joint_;
    const RowLaunch<Real>* launch_ = nullptr;
    const RowsBack<Real>* back_ = nullptr;
    std::span<RowRecorder<Real>* const> recorders_;
    const FieldMaker* field_ = nullptr;
};

}  // namespace eddy::inline v0::detail
