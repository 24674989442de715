#pragma once
// Tangents in all directions, carried along the accepted steps of a solve by the Jacobians at their stages
// (lane/method_tangents.hpp), in plain numbers beside the state. What a Number of tangents has in its places are
// lanes, a direction at a time, or the directions of one lane, where lanes are few; each has the same bits.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/solve/lane/meet_impulses.hpp>
#include <eddy/solve/lane/method_tangents.hpp>
#include <eddy/solve/lane/solution_recorder.hpp>
#include <eddy/solve/lane/tangent_error.hpp>

namespace eddy::inline v0::detail {

/// An accepted step of the lanes in the places of a Number.
template <int places>
struct StepOfPlaces {
    LaunchLane lane[places];
    bool moves[places];  // has the place a lane that moves?
    double from[places], to[places];
    double size[places];
    ImpulseRange impulses[places];  // where it has landed
};

/// What becomes of tangents: plain values, as a kernel takes them. Directions are the parameters, then the components of y0,
/// of those that are asked for. In the place of a recorder of steps (lane/solution_recorder.hpp).
template <class Spec, class Observable, bool of_p, bool of_y0>
class CarriedTangents {
    using Real = typename Spec::Scalar;
    using Number = typename Spec::Number;
    using Tangents =
        typename TangentsOf<typename Spec::Field, typename Spec::Method, Spec::is_adaptive,
                            (of_p && Spec::parameter_size > 0)>::type;
    static constexpr int size = Spec::state_size, places = Spec::num_places,
                         num_p = of_p ? Spec::parameter_size : 0;
    template <class Any>
    using State = Vec<Any, size>;
    template <class Any>
    using Taken = typename Tangents::template Taken<Any>;

  public:
    static constexpr int num_directions = num_p + (of_y0 ? size : 0);
    static constexpr int num_blocks = (num_directions + places - 1) / places;
    /// Tangents of a Number of lanes: (direction), or (place, block) where directions are in the places.
    static constexpr int num_rows = num_blocks * places;
    using Row = State<Number>;

    Real* saved = nullptr;         // (save point, output, lane, direction)
    TangentMark* marks = nullptr;  // (lane, direction); null: nobody watches
    std::ptrdiff_t num_lanes = 0;
    Row* rows = nullptr;  // (chain, row)

    /// Recorders of steps are asked; nobody wants them.
    [[nodiscard]] static constexpr bool is_wanted() { return false; }
    static void append(std::ptrdiff_t, const TakenStep&, const auto&) {}

