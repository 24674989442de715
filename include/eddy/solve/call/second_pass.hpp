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
                           typename Spec::Number, Spec::shares_parameters, typename Spec::Time>;
};
/// The types of the second pass: those of a call of the second method alone.
template <class Spec>
using SecondSpecOf = typename SecondSpec<Spec>::type;

/// Where lanes cannot be sent on.
struct NoSecondPass {};

/// The lanes that the first pass has sent on, and which rows of the second they are: 0, 1, ….
struct SentLanes {
    LaneList lanes, rows;

    /// Finds them in what became of all lanes, in the memory of the call before. Are there any?
    [[nodiscard]] bool find(const Outcomes& outcomes) {
        lanes.clear();
        for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
            if (outcomes.switched(lane)) lanes.push_back(lane);
        }
        rows.resize(lanes.size());
        std::iota(rows.begin(), rows.end(), std::ptrdiff_t{0});
        return !lanes.empty();
    }
};
/// Which lanes are sent on is known when the first pass is done.
template <class Memory>
void require_second_pass(const Memory& memory, const char* where) {
    require_argument(!returns_early(memory),
                     "{}: an asynchronous call by an AutoSwitch, whose second method waits for the "
                     "first; leave out asynchronous, or give one of the two methods",
                     where);
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
