#pragma once
// The lanes of a call, one after another. `Kernel` is asked for the problem and for recorders alone:
// solve/group/solve_kernel.hpp, solve/group/gradient_kernel.hpp.
// Test: tests/solve/oracle.cpp

#include <eddy/backends/serial/lane_gradient.hpp>
#include <eddy/backends/serial/lane_solve.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/lane/carried_tangents.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Calls solve_lane(lane, number, outcome) for every lane, of which a recorder counts the first as 0; those of a cancelled
/// call never begin.
template <class Spec, class SolveLane>
void for_each_lane(const Problem<Spec>& problem, LaneOutcome* outcomes, const LaneRange& lanes,
                   CallLink& call, const SolveLane& solve_lane) {
    for (std::int32_t number = 0; number < lanes.count; ++number) {
        LaneOutcome& outcome = outcomes[lanes.first + number];
        if (!call.goes_on()) {
            outcome.t = problem.times_of(LaunchLane{lanes.first + number}).t0;
            outcome.result = Result::cancelled;
        } else {
            solve_lane(LaneProblem<Spec>(problem, LaunchLane{lanes.first + number}), number,
                       outcome);
        }
    }
}

/// Carries tangents in all directions along the steps of one lane after another, if the recorder wants it.
template <class Recorder>
class TangentsOfLane {
  public:
    explicit TangentsOfLane(const Recorder&) {}
};
template <class Recorder>
requires has_tangents_carried<typename Recorder::Steps>
class TangentsOfLane<Recorder> {
    using Steps = typename Recorder::Steps;

  public:
    explicit TangentsOfLane(Recorder& recorder) : steps_(&recorder.steps()) {
        steps_->rows = rows_.data();
    }
    template <class Spec>
    void begin(const LaneProblem<Spec>& lane) {
        steps_->begin(lane.problem, lane.of_launch, 0, 0, num_saved_);
    }
    template <class Spec>
    void follow(const LaneProblem<Spec>& lane, const AcceptedStep<Spec>& step) {
        const Tstop& to = lane.times().tstops[step.from.tstop];
        const ImpulseRange impulses = step.end == to.elapsed ? to.impulses : ImpulseRange{};
        lane.with_step(step.from, step.size, [&](const auto& in) {
            const StepOfPlaces<1> alone{{lane.of_launch}, {true},      {step.from.elapsed},
                                        {step.end},       {step.size}, {impulses}};
            steps_->follow(lane.problem, in, alone, 0, &num_saved_);
        });
    }

  private:
    std::vector<typename Steps::Row> rows_ = std::vector<typename Steps::Row>(Steps::num_rows);
    Steps* steps_;
    std::int32_t num_saved_ = 0;
};

template <class Kernel>
void solve_lanes(const Kernel& kernel, const LaneRange& lanes, CallLink& call) {
    using Spec = typename Kernel::Spec;
    constexpr bool carries = has_tangents_carried<typename Kernel::Recorder::Steps>;
    auto recorder = kernel.recorder(lanes.first);
    [[maybe_unused]] TangentsOfLane<typename Kernel::Recorder> tangents(recorder);
    for_each_lane<Spec>(
        kernel.problem, kernel.outcomes, lanes, call,
        [&](const LaneProblem<Spec>& lane, std::int32_t number, LaneOutcome& outcome) {
            LaneSolve<Spec, typename Kernel::Recorder> solve(lane, number, recorder);
            if (kernel.marks) solve.watch(kernel.marks + to_index(lane.of_launch));
            const auto keep = [&](const AcceptedStep<Spec>& step) {
                if constexpr (carries) tangents.follow(lane, step);
            };
            if constexpr (carries) tangents.begin(lane);
            outcome = solve.run(keep, [&] { return call.goes_on(); });
            if constexpr (Spec::has_event) kernel.events[to_index(lane.of_launch)] = solve.events();
            call.ended(outcome);
        });
}

