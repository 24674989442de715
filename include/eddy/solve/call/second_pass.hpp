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

/// The lanes that the first pass of a call has sent on.
template <class Spec>
class SecondPass {
  public:
    LaneList lanes, rows;  // which rows of the second pass they are: 0, 1, …
    LaneRows<SecondSpecOf<Spec>> given;

    /// Finds them in what became of all lanes, and sets their problem. Are there any?
    template <class Memory>
    [[nodiscard]] bool begin(const Outcomes& outcomes, const Problem<Spec>& first,
                             PreparedProblem<SecondSpecOf<Spec>>& second,
                             const SolveOptions& options, const Memory& memory, const char* where) {
        lanes.clear();
        for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
            if (outcomes.switched(lane)) lanes.push_back(lane);
        }
        if (lanes.empty()) return false;
        rows.resize(lanes.size());
        std::iota(rows.begin(), rows.end(), std::ptrdiff_t{0});
        given.gather(first, lanes, memory);
        second.take_method(first.method.second, where);
        given.prepare(second, options, controller_of_second(first.controller), where);
        return true;
    }
    /// What became of them, into the outcomes of all.
    void put_outcomes(Outcomes& outcomes, const Outcomes& second) const {
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            LaneOutcome& outcome = outcomes.lanes()[static_cast<std::size_t>(lanes[k])];
            outcome = second.outcomes()[k];
            outcome.method = 1;
        }
    }
};

}  // namespace eddy::inline v0::detail
