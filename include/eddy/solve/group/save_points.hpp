#pragma once
// The save points of a group's lanes on their way forward: which comes next for each lane, and what
// the state is there. A point at the start or the end of a step has that state; one within is
// interpolated, for all places of a Number that have one, by the dense output of the method. The
// stages of dense output alone are seen by no error estimate: a point that is not finite is found
// here, and ends its lane.
// Test: tests/solve/save_points.cpp, tests/solve/dense_output.cpp

#include <eddy/solve/group/round_guests.hpp>
#include <eddy/solve/lane/event_attempt.hpp>

namespace eddy::inline v0::detail {

/// The guest that saves. `Recorder` is told of every save point: save(lane, k, y) answers whether what it makes of y is
/// finite; and of every accepted step where it wants to.
template <class Spec, class Recorder>
class SavePoints : public Guest<SavePoints<Spec, Recorder>> {
    using Time = typename Spec::Time;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    static constexpr int num_places = Spec::num_places;
    using Broken = BrokenSaves<num_places>;

  public:
    EDDY_HD void begin(Recorder& recorder, const Problem<Spec>& problem, std::int32_t* num_saved) {
        recorder_ = &recorder;
        problem_ = &problem;
        num_saved_ = num_saved;
    }
    EDDY_HD void enter(const auto& at, int, std::int32_t lane) {
        num_saved_[lane] = 0;
        if (wants_steps())
            recorder_->save_step(lane, {times_of(at, lane).t0},
                                 LaneStart<Spec>::state(*problem_, of_launch(at.team, lane)));
    }
    /// Tells the recorder of what a round has passed, up to a save point that breaks: that one stays the next of its lane.
    EDDY_HD void mean(const auto& at, const RoundOfChain<Spec>& round, auto& meaning, auto&) {
        if constexpr (!saves_nothing<Recorder>) find_and_save(at, round, meaning.broken);
        if (wants_steps()) save_steps(round);
    }
    [[nodiscard]] EDDY_HD double next_time(const auto& at, int place) const {
        const Occupant& occupant = at.chain.occupants[place];
        if (occupant.lane == no_lane) return std::numeric_limits<double>::infinity();
        return next_landing(at.chain.steps.times_of(place), occupant, num_saved_[occupant.lane]);
    }
    [[nodiscard]] EDDY_HD std::int64_t rounds_left(const auto&) const {
        return wants_steps() ? 1 : std::numeric_limits<std::int64_t>::max();
    }

    /// Recorders that save nothing are told of sizes by each round (group/round_steps.hpp), whatever happens in it.
    [[nodiscard]] EDDY_HD bool wants_steps() const {
        return !saves_nothing<Recorder> && recorder_->wants_steps();
    }
    EDDY_HD void save_size(std::int32_t lane, double elapsed, double size) const {
        recorder_->save_step(lane, {0, elapsed, size}, {});
    }
    /// What impulses make of the state of a lane, told to recorders that are asked for it on the way back.
    EDDY_HD void meet_impulses(const auto& times, const ImpulseRange& range, std::int32_t lane,
                               typename Spec::LaneState& y) const {
        MeetImpulses<Spec>::apply(times, range, y,
                                  [&](std::int32_t k, const typename Spec::Lane& number) {
                                      if constexpr (requires { recorder_->keep(lane, k, number); })
                                          recorder_->keep(lane, k, number);
                                  });
    }
    /// A lane ends at an event, at t: where the end is its only save point, it is there.
    EDDY_HD void save_at_event(const RoundOfChain<Spec>& round, double t, int place,
                               Broken& broken) {
        const std::int32_t lane = round.chain.occupants[place].lane;
        if constexpr (!saves_nothing<Recorder>) {
            if (problem_->times.saves_the_end && num_saved_[lane] == 0)
                save(lane, state_of<Spec>(round.after.y, place), t,
                     time_after(round.before, round.attempt.by, t, place), place, broken);
        }
    }

  protected:
    [[nodiscard]] EDDY_HD Recorder& recorder() const { return *recorder_; }

  private:
    enum Where : int { nowhere, at_start, at_end, inside };
    /// One save point of each place that has one due.
    struct Due {
        Where at[num_places];
        Time theta;  // of those inside
        bool interpolates;
    };