    /// Are directions in the places? Where it takes fewer operations.
    [[nodiscard]] bool places_are_directions() const {
        return places > 1 && num_lanes * (num_blocks + 2) <= num_directions;
    }
    /// A lane begins in a place: its tangents are the directions themselves. Saves what is due at once.
    void begin(const Problem<Spec>& problem, LaunchLane lane, int chain, int place,
               std::int32_t& num_saved) const {
        const LaneTimes times = problem.times_of(lane);
        const State<Real> before = problem.load_y0(lane);
        State<Real> y = before;
        kick_state(times, times.impulses_at_start(), y);
        for (int d = 0; d < num_directions; ++d) {
            State<Real> seed{};
            if (d >= num_p) seed[d - num_p] = Real(1);
            State<Real> tangent = seed;
            kick(times, times.impulses_at_start(), tangent);
            for (int i = 0; i < size; ++i) {
                if (places_are_directions())
                    set_lane(block(chain, place, d / places)[i], d % places, tangent[i]);
                else
                    set_lane(row(chain, d)[i], place, tangent[i]);
            }
            for (num_saved = 0; next_save(times, num_saved) <= 0; ++num_saved) {
                if (times.saves_before_impulses)
                    save(problem, lane, num_saved, d, before, seed);
                else
                    save(problem, lane, num_saved, d, y, tangent);
            }
        }
    }
    /// Carries the tangents of a chain along a step, given what was tried, or anew. `num_saved`: (place) save points so far.
    template <class Input, class... Trial>
    void follow(const Problem<Spec>& problem, const Input& in, const StepOfPlaces<places>& step,
                int chain, std::int32_t* num_saved, const Trial&... trial) const {
        const Taken<Number> taken = Tangents::taken(in, trial...);
        if (!places_are_directions()) {
            const auto linearize = [&](bool dense, auto& linear) {
                Tangents::linearize(in, taken.k, dense, linear);
            };
            const auto direction = [&](int d) -> State<Number>& { return row(chain, d); };
            Sweep<Number, Number, places>(*this, problem, step, num_saved)
                .run(in.y, in.dt, taken, linearize, direction);
            return;
        }
        for (int place = 0; place < places; ++place) {
            if (!step.moves[place]) continue;
            const State<Real> y = in_place(in.y, place);
            const StepSize<double, Real> dt{step.size[place], get_lane(in.dt.h, place)};
            Taken<Real> of_lane;
            for (int i = 0; i < Tangents::num_dense_stages; ++i)
                of_lane.k[i] = in_place(taken.k[i], place);
            of_lane.next = in_place(taken.next, place);
            const auto p = spread<Number>(in.p, place);
            // Stages lie in places, as lanes do: an elementary function of a plain number has other bits.
            const StepOfPlace<Number, decltype(in.t), size, decltype(p), decltype(dt)> alone_in{
                {in.t, place}, y, p, dt};
            const auto linearize = [&](bool dense, auto& linear) {
                Tangents::linearize(alone_in, of_lane.k, dense, linear);
            };
            const auto of_place = [&](int b) -> State<Number>& { return block(chain, place, b); };
            const StepOfPlaces<1> alone{{step.lane[place]}, {true},
                                        {step.from[place]}, {step.to[place]},
                                        {step.size[place]}, {step.impulses[place]}};
            Sweep<Real, Number, 1>(*this, problem, alone, num_saved + place)
                .run(y, dt, of_lane, linearize, of_place);
        }
    }

  private:
    static constexpr bool shows_state =
        std::is_same_v<Observable, StateObservable<typename Spec::Field>>;
    /// At most so many save points of each place are saved at once; of more there are several sweeps.
    static constexpr int most_waves = 4;
    /// A save point for each place that has one due.
    template <int count>
    struct Wave {
        std::int32_t k[count];  // −1: none
        bool at_end[count];
        double theta[count];
    };

    /// What impulses make of a state, and of a tangent of it.
    static void kick_state(const LaneTimes& times, const ImpulseRange& impulses, State<Real>& y) {
        MeetImpulses<Spec>::apply(times, impulses, y, [](std::int32_t, const Real&) {});
    }
    template <class Any>
    static void kick(const LaneTimes& times, const ImpulseRange& impulses, State<Any>& tangent) {
        for (std::int32_t i = impulses.first; i < impulses.end; ++i) {
            const PlannedImpulse& impulse = times.impulses[i];
            Any& number = tangent[impulse.component];
            if (impulse.kind == Impulse::scale)
                number = Any(static_cast<Real>(impulse.amount)) * number;
            if (impulse.kind == Impulse::replace) number = Any(0);
        }
    }
    template <class Any>
    [[nodiscard]] static State<Real> in_place(const State<Any>& y, int place) {
        State<Real> of_place;
        for (int i = 0; i < size; ++i) of_place[i] = get_lane(y[i], place);
        return of_place;
    }

    /// One step: `Primal` has the lanes, `Any` the tangents.
    template <class Primal, class Any, int count>
    struct Sweep {
        static constexpr bool has_directions = num_lanes_of<Any> != count;  // in its places
        static constexpr int num_turns = has_directions ? num_blocks : num_directions;
        const CarriedTangents& all;
        const Problem<Spec>& problem;
        const StepOfPlaces<count>& step;
        std::int32_t* num_saved;  // (place)
        MaskOf<Any> moves;
        bool has_impulses = false;
        typename Tangents::template Sources<Any> sources;

        Wave<count> waves[most_waves];
        int num_waves = 0;
        bool interpolates = false;
        /// (wave, place) The states that an observable reads.
        struct States {
            State<Real> y[most_waves][count];
        };
        [[no_unique_address]] KeptIf<!shows_state, States> states;

