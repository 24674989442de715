#pragma once
// Derivatives with respect to times, where they are asked for. A lane's step sizes are data but for those
// that land: dt = tstop − t. With b_0 = t0 and b_j the j-th tstop, a landing at b_{j+1} brings its dt
// cotangent to b_{j+1} and takes it from b_j, and b_j shifts all steps up to the next tstop. A save point
// shifts along the interpolant's slope, and one at a tstop takes that from the tstop. After an event steps
// begin at its time: that is what they shift with, and what a landing is taken from (lane/event_adjoint.hpp).
// A save point behind impulses shifts along f there; all that their tstop gets is theirs.
// Test: tests/solve/times.cpp, tests/solve/oracle_gradients.cpp

#include <eddy/solve/group/chain_back.hpp>
#include <eddy/solve/lane/attempt.hpp>
#include <eddy/solve/lane/times.hpp>

namespace eddy::inline v0::detail {

/// A round of a chain from x, which has been pulled back.
template <class Spec, class Pulled, class Recorder>
EDDY_HD void add_times_of_step(const ChainState<Spec>& x, const typename Spec::Time& tstop,
                               const Pulled& round, ChainBack<Spec>& lanes, Recorder& recorder) {
    using Time = typename Spec::Time;
    const auto moves = lanes.alive & (round.used != Time(0));
    const auto lands = moves & (round.used == tstop - x.elapsed);
    for (int place = 0; place < Spec::num_places; ++place) {
        if (!get_lane(moves, place)) continue;
        auto shifts = get_lane(lanes.t_cotangent, place) + get_lane(round.times.t, place);
        if (get_lane(lands, place)) {
            const Occupant& occupant = lanes.occupants[place];
            const auto by_dt = get_lane(round.times.dt, place);
            recorder.add_tstop(occupant.lane, occupant.tstop + 1, by_dt);
            if (Spec::has_event)
                shifts = shifts - by_dt;
            else
                recorder.add_tstop(occupant.lane, occupant.tstop, -by_dt);
        }
        set_lane(lanes.t_cotangent, place, shifts);
    }
}

/// Save points of a round at θ: each moves along its slope, and shifts against the step; one on a
/// tstop, not one that only happens to lie where a step ends, shifts against the tstop; not if it counts as
/// inside, for an event ends the step.
template <class Spec, class Input, class Fraction, class Recorder, class Times>
EDDY_HD void add_times_of_saves(const Input& in, const ChainStepper<Spec>& steps,
                                const Fraction& fraction, const typename Spec::State& seed,
                                const std::int32_t (&taken)[Spec::num_places],
                                const bool (&inside)[Spec::num_places],
                                const ChainBack<Spec>& lanes, Recorder& recorder, Times& of_round) {
    using Stepper = typename Spec::Stepper;
    using Number = typename Spec::Number;
    const auto interpolant = Stepper::interpolant(in);
    const Number along = dot(seed, slope_of_save(interpolant, fraction));
    Number moved = convert<Number>(0);
    if (dense_output_scales_with_size<Stepper>) moved = dot(seed, interpolant.at(fraction) - in.y);
    for (int place = 0; place < Spec::num_places; ++place) {
        if (taken[place] < 0) continue;
        auto v = get_lane(along, place);
        const Occupant& occupant = lanes.occupants[place];
        const LaneTimes times = steps.times_of(place);
        const bool is_tstop =
            !inside[place] && times.saves[taken[place]] == times.tstops[occupant.tstop].elapsed;
        if (is_tstop && is_behind_impulses(times, occupant.tstop, taken[place]))
            v = recorder.slope_behind(occupant.lane, occupant.tstop, taken[place],
                                      state_of<Spec>(seed, place));
        if (!times.saves_the_end ||
            (is_tstop && !times.tstops[occupant.tstop].impulses.is_empty())) {
            recorder.add_save_time(occupant.lane, taken[place], v);
            if (is_tstop) recorder.add_tstop(occupant.lane, occupant.tstop + 1, -v);
        }
        if (is_tstop) continue;
        const auto by_dt =
            get_lane(moved, place) / get_lane(in.dt.h, place) - get_lane(fraction, place) * v;
        set_lane(of_round.t, place, get_lane(of_round.t, place) - v);
        set_lane(of_round.dt, place, get_lane(of_round.dt, place) + by_dt);
    }
}

}  // namespace eddy::inline v0::detail