    EDDY_HD void find_and_save(const auto& group, const RoundOfChain<Spec>& round, Broken& broken) {
        const Attempt<Spec>& attempt = round.attempt;
        Due due;
        with_moved_input<Spec>(
            round.chain.steps, round.before, attempt.size, attempt.by, [&](const auto& in) {
                decltype(Stepper::interpolant(in,
                                              attempt.trial)) interpolant;  // made where one is due
                bool is_made = false;
                while (find_due(round, broken, due)) {
                    State within{};
                    if (due.interpolates) {
                        if (!is_made) interpolant = Stepper::interpolant(in, attempt.trial);
                        is_made = true;
                        within = interpolant.at(
                            moving_fraction<Spec>(in, convert<typename Spec::Primal>(due.theta)));
                    }
                    save_all(group, round, within, due, broken);
                }
            });
    }
    EDDY_HD void save_all(const auto& group, const RoundOfChain<Spec>& round, const State& within,
                          const Due& due, Broken& broken) {
        for (int place = 0; place < num_places; ++place) {
            if (due.at[place] == nowhere) continue;
            // One of three values, not of three addresses: states stay in registers.
            typename Spec::LaneState y = state_of<Spec>(within, place);
            if (due.at[place] == at_start) y = state_of<Spec>(round.before.y, place);
            if (due.at[place] == at_end) y = state_of<Spec>(round.after.y, place);
            const std::int32_t lane = round.chain.occupants[place].lane;
            if (problem_->times.num_impulses > 0)
                pass_impulses(group, round.chain.occupants[place], due.at[place], y);
            const double t = round.chain.steps.times_of(place).save_time[num_saved_[lane]];
            save(lane, y, t, t, place, broken);
        }
    }
    /// The state at a save point where there are impulses: a step ends before them, a lane begins behind them.
    EDDY_HD void pass_impulses(const auto& group, const Occupant& occupant, Where where,
                               typename Spec::LaneState& y) const {
        const LaneTimes times = times_of(group, occupant.lane);
        const Tstop& tstop = times.tstops[occupant.tstop];
        const double at = times.saves[num_saved_[occupant.lane]];
        if (where == at_end && at == tstop.elapsed && !times.saves_before_impulses)
            meet_impulses(times, tstop.impulses, occupant.lane, y);
        if (where == at_start && at == 0 && times.saves_before_impulses)
            y = problem_->load_y0(of_launch(group.team, occupant.lane));
    }
    /// At t, which may have a tangent.
    EDDY_HD void save(std::int32_t lane, const typename Spec::LaneState& y, double t,
                      const auto& moving_t, int place, Broken& broken) {
        int component = 0;
        while (component < Spec::state_size && is_number(primal(y[component]))) ++component;
        const bool is_finite = component == Spec::state_size;
        if (is_finite && save_at(lane, y, moving_t)) {
            ++num_saved_[lane];
        } else {
            broken.add(place, is_finite ? Recorder::not_finite : Result::non_finite,
                       is_finite ? num_saved_[lane] : component, t);
        }
    }
    /// Saves a state, and tells the recorder its time if lanes may end before a save point.
    EDDY_HD bool save_at(std::int32_t lane, const typename Spec::LaneState& y,
                         [[maybe_unused]] const auto& t) {
        if constexpr (Spec::has_event)
            return recorder_->save(lane, num_saved_[lane], y, t);
        else
            return recorder_->save(lane, num_saved_[lane], y);
    }

    /// False where no place has any left. The end of a step that is not finite is not reached. One that a lane
    /// ends at with an event stays where it is when the event moves: it is interpolated; unless it is the end.
    EDDY_HD bool find_due(const RoundOfChain<Spec>& round, const Broken& broken, Due& due) const {
        const auto& [chain, before, attempt, x] = round;
        due.theta = Time(0);
        due.interpolates = false;
        bool any_due = false;
        for (int place = 0; place < num_places; ++place) {
            const std::int32_t lane = chain.occupants[place].lane;
            const double at = lane == no_lane
                                  ? std::numeric_limits<double>::infinity()
                                  : next_save(chain.steps.times_of(place), num_saved_[lane]);
            const double from = get_lane(before.elapsed, place);
            const double to = get_lane(attempt.stalled, place) ? from : get_lane(x.elapsed, place);
            const bool ends = at == to && ends_at_event(attempt, place);
            const bool is_due =
                at <= to && !broken.is_broken[place] && !(ends && problem_->times.saves_the_end);
            due.at[place] = !is_due             ? nowhere
                            : at <= from        ? at_start
                            : at == to && !ends ? at_end
                                                : inside;
            any_due = any_due || due.at[place] != nowhere;
            if (due.at[place] != inside) continue;
            due.interpolates = true;
            set_lane(due.theta, place, (at - from) / get_lane(attempt.size, place));
        }
        return any_due;
    }

    EDDY_HD void save_steps(const RoundOfChain<Spec>& round) {
        const auto& [chain, before, attempt, x] = round;
        for (int place = 0; place < num_places; ++place) {
            const Occupant& occupant = chain.occupants[place];
            if (occupant.lane == no_lane || get_lane(attempt.used, place) == 0 ||
                get_lane(attempt.stalled, place))
                continue;
            const bool lands = get_lane(x.elapsed, place) == get_lane(chain.steps.tstop, place);
            const double t = lands ? chain.steps.times_of(place).tstops[occupant.tstop].t
                                   : chain.steps.time_of(x.elapsed, place);
            recorder_->save_step(occupant.lane, {t}, state_of<Spec>(x.y, place));
        }
    }

    [[nodiscard]] EDDY_HD LaneTimes times_of(const auto& group, std::int32_t lane) const {
        return problem_->times_of(of_launch(group.team, lane));
    }

    Recorder* recorder_ = nullptr;
    const Problem<Spec>* problem_ = nullptr;
    std::int32_t* num_saved_ = nullptr;  // (lane) save points that each of the group has reached
};

}  // namespace eddy::inline v0::detail
