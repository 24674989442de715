#pragma once
// What the second passes of solves and gradients have in common: the second method of an AutoSwitch solves
// from t0 the lanes that the first has sent on (ask/auto_switch.hpp).

#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/call/lane_rows.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/lane/solve_spec.hpp>
#include <numeric>
#include <utility>

namespace eddy::inline v0::detail {

template <class Spec>
struct SecondSpec {
    using type = Spec;
};
template <class Spec>
requires switches<Spec>
struct SecondSpec<Spec> {
    using Controller =
        decltype(controller_of_second(std::declval<const typename Spec::Controller&>()));
    using type = SolveSpec<typename Spec::Field, typename Spec::Method::Second, Controller,
                           typename Spec::Number, Spec::shares_parameters>;
};
/// The types of the second pass: those of a call of the second method alone.
template <class Spec>
using SecondSpecOf = typename SecondSpec<Spec>::type;

/// Where lanes cannot be sent on.
struct NoSecondPass {};

/// The lanes that the first pass has sent on.
[[nodiscard]] inline LaneList sent_lanes(const Outcomes& outcomes) {
    LaneList lanes;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        if (outcomes.switched(lane)) lanes.push_back(lane);
    }
    return lanes;
}
/// 0, 1, …: all rows of so many lanes.
[[nodiscard]] inline LaneList all_rows(const LaneList& lanes) {
    LaneList rows(lanes.size());
    std::iota(rows.begin(), rows.end(), std::ptrdiff_t{0});
    return rows;
}
/// What became of the lanes in the second pass, into the outcomes of all.
inline void put_outcomes(Outcomes& outcomes, const LaneList& lanes, const Outcomes& second) {
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        LaneOutcome& outcome = outcomes.lanes()[static_cast<std::size_t>(lanes[k])];
        outcome = second.outcomes()[k];
        outcome.method = 1;
    }
}

}  // namespace eddy::inline v0::detail
