#pragma once
// The sizes of the first steps of many lanes, by Hairer's rule
// (steppers/controller/initial_step.hpp), a Number of lanes at a time. Tangents play no part: step
// sizes are data. Who evaluates f in another way takes the rule without the rest.
// Test: tests/solve/oracle.cpp, tests/solve/evaluations.cpp

#include <eddy/core/vec_math.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/counted_components.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// What the rule reads of the times of the lanes.
template <class Real, class Time>
struct FirstTimes {
    Time t0, lowest, highest;  // (place)
    Real span;

    /// Those of lanes that share them: a pack that is set place by place can be loaded only later.
    EDDY_HD void set_all(const LaneTimes& times) {
        t0 = Time(times.t0);
        lowest = Time(times.tstops[0].lowest);
        highest = Time(times.tstops[0].highest);
        span = Real(static_cast<ScalarOf<Real>>(times.span));
    }
    EDDY_HD void set(int place, const LaneTimes& times) {
        const Tstop& to = times.tstops[0];
        set_lane(t0, place, times.t0);
        set_lane(lowest, place, to.lowest);
        set_lane(highest, place, to.highest);
        set_lane(span, place, static_cast<ScalarOf<Real>>(times.span));
    }
};

/// The rule for lanes of a Real that begin in `y` with the slope `f0`. It asks for the slope f1 at the end of a
/// trial step of Euler.
template <class Spec, class Real, class Time>
struct FirstStepRule {
    using Scalar = typename Spec::Scalar;
    using Term = typename Spec::Term;
    using State = Vec<Real, Spec::state_size>;

    const Problem<Spec>& problem;
    const FirstTimes<Real, Time>& times;
    State y, f0;
    Real span = times.span;
    Real f_norm = norm(f0), trial = initial_step_trial(norm(y), f_norm, span);

    [[nodiscard]] EDDY_HD static Time time_after(const Problem<Spec>& problem,
                                                 const FirstTimes<Real, Time>& times,
                                                 const Time& elapsed) {
        return TimeAt<Time>{times.t0, problem.clock.direction, Time(0), times.lowest,
                            times.highest} +
               elapsed;
    }
    [[nodiscard]] EDDY_HD Time end_time() const {
        return time_after(problem, times, convert<Time>(trial));
    }
    [[nodiscard]] EDDY_HD State end_state() const {
        State y1 = y;
        add_scaled(y1, Real(static_cast<Scalar>(problem.times.direction)) * trial, f0);
        return y1;
    }
    /// The size, from f1; the least where not `is_usable`.
    [[nodiscard]] EDDY_HD Time size(const State& f1, const MaskOf<Real>& is_usable) const {
        // Where the span is zero or less than the state's precision resolves, there is no slope.
        const Real slope_norm =
            norm(f1 - f0) / max(trial, Real(std::numeric_limits<Scalar>::min()));
        const Real h = initial_step(trial, f_norm, slope_norm, Spec::Stepper::order, span);
        return min(max(Time(problem.clock.least), convert<Time>(select(is_usable, h, Real(0)))),
                   Time(problem.clock.dt_max));
    }
    [[nodiscard]] EDDY_HD Real norm(const State& x) const {
        const State magnitude = abs(y);
        return scaled_rms(counted<Term>(x), counted<Term>(magnitude), Real(problem.rtol),
                          counted<Term>(problem.atol));
    }
};

template <class Spec>
class FirstStep {
    using Real = typename Spec::Primal;
    using Time = typename Spec::Time;
    using State = Vec<Real, Spec::state_size>;
    static constexpr int num_places = num_lanes_of<Real>;

  public:
    /// The starts of `count` lanes from `first` on, where they are solved for, and their sizes, as elapsed time, into
    /// `sizes`; a member's share
    /// of them where several members choose together.
    EDDY_HD static void choose(const Problem<Spec>& problem, std::ptrdiff_t first,
                               std::int32_t count, double* sizes, int member, int num_members) {
        for (std::int32_t lane = member * num_places; lane < count;
             lane += num_members * num_places)
            LaneStart<Spec>::find(problem, first + lane, min(num_places, count - lane));
        if (Spec::has_noise || problem.times.dt0 != 0) {  // a path of noise wants one given
            for (std::int32_t lane = member; lane < count; lane += num_members)
                sizes[lane] = problem.times.dt0;
        } else if constexpr (!Spec::has_noise) {
            choose_each(problem, first, count, sizes, member, num_members);
        }
    }

  private:
    EDDY_HD static void choose_each(const Problem<Spec>& problem, std::ptrdiff_t first,
                                    std::int32_t count, double* sizes, int member,
                                    int num_members) {
        for (std::int32_t lane = member * num_places; lane < count;
             lane += num_members * num_places) {
            const int places = min(num_places, count - lane);
            const Time size = of_lanes(problem, first + lane, places);
            for (int place = 0; place < places; ++place)
                sizes[lane + place] = get_lane(size, place);
        }
    }

    [[nodiscard, gnu::noinline]] EDDY_HD static Time of_lanes(const Problem<Spec>& problem,
                                                              std::ptrdiff_t lane, int count) {
        State y{};
        Vec<Real, Spec::parameter_room> p{};
        FirstTimes<Real, Time> times{};
        const bool have_own_times = problem.times.own != nullptr;
        if (!have_own_times) times.set_all(problem.times.of_all());
        for (int place = 0; place < num_places; ++place) {  // beyond the last lane, that lane again
            const LaunchLane source{lane + min(place, count - 1)};
            const auto start = LaneStart<Spec>::state(problem, source);
            for (int i = 0; i < Spec::state_size; ++i) set_lane(y[i], place, primal(start[i]));
            const LaneParameters<Spec> given(&problem, source);
            for (int i = 0; i < Spec::Term::parameter_size; ++i)
                set_lane(p[i], place, primal(given[i]));
            if (have_own_times) times.set(place, problem.times_of(source));
        }
        using Rule = FirstStepRule<Spec, Real, Time>;
        const State f0 = slope(Rule::time_after(problem, times, Time(0)), y, p);
        const Rule rule{problem, times, y, f0};
        const State f1 = slope(rule.end_time(), rule.end_state(), p);
        // Numbers that nobody has checked (asynchronous calls) may not be finite: no size is small enough then.
        return rule.size(f1, not_a_number_among(y, p) == Real(0));
    }
    /// Zero where all are finite.
    [[nodiscard]] EDDY_HD static Real not_a_number_among(const State& y,
                                                         const Vec<Real, Spec::parameter_room>& p) {
        Real nothing(0);
        for (int i = 0; i < Spec::state_size; ++i) nothing = nothing + (y[i] - y[i]);
        for (int i = 0; i < Spec::parameter_size; ++i) nothing = nothing + (p[i] - p[i]);
        return nothing;
    }
    /// dy/dt; zero for algebraic components, which Euler's step then leaves alone.
    template <class Parameters>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State slope(const Time& t, const State& y,
                                                         const Parameters& p) {
        return MassMatrix<typename Spec::Field>::slope(Spec::Term::derivative(t, y, p));
    }
};

}  // namespace eddy::inline v0::detail