        Sweep(const CarriedTangents& all_, const Problem<Spec>& problem_,
              const StepOfPlaces<count>& step_, std::int32_t* num_saved_)
            : all(all_), problem(problem_), step(step_), num_saved(num_saved_), moves(false) {
            for (int place = 0; place < count; ++place) {
                set_lane(moves, place, step.moves[place]);
                has_impulses = has_impulses || !step.impulses[place].is_empty();
            }
        }

        /// From y, by a step of size dt; linearize(dense, linear) makes what all directions need of it.
        template <class Size, class Linearize, class Direction>
        void run(const State<Primal>& y, const Size& dt, const Taken<Primal>& taken,
                 const Linearize& linearize, const Direction& direction) {
            typename Tangents::template Linearization<Primal> linear;
            bool is_last = false;
            for (bool is_first = true; !is_last; is_first = false) {
                is_last = find_due();
                if (is_first || interpolates) linearize(interpolates, linear);
                if constexpr (!shows_state) find_states(y, dt, taken);
                for (int turn = 0; turn < num_turns; ++turn)
                    take(dt, linear, turn, direction(turn), is_last);
            }
        }
        /// Finds save points that are due; are these all?
        bool find_due() {
            interpolates = false;
            for (num_waves = 0; num_waves < most_waves; ++num_waves) {
                Wave<count>& wave = waves[num_waves];
                bool any_due = false;
                for (int place = 0; place < count; ++place) {
                    wave.k[place] = -1;
                    wave.theta[place] = 0;
                    if (!step.moves[place]) continue;
                    const double at =
                        next_save(problem.times_of(step.lane[place]), num_saved[place]);
                    if (at > step.to[place]) continue;
                    any_due = true;
                    wave.k[place] = num_saved[place]++;
                    wave.at_end[place] = at == step.to[place];
                    wave.theta[place] = (at - step.from[place]) / step.size[place];
                    interpolates = interpolates || !wave.at_end[place];
                }
                if (!any_due) return true;
            }
            return false;
        }
        [[nodiscard]] Primal theta_of(const Wave<count>& wave) const {
            Primal theta(Real(0));
            for (int place = 0; place < count; ++place)
                set_lane(theta, place, static_cast<Real>(wave.theta[place]));
            return theta;
        }
        template <class Size>
        void find_states(const State<Primal>& y, const Size& dt, const Taken<Primal>& taken) {
            for (int w = 0; w < num_waves; ++w) {
                const State<Primal> within = Tangents::within(y, dt, taken, theta_of(waves[w]));
                for (int place = 0; place < count; ++place) {
                    states.y[w][place] =
                        in_place(waves[w].at_end[place] ? taken.next : within, place);
                    if (waves[w].at_end[place] && !problem.times.saves_before_impulses)
                        kick_in(place, states.y[w][place]);
                }
            }
        }
        /// The directions of a turn.
        template <class Size>
        void take(const Size& dt, const typename Tangents::template Linearization<Primal>& linear,
                  int turn, State<Any>& at, bool is_last) {
            const int first = min(num_p, has_directions ? turn * places : turn),
                      last = min(num_p, has_directions ? first + places : first + 1);
            sources.take(linear, first, last,
                         [&](Any& source, const Primal& value, [[maybe_unused]] int parameter) {
                             if constexpr (has_directions)
                                 set_lane(source, parameter - first, value);
                             else
                                 source = value;
                         });
            Taken<Any> taken;
            Tangents::take(dt, at, linear, sources, interpolates, taken);
            sources.leave(first, last);
            State<Any> after = taken.next;
            if (has_impulses) kick_tangents(after);
            const State<Any>& at_end = problem.times.saves_before_impulses ? taken.next : after;
            for (int w = 0; w < num_waves; ++w) {
                State<Any> within{};
                if (interpolates) within = Tangents::within(at, dt, taken, theta_of(waves[w]));
                save_wave(w, turn, within, at_end);
            }
            if (!is_last) return;
            if constexpr (Spec::is_adaptive) {
                if (all.marks) watch(turn, Tangents::error(dt, linear, taken), taken.next);
            }
            if (has_directions)
                at = after;
            else
                move_where(moves, after, at);
        }
        void save_wave(int w, int turn, const State<Any>& within, const State<Any>& at_end) const {
            const Wave<count>& wave = waves[w];
            for_directions(turn, [&](int place, int d, int of_number) {
                if (wave.k[place] < 0) return;
                all.save(problem, step.lane[place], wave.k[place], d, state_at(w, place),
                         in_place(wave.at_end[place] ? at_end : within, of_number));
            });
        }
        void kick_in(int place, State<Real>& y) const {
            kick_state(problem.times_of(step.lane[place]), step.impulses[place], y);
        }
        /// Tangents after the impulses on which the step has landed.
        void kick_tangents(State<Any>& x) const {
            for (int place = 0; place < count; ++place) {
                if (!step.moves[place] || step.impulses[place].is_empty()) continue;
                const LaneTimes times = problem.times_of(step.lane[place]);
                if constexpr (has_directions) {
                    kick(times, step.impulses[place], x);
                } else {
                    State<Real> of_place = in_place(x, place);
                    kick(times, step.impulses[place], of_place);
                    for (int i = 0; i < size; ++i) set_lane(x[i], place, of_place[i]);
                }
            }
        }
        /// The state, or anything where nobody reads it.
        [[nodiscard]] State<Real> state_at([[maybe_unused]] int w,
                                           [[maybe_unused]] int place) const {
            if constexpr (shows_state)
                return {};
            else
                return states.y[w][place];
        }
        /// Calls visit(place, direction, place of the Number) for what the Number of a turn has.
        template <class Visit>
        static void for_directions(int turn, const Visit& visit) {
            for (int j = 0; j < num_lanes_of<Any>; ++j) {
                const int d = has_directions ? turn * places + j : turn;
                if (d < num_directions) visit(has_directions ? 0 : j, d, j);
            }
        }
        /// Marks the directions whose tangents the step does not resolve.
        void watch(int turn, const State<Any>& error, const State<Any>& next) const {
            using Error = TangentError<Spec>;
            const auto beyond = Error::are_beyond(problem, error, next);
            if (!any(beyond)) return;
            const Any ratio = Error::ratio_of(problem, error, next);
            for_directions(turn, [&](int place, int d, int of_number) {
                if (!step.moves[place] || !get_lane(beyond, of_number)) return;
                const LaneTimes times = problem.times_of(step.lane[place]);
                TangentMark& mark = all.marks[to_index(step.lane[place]) * num_directions + d];
                if (mark) return;
                mark = {times.t0 + problem.times.direction * step.from[place],
                        static_cast<float>(get_lane(ratio, of_number))};
            });
        }
    };

