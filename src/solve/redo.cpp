#include <eddy/solve/call/redo.hpp>

namespace eddy::inline v0::detail {

LaneList marked_lanes(const GradientReport& report) {
    LaneList marked;
    for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane) {
        if (report.unreliable(lane) && report.result(lane) != Result::cancelled)
            marked.push_back(lane);
    }
    return marked;
}

void StepsOfLanes::reset(std::ptrdiff_t lanes) {
    of_lane.resize(static_cast<std::size_t>(lanes));
    for (auto& steps : of_lane) steps.clear();
}

void StepsOfLanes::keep(std::ptrdiff_t lane, const Step& step) {
    of_lane[static_cast<std::size_t>(lane)].push_back(step);
}

GivenSteps StepsOfLanes::give(const std::vector<std::ptrdiff_t>& lanes) {
    first.assign(1, 0);
    elapsed.clear();
    size.clear();
    for (const std::ptrdiff_t lane : lanes) {
        for (const Step& step : of_lane[static_cast<std::size_t>(lane)]) {
            elapsed.push_back(step.elapsed);
            size.push_back(step.size);
        }
        first.push_back(static_cast<std::int64_t>(size.size()));
    }
    return {first.data(), elapsed.data(), size.data()};
}

}  // namespace eddy::inline v0::detail
