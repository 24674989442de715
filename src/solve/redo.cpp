#include <eddy/solve/call/redo.hpp>

namespace eddy::inline v0::detail {

RowList marked_lanes(GradientReport& report) {
    RowList marked;
    for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane) {
        if (report.unreliable(lane) && report.result(lane) != Result::cancelled)
            marked.push_back(lane);
    }
    if (!marked.empty()) report.was_redone.assign(report.marks.size(), 0);
    return marked;
}

SolvedLanes solved_lanes(const RowList& marked, std::span<const LaneOutcome> outcomes) {
    SolvedLanes solved;
    for (std::size_t k = 0; k < marked.size(); ++k) {
        if (is_failure(outcomes[k].result)) continue;
        solved.of_marked.push_back(static_cast<std::ptrdiff_t>(k));
        solved.lanes.push_back(marked[k]);
    }
    return solved;
}

BroughtRows bring_outcomes(GradientReport& report, const GradientReport& second,
                           const SolvedLanes& solved, std::span<const LaneOutcome> of_steps,
                           double most_ratio) {
    BroughtRows brought;
    const auto& [of_marked, lanes] = solved;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        LaneOutcome outcome = second.outcomes()[k];
        if (is_failure(outcome.result)) continue;
        const LaneOutcome& steps = of_steps[static_cast<std::size_t>(of_marked[k])];
        outcome.accepted = steps.accepted;
        outcome.rejected = steps.rejected;
        outcome.evaluations += steps.evaluations;
        const auto lane = static_cast<std::size_t>(lanes[k]);
        const GradientMark& mark = second.marks[k];
        report.lanes()[lane] = outcome;
        report.marks[lane] = mark.ratio > most_ratio ? mark : GradientMark{};
        report.was_redone[lane] = 1;
        brought.rows.push_back(lanes[k]);
        brought.lanes.push_back(static_cast<std::ptrdiff_t>(k));
    }
    return brought;
}

RowList left_of_marked(const GradientReport& report, const RowList& marked) {
    RowList left;
    for (const std::ptrdiff_t lane : marked) {
        if (!report.redone(lane)) left.push_back(lane);
    }
    return left;
}

RowList left_of_all(const GradientReport& report) {
    RowList left;
    for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane) {
        if (!report.redone(lane) && !is_failure(report.result(lane))) left.push_back(lane);
    }
    return left;
}

StepsOfLanes::StepsOfLanes() = default;
StepsOfLanes::~StepsOfLanes() = default;

void StepsOfLanes::reset(std::ptrdiff_t lanes) {
    outcomes.assign(static_cast<std::size_t>(lanes), {});
    of_lane.resize(static_cast<std::size_t>(lanes));
    for (auto& steps : of_lane) steps.clear();
}

void StepsOfLanes::keep(std::ptrdiff_t lane, const Step& step) {
    of_lane[static_cast<std::size_t>(lane)].push_back(step);
}

PrescribedSteps StepsOfLanes::prescribe(const std::vector<std::ptrdiff_t>& lanes) {
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
