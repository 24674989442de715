#pragma once
// The guest that saves where tangents in all directions are carried along (lane/carried_tangents.hpp): after each round it
// takes them through the steps that were accepted.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/solve/group/save_points.hpp>
#include <eddy/solve/lane/carried_tangents.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Team, class Recorder>
class CarriedSaves : public SavePoints<Spec, Recorder> {
    using Saves = SavePoints<Spec, Recorder>;
    static constexpr int num_places = Spec::num_places;

  public:
    void enter(const auto& at, int place, std::int32_t lane) {
        Saves::enter(at, place, lane);
        this->recorder().steps().begin(at.problem, of_launch(at.team, lane), at.number, place,
                                       num_saved_[at.number][place]);
    }
    void mean(const auto& at, const RoundOfChain<Spec>& round, auto& meaning, auto& all) {
        Saves::mean(at, round, meaning, all);
        const Chain<Spec>& chain = round.chain;
        const ChainState<Spec>&before = round.before, &x = round.after;
        const Attempt<Spec>& attempt = round.attempt;
        StepOfPlaces<num_places> step{};
        bool any_moves = false;
        for (int place = 0; place < num_places; ++place) {
            const std::int32_t lane = chain.occupants[place].lane;
            step.moves[place] = lane != no_lane && get_lane(attempt.used, place) != 0 &&
                                !get_lane(attempt.stalled, place);
            any_moves = any_moves || step.moves[place];
            if (!step.moves[place]) continue;
            step.lane[place] = of_launch(at.team, lane);
            step.from[place] = get_lane(before.elapsed, place);
            step.to[place] = get_lane(x.elapsed, place);
            step.size[place] = get_lane(attempt.size, place);
            const Tstop& to =
                at.problem.times_of(step.lane[place]).tstops[chain.occupants[place].tstop];
            if (step.to[place] == to.elapsed) step.impulses[place] = to.impulses;
        }
        if (!any_moves) return;
        chain.steps.with_still_input(before, attempt.size, [&](const auto& in) {
            this->recorder().steps().follow(at.problem, in, step, at.number, num_saved_[at.number],
                                            attempt.trial);
        });
    }
    /// Each round may have steps.
    [[nodiscard]] static std::int64_t rounds_left(const auto&) { return 1; }

  private:
    std::int32_t num_saved_[Team::num_chains][num_places] = {};  // of the tangents
};

/// The guest that saves what a recorder records.
template <class Spec, class Team, class Recorder>
struct SavesFor {
    using type = SavePoints<Spec, Recorder>;
};
template <class Spec, class Team, class Recorder>
requires has_tangents_carried<typename Recorder::Steps>
struct SavesFor<Spec, Team, Recorder> {
    using type = CarriedSaves<Spec, Team, Recorder>;
};

}  // namespace eddy::inline v0::detail
