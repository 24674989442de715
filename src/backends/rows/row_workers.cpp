#include "row_workers.hpp"
#include <algorithm>

namespace eddy::inline v0::detail {

template <class Real>
void RowWorker<Real>::solve(ThreadTeam<1>& team, const RowProblem<Real>& problem,
                            RowRecorder<Real>& recorder, LaneOutcome* outcomes) {
    if (!solve_)
        solve_ = make_in(memory_, [&](Arena& arena) {
            return std::make_unique<RowSolve<Real>>(problem, *field, false, arena);
        });
    solve_->step().take_parameters();
    solve_->run(team.first_lane(), team.num_lanes(), recorder, outcomes + team.first_lane(), team);
}
template <class Real>
void RowWorker<Real>::begin(const RowProblem<Real>& problem, const RowObjective<Real>& objective,
                            const GradientPlan& plan) {
    gradient_ = make_in(memory_, [&](Arena& arena) {
        auto made = std::make_unique<RowGradient<Real>>(problem, *field, objective, plan, arena);
        num_bytes_ =
            static_cast<std::int64_t>(arena.num_bytes() + sizeof(RowGradient<Real>) + sizeof(Loop));
        return made;
    });
    loop_ = std::make_unique<Loop>(RowRounds<RowGradient<Real>>{},
                                   LoopOptions{.checkpoints = plan.checkpoints});
}
template <class Real>
void RowWorker<Real>::run(ThreadTeam<1>& team, const RowProblem<Real>& problem,
                          const RowObjective<Real>& objective, const GradientTarget<Real>& target,
                          const SharedTarget<Real>& shared, LaneOutcome* outcomes, BackCost& cost) {
    gradient_->take_call(objective);
    const RowReplay<Real>& rounds = gradient_->replay();
    const std::ptrdiff_t end = team.first_lane() + team.num_lanes(), width = field->width();
    for (std::ptrdiff_t first = team.first_lane(), count = 0; first < end; first += count) {
        if (!team.attend()) {
            count = std::min(width, end - first);
            for (std::ptrdiff_t lane = first; lane < first + count; ++lane) {
                outcomes[lane].t = problem.times_of(lane).t0;
                outcomes[lane].result = Result::cancelled;
            }
            continue;
        }
        const auto most = std::min<std::ptrdiff_t>(gradient_->lanes_at_once(), end - first);
        count = gradient_->run(*loop_, team, first, static_cast<std::int32_t>(most), target, shared,
                               outcomes + first);
        add(cost.loops, loop_->counters());
        cost.evaluations += rounds.num_replayed() * std::min(count, width) *
                            problem.method->evaluations_per_replay();
        // The loop has states in its slots, where it starts, where it is, and one at work.
        const std::int64_t states = loop_->store().num_states() + 3;
        std::int64_t beside = field->num_bytes();
        if (field->steps()) beside += field->steps()->num_bytes();
        if (objective.loss) beside += objective.loss->num_bytes();
        if (objective.by_lane) beside += objective.by_lane->num_bytes();
        cost.most_bytes =
            std::max(cost.most_bytes, num_bytes_ - rounds.planned_bytes() + rounds.used_bytes() +
                                          loop_->bytes_of_lists() +
                                          states * rounds.bytes_of_state() + beside);
    }
}

template class RowWorker<double>;
template class RowWorker<float>;

}  // namespace eddy::inline v0::detail
