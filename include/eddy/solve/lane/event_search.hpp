#pragma once
// Events of the lanes in a Number's places, found by trying steps. An accepted attempt at whose end the
// event's function g has passed zero is taken back, and tried again from the same start with the sizes of
// a bracket (steppers/root_bracket.hpp), a round each, until that is as wide as time resolves: so the state
// at an event is the method's own, whatever the method. `side` remembers on which side of zero g was; after
// a state that an event leaves at zero, it is the side to which g moves from there.

#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/tried_step.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// How far apart the ends of a closed bracket are: what times, and steps of numbers like the state's, resolve.
template <class Scalar>
[[nodiscard]] EDDY_HD double event_width(double elapsed, double size) {
    return 4 * std::numeric_limits<double>::epsilon() * (elapsed + size) +
           static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * size;
}

/// The side of zero on which a lane goes on from where g is `now` and its slope, in elapsed time, `slope`:
/// where g is no further from zero than `still`, that to which it moves. Zero where it rests.
[[nodiscard]] EDDY_HD inline double side_from(double now, double slope, double still) {
    constexpr double least = std::numeric_limits<double>::min();
    if (!(abs(now) <= still)) return now;
    return slope > 0 ? least : slope < 0 ? -least : 0;
}

template <class Spec>
struct EventSeeker {
    using Functions = EventFunctions<typename Spec::Field>;
    using Number = typename Spec::Number;
    using Time = typename Spec::Time;
    using State = typename Spec::State;
    static constexpr int state_size = Spec::state_size;
    static constexpr Crossing crossing = crossing_of<typename Spec::Field>;

    /// A lane begins in a place, on this side of zero; or a place becomes empty.
    EDDY_HD static void begin(EventSearch<Spec>& search, int place, double side) {
        set_lane(search.side, place, side);
        set_lane(search.uncut, place, 0.);
        put(search, place, RootBracket{});
    }
    /// The side of zero where a lane begins.
    [[nodiscard]] EDDY_HD static double side_at_start(const Problem<Spec>& problem,
                                                      std::ptrdiff_t lane,
                                                      const typename Spec::LaneState& y) {
        using Lane = typename Spec::Lane;
        const LaneTimes& times = problem.times;
        const double t0 = times.tstops[0].confine(times.t0);
        const LaneParameters<Spec> p{&problem, lane};
        const auto g = static_cast<double>(Functions::template value<Lane>(t0, y, p));
        if (g != 0) return g;
        const Lane slope = slope_of<Lane>(t0, y, p, LaneStart<Spec>::slope(problem, lane));
        return side_from(g, times.direction * static_cast<double>(slope), 0);
    }

    /// Looks at what was tried from x by `in`, and judged.
    template <class Input>
    [[gnu::always_inline]] EDDY_HD static void look(const Input& in, double direction,
                                                    const ChainState<Spec>& x,
                                                    Attempt<Spec>& attempt,
                                                    AfterAttempt<Spec>& after) {
        after.events = x.events;
        const Time g =
            convert<Time>(Functions::template value<Number>(in.t.last, attempt.trial.next, in.p));
        const MaskOf<Time> counts = (attempt.used > Time(0)) & !attempt.stalled;
        const auto is_met = crosses<crossing>(x.events.side, g);
        const auto is_lost = !((g - g == Time(0)) & (x.events.side - x.events.side == Time(0)));
        const auto is_sought = x.events.high > Time(0);
        if (any(is_sought | (counts & (is_met | is_lost)))) [[unlikely]]
            look_closely(in, {g, direction, counts}, x, attempt, after);
        else
            after.events.side = select(counts & (g != Time(0)), g, x.events.side);
    }

  private:
    /// Derivative of g by t along dy/dt.
    template <class Real, class TimeOf, class State, class Parameters>
    [[nodiscard]] EDDY_HD static Real slope_of(const TimeOf& t, const State& y, const Parameters& p,
                                               const State& dy_dt) {
        State by_y{};
        Real slope = Functions::derivatives(t, y, p, by_y, [](int, const Real&) {});
        for (int i = 0; i < state_size; ++i) slope = slope + by_y[i] * dy_dt[i];
        return slope;
    }

