#pragma once
// What a round changed in the places of a chain, and the starts of the lanes that begin there together.
// Test: tests/solve/lanes.cpp, tests/solve/warps.cpp

#include <eddy/solve/group/lane_assignment.hpp>
#include <eddy/solve/lane/chain.hpp>
#include <eddy/solve/lane/lane_start.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
struct PlaceChanges {
    using Mask = MaskOf<typename Spec::Primal>;
    static constexpr int num_places = Spec::num_places;

    bool is_free[num_places] = {};  // its lane has ended
    std::int64_t num_ended = 0, attempts = 0, longest = 0;
    Mask changed = Mask(false);  // where another step begins
    Mask begins = Mask(false);   // where another lane does
    bool any_changed = false;

    EDDY_HD void ends(int place, std::int64_t lane_attempts) {
        is_free[place] = true;
        ++num_ended;
        attempts += lane_attempts;
        longest = max(longest, lane_attempts);
    }
    /// The lane goes on, by steps that begin anew.
    EDDY_HD void begins_anew(int place) {
        set_lane(changed, place, true);
        any_changed = true;
    }
    EDDY_HD void add(const LaneChange& change, int place) {
        begins_anew(place);
        if (change.assigns_a_lane()) set_lane(begins, place, true);
    }
};

/// Finds the starts of the lanes that begin in a chain, where starts are found together; `outcomes` of
/// the group's lanes receive what became of them.
template <class Spec>
EDDY_HD void begin_lanes(const Problem<Spec>& problem, const PlaceChanges<Spec>& changes,
                         const Chain<Spec>& chain, ChainState<Spec>& x, LaneOutcome* outcomes) {
    if constexpr (LaneStart<Spec>::begins_together()) {
        if (!any(changes.begins)) return;
        LaneOutcome found[Spec::num_places];
        LaneStart<Spec>::begin(problem, chain.steps.parameters.values(), changes.begins, x.y,
                               found);
        for (int place = 0; place < Spec::num_places; ++place) {
            if (get_lane(changes.begins, place))
                outcomes[chain.occupants[place].lane] = found[place];
        }
    }
}

}  // namespace eddy::inline v0::detail
