#pragma once
// Events of the lanes in a Number's places, found by trying steps. An accepted attempt at whose end an
// event's function g has passed zero is taken back, and tried again from the same start with the sizes of
// a bracket (steppers/root_bracket.hpp), a round each, until that is as wide as time resolves: so the state
// at an event is the method's own, whatever the method. `side` remembers on which side of zero g was; after
// a state that an event leaves at zero, it is the side to which g moves from there.
//
// Of several functions a bracket's upper end is where some are beyond their roots, its lower end where none
// is: it closes on the earliest root, whichever of them it follows. Of those that it cannot tell apart the
// one with the lowest number is the event; another is the next, for its side remains what it was.
//
// Functions that read nothing of the state are not sought so: steps end where their events are due (event_due.hpp).
//
// An event that a lane goes on behind is not at the very time of a tstop or a save point, but a width before: so
// there is a step from the one to the other, which knows how what is there depends on the event's time.
// Test: tests/solve/events.cpp, tests/solve/several_events.cpp

#include <eddy/solve/lane/event_bracket.hpp>
#include <eddy/solve/lane/event_due.hpp>
#include <eddy/solve/lane/event_sides.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/tried_step.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Spec>
struct EventSeeker {
    using Functions = EventFunctions<typename Spec::Field>;
    using Number = typename Spec::Number;
    using Time = typename Spec::Time;
    using State = typename Spec::State;
    static constexpr int state_size = Spec::state_size;
    static constexpr int num_events = Spec::num_events;
    static constexpr double least = said_side;
    using Values = Vec<Time, num_events>;  // of all functions
    using Leading = LeadingEvent<num_events>;
    using Sides = Vec<double, num_events>;

    /// A lane begins in a place, on these sides of zero; or a place becomes empty.
    EDDY_HD static void begin(EventSearch<Spec>& search, int place, const Sides& sides) {
        go_on(search, place, sides);
        set_lane(search.uncut, place, 0.);
        if constexpr (Spec::moves_times) set_lane(search.clock, place, typename Spec::Scalar(0));
        put_bracket<Spec>(search, place, {});
        put_leading<Spec>(search, place, {});
        EventDue<Spec>::clear(search, place);
    }
    /// The lane that begins there, from y.
    EDDY_HD static void begin(EventSearch<Spec>& search, int place, const Problem<Spec>& problem,
                              LaunchLane lane, const typename Spec::LaneState& y) {
        begin(search, place, sides_at(problem, lane, 0, y));
        EventDue<Spec>::begin(search, place, problem, lane);
    }
    /// The lane there goes on behind impulses, on these sides: what impulses pass is no event.
    EDDY_HD static void go_on(EventSearch<Spec>& search, int place, const Sides& sides) {
        for (int i = 0; i < num_events; ++i) set_lane(search.side.data[i], place, sides.data[i]);
    }
    /// The sides of zero where the steps of a lane to a tstop begin, in y.
    [[nodiscard]] EDDY_HD static Sides sides_at(const Problem<Spec>& problem, LaunchLane lane,
                                                std::int32_t tstop,
                                                const typename Spec::LaneState& y) {
        using Lane = typename Spec::Lane;
        const LaneTimes times = problem.times_of(lane);
        const double elapsed = tstop > 0 ? times.tstops[tstop - 1].elapsed : 0;
        const double t = times.tstops[tstop].confine(mul_add(times.direction, elapsed, times.t0));
        const LaneParameters<Spec> p{&problem, lane, tstop};
        const auto now = Functions::template values<Lane>(t, y, p);
        Sides sides{};
        static_for<0, num_events>([&]<int i>() {
            const auto g = static_cast<double>(primal(now.data[i]));
            sides.data[i] = is_timed<i> ? 1 : g;
            if (is_timed<i> || g != 0) return;
            const Lane slope =
                slope_of<i, Lane>(t, y, p, LaneStart<Spec>::slope(problem, lane, y, t, tstop));
            sides.data[i] = side_from(g, times.direction * static_cast<double>(primal(slope)), 0);
        });
        return sides;
    }

    /// What steps may have to end at.
    struct Landings {
        const Problem<Spec>& problem;
        const LaunchLane (&lanes)[Spec::num_places];
        const Time& tstop;