    [[nodiscard]] State<Number>& row(int chain, int d) const { return rows[chain * num_rows + d]; }
    [[nodiscard]] State<Number>& block(int chain, int place, int b) const {
        return rows[chain * num_rows + place * num_blocks + b];
    }

    /// Parameters as dual numbers, of which one may be a direction.
    struct DualParameters {
        LaneParameters<Spec> p;
        int along;
        [[nodiscard]] Dual<Real> operator[](int i) const {
            return {p[i], Real(i == along ? 1 : 0)};
        }
    };
    /// Saves what a direction makes of the save point of a lane.
    void save(const Problem<Spec>& problem, LaunchLane lane, std::int32_t k, int d,
              const State<Real>& y, const State<Real>& tangent) const {
        constexpr int num_outputs = Observable::num_outputs;
        const auto put = [&](int i, const Real& value) {
            saved[((k * num_outputs + i) * num_lanes + to_index(lane)) * num_directions + d] =
                value;
        };
        if constexpr (shows_state) {
            for (int i = 0; i < size; ++i) put(i, tangent[i]);
        } else {
            State<Dual<Real>> at;
            for (int i = 0; i < size; ++i) at[i] = {y[i], tangent[i]};
            const LaneParameters<Spec> p(&problem, lane);
            const DualParameters parameters{p, d < num_p ? d : -1};
            const auto values =
                Observable::value(problem.times_of(lane).save_time[k], at, parameters, NoData{});
            for (int i = 0; i < num_outputs; ++i) put(i, values[i].tangent);
        }
    }
};

/// Recorders whose steps carry tangents.
template <class Steps>
inline constexpr bool has_tangents_carried = requires {
    Steps::num_directions;
};

}  // namespace eddy::inline v0::detail
