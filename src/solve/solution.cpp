#include <algorithm>
#include <eddy/solve/call/solution.hpp>
#include <eddy/steppers/stiffness.hpp>
#include <stdexcept>

namespace eddy::inline v0 {

void detail::throw_no_such_index(std::ptrdiff_t index, std::ptrdiff_t count, const char* what) {
    const std::string known =
        count > 0 ? compose("give a number from 0 to {}", count - 1) : "there is none";
    throw InvalidArgument(compose("{} {} was asked for; {}", what, index, known));
}

bool Outcomes::success() const {
    if (unfinished_.all_succeeded()) return true;
    const auto& lanes = known_lanes();
    return std::none_of(lanes.begin(), lanes.end(),
                        [](const LaneOutcome& lane) { return is_failure(lane.result); });
}

std::ptrdiff_t Outcomes::num_switched() const {
    const auto& lanes = known_lanes();
    return std::count_if(lanes.begin(), lanes.end(),
                         [](const LaneOutcome& lane) { return lane.method != 0; });
}

void Outcomes::add_path(std::ptrdiff_t lane, const LaneOutcome& path, std::int64_t count) {
    const auto index = static_cast<std::size_t>(lane);
    LaneOutcome& whole = lanes_[index];
    if (!is_failure(whole.result)) {
        whole.result = path.result;
        whole.t = path.t;
        whole.component = path.component;
    }
    if (is_failure(path.result)) failed_paths_[index] += count;
    whole.accepted += path.accepted;
    whole.rejected += path.rejected;
    whole.evaluations += path.evaluations;
}

LaneStats Outcomes::stats_of(const LaneOutcome& lane, const LaneEvents& events) const {
    const std::int64_t attempts = lane.accepted + lane.rejected;
    const AttemptCost& cost = attempt_cost_[lane.method];
    return {.accepted = lane.accepted,
            .rejected = lane.rejected,
            .evaluations = lane.evaluations,
            .jacobians =
                attempts * cost.jacobians + (cost.jacobian_comes_with_f ? lane.evaluations : 0),
            .factorizations = attempts * cost.factorizations,
            .stiff_steps = std::min(lane.accepted, lane.stiff_looks * attempts_per_look),
            .events = events.count};
}

const char* Outcomes::message(std::ptrdiff_t lane) const {
    const LaneStats of_lane = stats(lane);
    if (result(lane) == Result::max_steps_reached && 2 * of_lane.stiff_steps > of_lane.accepted)
        return "max_steps reached before the end: stability, not accuracy, kept most steps small: "
               "use "
               "a stiff method, such as Rodas5P";
    if (result(lane) == Result::max_steps_reached && 2 * of_lane.events > of_lane.accepted)
        return "max_steps reached before the end: most steps ended at events, which may come ever "
               "faster: end the lane by its event where they do, or raise max_steps";
    return eddy::message(result(lane));
}

LaneStats Outcomes::total_stats() const {
    LaneStats total;
    for (std::ptrdiff_t number = 0; number < num_lanes(); ++number) {
        const LaneStats lane = stats(number);
        total.accepted += lane.accepted;
        total.rejected += lane.rejected;
        total.evaluations += lane.evaluations;
        total.jacobians += lane.jacobians;
        total.factorizations += lane.factorizations;
        total.stiff_steps += lane.stiff_steps;
        total.events += lane.events;
    }
    return total;
}

void require_success(const Outcomes& outcomes) {
    if (outcomes.success()) return;
    constexpr int listed = 8;
    std::ptrdiff_t failures = 0;
    std::string text;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        const LaneFailure failure = outcomes.failure(lane);
        if (!is_failure(failure.result)) continue;
        if (++failures > listed) continue;
        text += detail::compose("\n  lane {} at t = {}, step {}", lane, failure.t, failure.step);
        if (failure.component >= 0) text += detail::compose(", component {}", failure.component);
        text += std::string(": ") + outcomes.message(lane);
    }
    if (failures == 0) return;
    throw std::runtime_error(
        detail::compose("{} of {} lanes failed{}", failures, outcomes.num_lanes(), text));
}

}  // namespace eddy::inline v0