        [[nodiscard]] EDDY_HD LaneTimes times_of(int place) const {
            return problem.times_of(lanes[place]);
        }
    };
    /// Looks at what was tried from x by `in`, and judged. Where it has found events, at_roots(use) calls
    /// use(in) with the steps to them.
    template <class Input, class AtRoots>
    EDDY_INLINE EDDY_HD static void seek(const Input& in, const Landings& landings,
                                         const ChainState<Spec>& x, Attempt<Spec>& attempt,
                                         AfterAttempt<Spec>& after, const AtRoots& at_roots) {
        after.events = x.events;
        attempt.event = Time(0);
        const Values g = values_at(in, attempt.trial.next);
        const MaskOf<Time> counts = (attempt.used > Time(0)) & !attempt.stalled;
        auto is_met = crosses<Functions::template crossing<0>>(x.events.side.data[0], g.data[0]);
        auto is_lost = are_lost(x.events.side.data[0], g.data[0]);
        static_for<1, num_events>([&]<int i>() EDDY_INLINE {
            const auto meets =
                crosses<Functions::template crossing<i>>(x.events.side.data[i], g.data[i]);
            const auto loses = are_lost(x.events.side.data[i], g.data[i]);
            is_met = is_met | meets;
            is_lost = is_lost | loses;
        });
        const auto is_sought = x.events.high > Time(0);
        const MaskOf<Time> is_due = EventDue<Spec>::ends_of(x, attempt);
        if (any(is_sought | (counts & (is_met | is_lost | is_due | attempt.lands)))) [[unlikely]] {
            seek_closely({MaskOf<Time>(counts & is_due), g, landings, counts}, x, attempt, after,
                         at_roots);
            return EventDue<Spec>::renew(
                in.p, [&](int place) { return landings.times_of(place); }, attempt, after);
        }
        static_for<0, num_events>([&]<int i>() EDDY_INLINE {
            after.events.side.data[i] =
                select(counts & (g.data[i] != Time(0)), g.data[i], x.events.side.data[i]);
        });
    }

