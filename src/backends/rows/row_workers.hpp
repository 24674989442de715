#pragma once
// What a worker keeps of its lanes, from group to group and from call to call.

#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/solve/group/back_cost.hpp>
#include <memory>
#include "row_gradient.hpp"

namespace eddy::inline v0::detail {

/// What `make(arena)` makes, in memory of just its size: first it is made to count its bytes.
template <class Make>
auto make_in(ArenaMemory& memory, const Make& make) {
    Arena counting;
    static_cast<void>(make(counting));
    Arena arena = memory.arena(counting.num_bytes());
    return make(arena);
}

template <class Real>
class RowWorker {
    using Loop = CheckpointedLoop<RowState<Real>, RowRounds<RowGradient<Real>>,
                                  MemoryStore<RowState<Real>>, int>;

  public:
    std::unique_ptr<FieldOnTileOf<Real>> field;

    /// Solves the lanes of a team's group.
    void solve(ThreadTeam<1>& team, const RowProblem<Real>& problem, RowRecorder<Real>& recorder,
               LaneOutcome* outcomes);

    // The way back.

    [[nodiscard]] bool has_begun() const { return loop_ != nullptr; }
    /// Makes room for groups that are planned so; `field` is there, and what the objective refers to.
    void begin(const RowProblem<Real>& problem, const RowObjective<Real>& objective,
               const GradientPlan& plan);
    /// The lanes of a team's group, one tile after another.
    void run(ThreadTeam<1>& team, const RowProblem<Real>& problem,
             const RowObjective<Real>& objective, const GradientTarget<Real>& target,
             const SharedTarget<Real>& shared, LaneOutcome* outcomes, BackCost& cost);

  private:
    ArenaMemory memory_;
    std::unique_ptr<RowSolve<Real>> solve_;
    std::unique_ptr<RowGradient<Real>> gradient_;
    std::unique_ptr<Loop> loop_;
    std::int64_t num_bytes_ = 0;
};

}  // namespace eddy::inline v0::detail