    /// What was found of g at the end of an attempt, and the direction of time.
    struct Seen {
        Time g;
        double direction;
        MaskOf<Time> counts;  // (place) was it accepted?
    };
    /// dy/dt of what f is.
    [[nodiscard]] EDDY_HD static State dy_dt(const State& f) {
        if constexpr (has_mass<typename Spec::Field>)
            return MassMatrix<typename Spec::Field>::slope(f);
        else
            return f;
    }
    template <class Input>
    [[gnu::noinline]] EDDY_HD static void look_closely(const Input& in, const Seen& seen,
                                                       const ChainState<Spec>& x,
                                                       Attempt<Spec>& attempt,
                                                       AfterAttempt<Spec>& after) {
        Time width(0);
        for (int place = 0; place < Spec::num_places; ++place) {
            const double size = get_lane(attempt.size, place), now = get_lane(seen.g, place);
            const double side = get_lane(x.events.side, place);
            RootBracket bracket = bracket_of(x.events, place);
            put(after.events, place, RootBracket{});
            if (!get_lane(seen.counts, place))
                continue;  // rejected: what is sought will be met again
            if (!is_number(now) || !is_number(side)) {
                set_lane(after.events.side, place, std::numeric_limits<double>::quiet_NaN());
                set_lane(attempt.used, place, -size);
                continue;
            }
            const bool is_beyond = crosses<crossing>(side, now);
            if (bracket.is_open()) {
                bracket.narrow(size, now, is_beyond);
            } else if (is_beyond) {
                bracket = RootBracket::begin(size, side, now);
                set_lane(after.events.uncut, place, get_lane(x.size, place));
            } else {
                if (now != 0) set_lane(after.events.side, place, now);
                continue;
            }
            const double resolved =
                event_width<typename Spec::Scalar>(get_lane(x.elapsed, place), bracket.high);
            set_lane(width, place, resolved);
            restore_history(x, after, place);
            if (now == 0 || bracket.is_closed(resolved)) {
                set_lane(attempt.used, place, -size);
                set_lane(after.size, place, get_lane(after.events.uncut, place));
                continue;
            }
            take_back(x, attempt, after, place);
            set_lane(after.size, place, bracket.next(resolved));
            put(after.events, place, bracket);
        }
        if constexpr (Spec::has_jump) {
            if (any(attempt.used < Time(0))) jump(in, seen, width, attempt, after);
        }
    }
    /// A step cut short to find an event says nothing of the sizes to come.
    EDDY_HD static void restore_history(const ChainState<Spec>& x, AfterAttempt<Spec>& after,
                                        int place) {
        set_lane(after.history.previous_log2, place, get_lane(x.history.previous_log2, place));
        set_lane(after.history.earlier_log2, place, get_lane(x.history.earlier_log2, place));
        set_lane(after.history.was_rejected, place, get_lane(x.history.was_rejected, place));
    }
    /// As if it had been rejected.
    EDDY_HD static void take_back(const ChainState<Spec>& x, Attempt<Spec>& attempt,
                                  AfterAttempt<Spec>& after, int place) {
        set_lane(attempt.used, place, 0.);
        set_lane(attempt.accepted, place, false);
        set_lane(after.elapsed, place, get_lane(x.elapsed, place));
        for (int i = 0; i < state_size; ++i) set_lane(after.y[i], place, get_lane(x.y[i], place));
    }
    /// The states after events, and the sides on which they leave g.
    template <class Input>
    EDDY_HD static void jump(const Input& in, const Seen& seen, const Time& width,
                             const Attempt<Spec>& attempt, AfterAttempt<Spec>& after) {
        using Term = typename Spec::Term;
        const auto& t = in.t.last;
        const State y = Functions::jump(t, attempt.trial.next, in.p);
        const Time now = convert<Time>(Functions::template value<Number>(t, y, in.p));
        const Time slope =
            convert<Time>(slope_of<Number>(t, y, in.p, dy_dt(Term::derivative(t, y, in.p))));
        for (int place = 0; place < Spec::num_places; ++place) {
            if (!(get_lane(attempt.used, place) < 0) ||
                !is_number(get_lane(after.events.side, place)))
                continue;
            for (int i = 0; i < state_size; ++i) set_lane(after.y[i], place, get_lane(y[i], place));
            const double along = get_lane(slope, place) * seen.direction;
            const double still =
                2 * (abs(get_lane(seen.g, place)) + abs(along) * get_lane(width, place));
            set_lane(after.events.side, place, side_from(get_lane(now, place), along, still));
        }
    }

    [[nodiscard]] EDDY_HD static RootBracket bracket_of(const EventSearch<Spec>& search,
                                                        int place) {
        return {get_lane(search.low, place),   get_lane(search.high, place),
                get_lane(search.g_low, place), get_lane(search.g_high, place),
                get_lane(search.tries, place), get_lane(search.moved, place)};
    }
    EDDY_HD static void put(EventSearch<Spec>& search, int place, const RootBracket& bracket) {
        set_lane(search.low, place, bracket.low);
        set_lane(search.high, place, bracket.high);
        set_lane(search.g_low, place, bracket.g_low);
        set_lane(search.g_high, place, bracket.g_high);
        set_lane(search.tries, place, bracket.tries);
        set_lane(search.moved, place, bracket.moved);
    }
};

}  // namespace eddy::inline v0::detail