/// Kept from lane to lane and from call to call.
template <class Spec>
struct LanesMemory {
    std::vector<AcceptedStep<Spec>> steps;         // of one lane
    std::vector<typename Spec::LaneState> states;  // of a recorder, as below
    std::vector<typename Spec::Lane> addends;

    [[nodiscard]] RecorderMemory<Spec> of_recorder(std::int64_t num_lanes,
                                                   const SharedTimes& times) {
        states.resize(static_cast<std::size_t>(RecorderMemory<Spec>::num_states(num_lanes, times)));
        addends.resize(static_cast<std::size_t>(num_lanes * Spec::parameter_size));
        RecorderMemory<Spec> memory;
        memory.states = states.data();
        memory.addends = addends.data();
        return memory;
    }
};

/// A lane's part of what the way back cost.
template <class Spec, class Cost>
void add_cost(Cost& cost, std::size_t num_steps) {
    const auto steps = static_cast<std::int64_t>(num_steps);
    cost.loops.advances += steps;
    cost.loops.pullbacks += steps;
    cost.loops.stores += steps;
    cost.loops.loads += steps;
    cost.loops.peak_checkpoints = std::max(cost.loops.peak_checkpoints, steps);
    cost.evaluations += steps * Spec::Stepper::evaluations_per_replay;
    cost.most_bytes =
        std::max(cost.most_bytes, steps * static_cast<std::int64_t>(sizeof(AcceptedStep<Spec>)));
}

/// Solves lanes and takes their gradients. A lane has its whole gradient or none.
template <class Kernel>
void differentiate_lanes(const Kernel& kernel, const LaneRange& lanes, CallLink& call,
                         LanesMemory<typename Kernel::Spec>& memory) {
    using Spec = typename Kernel::Spec;
    using Recorder = typename Kernel::Recorder;
    const auto count = static_cast<std::int32_t>(lanes.count);
    Recorder recorder =
        kernel.recorder(lanes.first, count, memory.of_recorder(count, kernel.problem.times));
    recorder.begin(0, 1);
    for_each_lane<Spec>(
        kernel.problem, kernel.outcomes, lanes, call,
        [&](const LaneProblem<Spec>& lane, std::int32_t number, LaneOutcome& outcome) {
            memory.steps.clear();
            LaneSolve<Spec, Recorder> solve(lane, number, recorder);
            outcome =
                solve.run([&](const AcceptedStep<Spec>& step) { memory.steps.push_back(step); },
                          [&] { return call.goes_on(); });
            if constexpr (Spec::has_event) kernel.events[to_index(lane.of_launch)] = solve.events();
            call.ended(outcome);
            if (is_failure(outcome.result)) return;
            LaneGradient<Spec, Recorder, Kernel::differentiates_times> back(
                lane, number, solve.num_saved(), recorder);
            GradientMark* const mark =
                kernel.marks ? kernel.marks + to_index(lane.of_launch) : nullptr;
            back.watch(mark, outcome.accepted + outcome.rejected);
            // What many shared parameters have got cannot be taken back: such a lane is finished.
            const bool is_complete =
                back.run(memory.steps, [&] { return !Spec::sums_by_lane || call.goes_on(); });
            if (!is_complete) outcome.result = Result::cancelled;
            // A derivative may be infinite where all values are numbers, as that of √y at 0.
            if (is_complete && Recorder::has_report && !recorder.has_finite_gradient(number)) {
                outcome.result = Result::non_finite;
                if (mark) *mark = {outcome.t, std::numeric_limits<float>::infinity()};
            }
            if (is_failure(outcome.result)) recorder.forget(number);
            add_cost<Spec>(*kernel.costs, memory.steps.size());
        });
    tell_lost_states(call, recorder, kernel.outcomes + lanes.first, lanes.first, count);
    recorder.finish();
}

}  // namespace eddy::inline v0::detail
