#include <eddy/solve/call/second_pass.hpp>

namespace eddy::inline v0::detail {

bool SentLanes::find(const Outcomes& outcomes) {
    lanes.clear();
    rows.clear();
    for (std::ptrdiff_t row = 0; row < outcomes.num_lanes(); ++row) {
        if (!outcomes.switched(row)) continue;
        lanes.push_back(static_cast<std::ptrdiff_t>(rows.size()));
        rows.push_back(row);
    }
    return !rows.empty();
}

void SentLanes::put_outcomes(Outcomes& outcomes, const Outcomes& second) const {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        LaneOutcome& outcome = outcomes.lanes()[static_cast<std::size_t>(rows[k])];
        outcome = second.outcomes()[k];
        outcome.method = 1;
    }
}

}  // namespace eddy::inline v0::detail
