#include <algorithm>
#include <eddy/solve/call/solution.hpp>
#include <sstream>
#include <stdexcept>

namespace eddy {

void detail::throw_no_such_index(std::ptrdiff_t index, std::ptrdiff_t count, const char* what) {
    std::ostringstream text;
    text << what << " " << index << " was asked for; ";
    if (count > 0)
        text << "give a number from 0 to " << count - 1;
    else
        text << "there is none";
    throw InvalidArgument(text.str());
}

bool Outcomes::success() const {
    return std::none_of(lanes_.begin(), lanes_.end(),
                        [](const LaneOutcome& lane) { return is_failure(lane.result); });
}

LaneStats Outcomes::total_stats() const {
    LaneStats total;
    for (const LaneOutcome& lane : lanes_) {
        total.accepted += lane.accepted;
        total.rejected += lane.rejected;
        total.evaluations += lane.evaluations;
    }
    return total;
}

void require_success(const Outcomes& outcomes) {
    constexpr int listed = 8;
    std::ptrdiff_t failures = 0;
    std::ostringstream text;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        const LaneFailure failure = outcomes.failure(lane);
        if (!is_failure(failure.result)) continue;
        if (++failures > listed) continue;
        text << "\n  lane " << lane << " at t = " << failure.t << ", step " << failure.step;
        if (failure.component >= 0) text << ", component " << failure.component;
        text << ": " << message(failure.result);
    }
    if (failures == 0) return;
    std::ostringstream head;
    head << failures << " of " << outcomes.num_lanes() << " lanes failed";
    throw std::runtime_error(head.str() + text.str());
}

}  // namespace eddy