  private:
    template <int i>
    static constexpr bool is_timed = is_timed_event<typename Spec::Field, i>;

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Values values_at(const Input& in, const State& y) {
        Values g;
        if constexpr (Spec::has_timed_events_only) {
            for (int i = 0; i < num_events; ++i) g.data[i] = Time(1);
        } else {
            const auto values = Functions::template values<Number>(in.t.last, y, in.p);
            static_for<0, num_events>([&]<int i>() EDDY_INLINE {
                g.data[i] = is_timed<i> ? Time(1) : convert<Time>(primal(values.data[i]));
            });
        }
        return g;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto are_lost(const Time& side, const Time& g) {
        return !((g - g == Time(0)) & (side - side == Time(0)));
    }
    /// Derivative of the i-th by t along dy/dt.
    template <int i, class Real, class TimeOf, class State, class Parameters>
    [[nodiscard]] EDDY_HD static Real slope_of(const TimeOf& t, const State& y, const Parameters& p,
                                               const State& dy_dt) {
        State by_y{};
        Real slope = Functions::template derivatives<i>(t, y, p, by_y, [](int, const Real&) {});
        for (int k = 0; k < state_size; ++k) slope = slope + by_y[k] * dy_dt[k];
        return slope;
    }

    /// What was found of g at the end of an attempt.
    struct Seen {
        [[no_unique_address]] KeptIf<Spec::has_timed_events, MaskOf<Time>> is_due;  // (place)
        Values g;
        Landings landings;
        MaskOf<Time> counts;  // (place) was it accepted?
    };
    /// Which functions are beyond their roots in a place; one that leads, or else that whose root seems the
    /// earliest.
    [[nodiscard]] EDDY_HD static Leading leading_at(const EventSearch<Spec>& search,
                                                    const Values& g, int place, int leader,
                                                    double blurred) {
        const Values& side = search.side;
        Leading found;
        double earliest = 2;
        int candidate = leader;
        static_for<0, num_events>([&]<int i>() {
            const double from = get_lane(side.data[i], place), now = get_lane(g.data[i], place);
            if (abs(from) <= blurred || !crosses<Functions::template crossing<i>>(from, now))
                return;
            found.met |= std::uint32_t{1} << i;
            found.at_zero = found.at_zero && now == 0;
            const double fraction = from / (from - now);
            if (fraction < earliest) {
                earliest = fraction;
                candidate = i;
            }
        });
        found.leader = leader >= 0 && found.has(leader) ? leader : candidate;
        return found;
    }
    /// What an attempt of a place has shown goes to its bracket, which may begin.
    EDDY_HD static void take(const Seen& seen, const ChainState<Spec>& x, double size, int place,
                             RootBracket& bracket, Leading& leading) {
        const auto g = [&](int i) { return get_lane(seen.g.data[i], place); };
        const auto side = [&](int i) { return get_lane(x.events.side.data[i], place); };
        const bool was_open = bracket.is_open();
        const Leading before = was_open ? get_leading<Spec>(x.events, place) : Leading{-1};
        leading = leading_at(x.events, seen.g, place, before.leader, blurred_sides(x, size, place));
        if (leading.met == 0) {
            if (was_open) {
                bracket.narrow(size, g(before.leader), false);
                leading = before;
            }
            leading.at_zero = false;
        } else if (!was_open) {
            bracket = RootBracket::begin(size, side(leading.leader), g(leading.leader));
        } else if (leading.leader == before.leader) {
            bracket.narrow(size, g(leading.leader), true);
        } else {
            bracket.turn_to(size, side(leading.leader), g(leading.leader));
        }
    }

    template <class AtRoots>
    [[gnu::noinline]] EDDY_HD static void seek_closely(const Seen& seen, const ChainState<Spec>& x,
                                                       Attempt<Spec>& attempt,
                                                       AfterAttempt<Spec>& after,
                                                       const AtRoots& at_roots) {
        Time width(0);
        for (int place = 0; place < Spec::num_places; ++place) {
            const double size = get_lane(attempt.size, place);
            RootBracket bracket = bracket_of<Spec>(x.events, place);
            put_bracket<Spec>(after.events, place, {});
            if (!get_lane(seen.counts, place))
                continue;  // rejected: what is sought will be met again
            if (is_lost(x.events.side, place) || is_lost(seen.g, place)) {
                set_lane(after.events.side.data[0], place,
                         std::numeric_limits<double>::quiet_NaN());
                set_lane(attempt.used, place, -size);
                continue;
            }
            const bool was_open = bracket.is_open();
            Leading leading;
            take(seen, x, size, place, bracket, leading);
            if (!bracket.is_open()) {
                for (int i = 0; i < num_events; ++i) {
                    const double now = get_lane(seen.g.data[i], place);
                    const bool is_known =
                        abs(get_lane(x.events.side.data[i], place)) > blurred_sides(x, size, place);
                    if (now != 0 && is_known) set_lane(after.events.side.data[i], place, now);
                }
                if (get_lane(seen.is_due, place)) meet(x, size, width, attempt, after, place);
                continue;
            }
            if (!was_open) set_lane(after.events.uncut, place, get_lane(x.size, place));
            put_leading<Spec>(after.events, place, leading);
            const double resolved =
                event_width<typename Spec::Scalar>(get_lane(x.elapsed, place), bracket.high);
            set_lane(width, place, resolved);
            // Cut short to find an event, it says nothing of the sizes to come.
            set_history(after.history, place, history_of(x.history, place));
            const bool is_closed = leading.at_zero || bracket.is_closed(resolved);
            if (is_closed && get_lane(seen.is_due, place)) {
                leading.met |= EventDue<Spec>::met(x.events, place);
                put_leading<Spec>(after.events, place, leading);
            }
            double back = 0;
            if (is_closed && !is_terminal_at<typename Spec::Field>(leading.first()))
                back =
                    size_before(seen.landings, place,
                                {get_lane(x.elapsed, place), size, get_lane(after.elapsed, place)},
                                resolved, bracket);
            if (is_closed && back == 0) {
                set_lane(attempt.used, place, -size);
                set_lane(attempt.event, place, static_cast<double>(leading.first()));
                set_lane(after.size, place, get_lane(after.events.uncut, place));
                continue;
            }
            take_back(x, attempt, after, place);
            set_lane(after.size, place, is_closed ? back : bracket.next(resolved));
            put_bracket<Spec>(after.events, place, bracket);
        }
        if (!any(attempt.used < Time(0))) return;
        at_roots([&]([[maybe_unused]] const auto& in) {
            if constexpr (Spec::has_jump) jump(in, seen, width, attempt, after);
        });
    }
    /// What is due at the end of a step that has met no other event.
    EDDY_HD static void meet(const ChainState<Spec>& x, double size, Time& width,
                             Attempt<Spec>& attempt, AfterAttempt<Spec>& after, int place) {
        Leading leading;
        leading.met = EventDue<Spec>::met(x.events, place);
        if (leading.met == 0) return;
        put_leading<Spec>(after.events, place, leading);
        set_lane(attempt.event, place, static_cast<double>(leading.first()));
        set_lane(width, place,
                 event_width<typename Spec::Scalar>(get_lane(x.elapsed, place), size));
        set_lane(after.events.uncut, place, get_lane(x.size, place));
        set_history(after.history, place, history_of(x.history, place));
        set_lane(after.size, place, get_lane(x.size, place));
        set_lane(attempt.used, place, -size);
    }
    struct Tried {
        double from, size, end;  // in elapsed time
    };
    /// The size of a step that ends before the tstop or save point at which this one does, if time resolves
    /// that; else zero.
    [[nodiscard]] EDDY_HD static double size_before(const Landings& landings, int place,
                                                    const Tried& tried, double width,
                                                    RootBracket& bracket) {
        if (!is_told(landings.times_of(place), get_lane(landings.tstop, place), tried.end))
            return 0;
        const double size = bracket.step_back(tried.size, width), end = tried.from + size;
        return end > tried.from && end < tried.end ? size : 0;
    }
    /// Takes an attempt back, as if it had been rejected.
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
        const auto jumps = [&](int place, int i) {
            return get_lane(attempt.used, place) < 0 && event_of(attempt, place) == i &&
                   !is_lost(after.events.side, place);
        };
        static_for<0, num_events>([&]<int i>() {
            if constexpr (!Functions::template is_terminal<i>) {
                const State y = Functions::template jump<i>(in.t.last, attempt.trial.next, in.p);
                for (int place = 0; place < Spec::num_places; ++place) {
                    if (!jumps(place, i)) continue;
                    for (int k = 0; k < state_size; ++k)
                        set_lane(after.y[k], place, get_lane(y[k], place));
                }
            }
        });
        const Values now = values_at(in, after.y);
        const State slope = MassMatrix<typename Spec::Field>::slope(
            Spec::Term::derivative(in.t.last, after.y, in.p));
        static_for<0, num_events>([&]<int i>() {
            const Time along =
                convert<Time>(primal(slope_of<i, Number>(in.t.last, after.y, in.p, slope))) *
                Time(seen.landings.problem.times.direction);
            for (int place = 0; place < Spec::num_places; ++place) {
                bool goes_on = false;
                static_for<0, num_events>([&]<int met>() {
                    goes_on =
                        goes_on || (!Functions::template is_terminal<met> && jumps(place, met));
                });
                if (goes_on && !is_timed<i>)
                    leave_on_side(i,
                                  {get_lane(seen.g.data[i], place), get_lane(now.data[i], place),
                                   get_lane(along, place), get_lane(width, place)},
                                  attempt, after, place);
            }
        });
    }
    /// What the i-th function was at an event, is after it, how it moves from there, and the bracket's width.
    struct Left {
        double met, now, along, width;
    };
    EDDY_HD static void leave_on_side(int i, const Left& g, const Attempt<Spec>& attempt,
                                      AfterAttempt<Spec>& after, int place) {
        const int event = event_of(attempt, place);
        const bool is_next = i != event && get_leading<Spec>(after.events, place).has(i);
        const double off = i == event || is_next ? abs(g.met) : 0;
        const double still = 2 * (off + abs(g.along) * g.width);
        double side = side_from(g.now, g.along, still);
        if (is_next && abs(g.now) <= still)
            side = get_lane(after.events.side.data[i], place) > 0 ? 2 * least : -2 * least;
        else if (i != event && g.now == g.met && g.now != 0)
            side = g.now;
        set_lane(after.events.side.data[i], place, side);
    }
};

}  // namespace eddy::inline v0::detail
