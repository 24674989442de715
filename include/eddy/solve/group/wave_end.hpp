#pragma once
// What is done once a wave of lanes has been forward and back: its cost is counted, and lanes that have no
// gradient of finite numbers are said to have failed.
// Test: tests/solve/warps.cpp

#include <eddy/solve/group/back_cost.hpp>
#include <eddy/solve/group/gradient_memory.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// `Back` is the way back of the wave: group_adjoint.hpp.
template <class Spec, class Team, class Recorder, class Back>
struct WaveEnd {
    Team& team;
    Recorder& recorder;
    Back& back;
    const GradientMemory<Spec, Team>& memory;

    /// Evaluations of f on the way back of the lanes from `first`: those of a replay once to pull a
    /// round back, and once for each time that it was taken again. Counts of rounds are those of the
    /// group; how many lanes were in those taken again is taken from the mean.
    /// Asked of all members, of whom one keeps it.
    EDDY_HD void add_cost(BackCost& cost, const LoopCounters& rounds, int num_chains,
                          std::int32_t first) const {
        add(cost.loops, rounds);
        const std::int64_t used = memory.bytes_used(rounds, num_chains);
        cost.most_bytes = max(cost.most_bytes, used);
        if (rounds.pullbacks == 0) return;
        std::int64_t attempts = 0;
        for_each_lane(first, [&](std::int32_t lane) {
            const LaneOutcome& outcome = back.forward.outcomes()[lane];
            attempts += outcome.accepted + outcome.rejected;
        });
        attempts = team.sum(attempts);
        const double taken = static_cast<double>(rounds.pullbacks + rounds.recomputed) /
                             static_cast<double>(rounds.pullbacks);
        const double per_attempt = Spec::Stepper::evaluations_per_replay;
        cost.evaluations +=
            static_cast<std::int64_t>(static_cast<double>(attempts) * per_attempt * taken + 0.5);
    }

    /// Lanes from `first` on that began and have handed out no gradient.
    EDDY_HD void drop_lanes(std::int32_t first) const {
        for_each_lane(first, [&](std::int32_t lane) {
            if (Spec::sums_by_lane && back.has_handed_out(lane)) return;
            recorder.forget(lane);
            Result& result = memory.forward.outcomes[lane].result;
            if (!is_failure(result)) result = Result::cancelled;
        });
        if (!Spec::sums_by_lane) {
            back.clear_sums();
            if (team.member() == 0) recorder.forget_sums();
        }
    }

    /// A derivative may be infinite where all values are numbers, as that of √y at 0: such a lane
    /// fails after all, so that it spoils no sum and none takes its gradient for one.
    EDDY_HD void end_infinite(std::int32_t first) const {
        for_each_lane(first, [&](std::int32_t lane) {
            Result& result = memory.forward.outcomes[lane].result;
            if (is_failure(result) || recorder.has_finite_gradient(lane)) return;
            if (memory.marks)
                memory.marks[lane] = {memory.forward.outcomes[lane].t,
                                      std::numeric_limits<float>::infinity()};
            recorder.forget(lane);
            result = Result::non_finite;
        });
    }

  private:
    /// Visits the lanes that were taken from the `first` on, shared among the members.
    template <class Visit>
    EDDY_HD void for_each_lane(std::int32_t first, Visit visit) const {
        for (std::int32_t k = first + team.member(); k < team.num_taken(); k += Team::num_members)
            visit(team.lane_at(k));
        team.sync();
    }
};

}  // namespace eddy::inline v0::detail
