#pragma once
// One attempted step of all places of a Number: the hot path of every adaptive solve. Branchless; each
// place has its own time, size and verdict. An empty place has nothing left to its tstop, tries a step
// of size zero or less, and stays where it is. An attempt has two halves, so that a member can first
// compute the steps of all its chains and then judge them all: either half of one chain is a long
// chain of operations, and those of its neighbours fill the gaps.
// Test: tests/solve/oracle.cpp, tests/solve/other_steppers.cpp

#include <eddy/solve/lane/attempt_error.hpp>
#include <eddy/solve/lane/chain_path.hpp>
#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/event_attempt.hpp>
#include <eddy/solve/lane/judged_step.hpp>
#include <eddy/solve/lane/parameters.hpp>
#include <eddy/solve/lane/place_times.hpp>
#include <eddy/solve/lane/tried_step.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Spec>
class ChainStepper {
    using Primal = typename Spec::Primal;
    using Scalar = typename Spec::Scalar;
    using Time = typename Spec::Time;
    using Single = typename Spec::Single;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Path = typename Spec::Path;
    using TimeMask = MaskOf<Time>;
    using Size = StepSize<Time, Primal>;
    static constexpr bool is_adaptive = Spec::is_adaptive;

  public:
    Time tstop;  // (place) where the steps head for; elapsed
    PlaceParameters<Spec> parameters;
    [[no_unique_address]] ChainPath<Spec> path;

    EDDY_HD void begin(const Problem<Spec>& problem) {
        problem_ = &problem;
        parameters.begin(problem);
        path.begin(problem);
        for (int place = 0; place < Spec::num_places; ++place) head_for(place, -1);
    }
    EDDY_HD void refer_to(const Problem<Spec>& problem) { problem_ = &problem; }
    /// Puts another lane into a place.
    EDDY_HD void assign(int place, LaunchLane lane) {
        lanes_[place] = lane;
        times_.assign(*problem_, place, lane);
        parameters.assign(*problem_, place, lane);
        path.assign(place, lane);
    }
    /// The steps of a place head for a tstop, from the one before; it has no lane where it is −1.
    EDDY_HD void head_for(int place, std::int32_t index) {
        LaneTimes times;
        if (index >= 0) times = times_of(place);
        const Tstop to = index < 0 ? Tstop{0, 0} : times.tstops[index];
        set_lane(t0_, place, times.t0);
        set_lane(tstop, place, to.elapsed);
        set_lane(lowest_, place, to.lowest);
        set_lane(highest_, place, to.highest);
        set_lane(origin_, place, index > 0 ? times.tstops[index - 1].elapsed : 0.);
        if (index >= 0) parameters.head_for(*problem_, place, lanes_[place], index);
        path.head_for(*problem_, place, lanes_[place], index);
    }

    /// Tries a step of every place from x. On a host by a call that all callers share, compiled once:
    /// it costs a solve nothing (Lorenz, Tsit5: 0.7 % less) and a gradient 0.5 %, and takes a tenth
    /// off the time to compile one. A device would put registers into memory for it.
    EDDY_INLINE EDDY_HD void compute(const ChainState<Spec>& x, Attempt<Spec>& attempt) const {
        if constexpr (compiling_for_device)
            compute_here(x, attempt);
        else
            compute_out_of_line(x, attempt);
    }
    EDDY_INLINE EDDY_HD static void land(const Time& limited, const Time& left,
                                         Attempt<Spec>& attempt) {
        attempt.lands = lands_within(limited, left);
        attempt.size = select(attempt.lands, left, limited);
    }

    /// Judges what was tried from x, and returns where that leads.
    [[nodiscard]] EDDY_INLINE EDDY_HD AfterAttempt<Spec> judge(const ChainState<Spec>& x,
                                                               Attempt<Spec>& attempt) const {
        AfterAttempt<Spec> after;
        if constexpr (is_adaptive) {
            judge_error(x, attempt, after);
        } else {
            accept(x, attempt, after);
        }
        if constexpr (Spec::has_event) {
            after.y = x.y;
            move_where(attempt.accepted, attempt.trial.next, after.y);
            seek_events<Spec>(*this, x, attempt, after);
        }
        return after;
    }
    /// Moves the chain to where an attempt leads. Number by number: a copy of the whole would be
    /// made in pieces that are narrower than the loads to come, which then wait for it.
    EDDY_INLINE EDDY_HD static void move_on(ChainState<Spec>& x, const Attempt<Spec>& attempt,
                                            const AfterAttempt<Spec>& after) {
        if constexpr (Spec::has_event)
            x.y = after.y;
        else
            move_where(attempt.accepted, attempt.trial.next, x.y);
        x.elapsed = after.elapsed;
        x.size = after.size;
        copy_parts(x.history, after.history);
        if (Spec::has_event) x.events = after.events;
        Stepper::carry(attempt.trial, attempt.accepted, x.memory);
    }

    /// The memory with which a step begins from x: anew in the places that have `changed`.
    EDDY_HD void renew_memory(ChainState<Spec>& x, const MaskOf<Primal>& changed) const {
        with_input(x, Time(0), [&](const auto& in) {
            x.memory = select(changed, Stepper::first(in), x.memory);
        });
    }

    /// A step of the size `used` once more, where it is not zero; nothing that a replay needs is left
    /// out.
    EDDY_INLINE EDDY_HD void replay(ChainState<Spec>& x, const typename Spec::Used& logged,
                                    const Single* normals = nullptr) const {
        const Time used = Spec::has_event ? abs(size_in(logged)) : size_in(logged);
        if constexpr (Spec::has_constant_size) {
            if (is_constant(used)) {
                x.y = constant_step(x.elapsed, x.y, x.memory, normals);
                x.elapsed = elapsed_after(x.elapsed, used);
                return;
            }
        }
        const auto moves = convert<Primal>(used) != Primal(0);
        const auto by = tangents_of_sizes<Spec>(*this, x, logged);
        State next;
        with_moved_input<Spec>(*this, x, used, by, [&](const auto& in) EDDY_INLINE {
            if constexpr (Stepper::memory_follows_state) {
                next = Stepper::step(in, x.memory);
            } else {
                typename Stepper::template Trial<typename Spec::Number> trial;
                Stepper::attempt(in, x.memory, trial);
                next = trial.next;
                Stepper::carry(trial, moves, x.memory);
            }
            if constexpr (Spec::has_jump) jump_again<Spec>(in, logged, next);
        });
        move_where(moves, next, x.y);
        x.elapsed = select(used != Time(0), elapsed_after(x.elapsed, used), x.elapsed);
        move_clock(x.events, x.events, by, used, x.elapsed == tstop);
        if (Spec::has_jump && !Stepper::memory_follows_state)
            renew_after_events(x, size_in(logged));
    }
    /// Begins steps anew in the places whose rounds ended with events.
    EDDY_HD void renew_after_events(ChainState<Spec>& x, const Time& logged) const {
        if (!Spec::has_jump) return;
        const auto changed = convert<Primal>(logged) < Primal(0);
        if (any(changed)) [[unlikely]]
            renew_memory(x, changed);
    }

    /// The state after a round of constant size, for places that have at least a step and a half
    /// left to their tstops. `normals`, of noise, are those of the step, if they are at hand.
    [[nodiscard]] EDDY_INLINE EDDY_HD State constant_step(const Time& elapsed, const State& y,
                                                          const typename Spec::Memory& memory,
                                                          const Single* normals = nullptr) const {
        return constant_step(problem_->size, elapsed, y, memory, normals);
    }
    /// A constant step with the size, and its products with the method's coefficients, at hand.
    template <class UniformSize>
    [[nodiscard]] EDDY_INLINE EDDY_HD State constant_step(const UniformSize& dt,
                                                          const Time& elapsed, const State& y,
                                                          const typename Spec::Memory& memory,
                                                          const Single* normals) const {
        const Time size(problem_->clock.dt0);
        return Stepper::step(StepInput{times_of(elapsed, size), y, parameters.values(), dt,
                                       constant_path(elapsed, normals), problem_->tolerances()},
                             memory);
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD const auto& constant_size() const { return problem_->size; }
    // Elapsed time by steps of constant size is their number since the last tstop times their size: a
    // sum would gather an error at every step. The number is read off the elapsed time itself.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time steps_at(const Time& elapsed) const {
        return steps_since(elapsed, origin_, problem_->clock.per_dt0);
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD Time after_steps(const Time& count) const {
        return mul_add(count, Time(problem_->clock.dt0), origin_);
    }
    /// The size of the step from there: the constant one, or what is left; zero where nothing is.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time size_from(const Time& elapsed) const {
        const Time dt0(problem_->clock.dt0), left = tstop - elapsed;
        return max(select(lands_within(dt0, left), left, dt0), Time(0));
    }
    /// The time at which a step of `size` ends: the tstop if that is exactly what was left to it.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time elapsed_after(const Time& elapsed,
                                                         const Time& size) const {
        if constexpr (Spec::has_dyadic_steps)
            return path.cells().end_of(path.cells().place_at(elapsed), size, tstop);
        const Time further =
            Spec::counts_steps ? after_steps(steps_at(elapsed) + Time(1)) : elapsed + size;
        return select(size == tstop - elapsed, tstop, further);
    }

    /// t for reports: it may be that of a jump.
    [[nodiscard]] EDDY_HD double time_of(const Time& elapsed, int place) const {
        return times_of(place).t0 + problem_->times.direction * get_lane(elapsed, place);
    }
    /// The times of the lane in a place.
    [[nodiscard]] EDDY_HD LaneTimes times_of(int place) const {
        return times_.of(*problem_, place, lanes_[place]);
    }
    /// What steps may have to end at.
    [[nodiscard]] EDDY_HD typename EventSeeker<Spec>::Landings landings() const {
        return {*problem_, lanes_, tstop};
    }
    /// t for those who look on.
    [[nodiscard]] EDDY_HD Time time_at(const Time& elapsed) const {
        return mul_add(Time(problem_->clock.direction), elapsed, t0_);
    }
    /// Is this a round of the constant size that all places share?
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_constant(const Time& size) const {
        return all(size == Time(problem_->clock.dt0));
    }

    /// Calls use(in) with what a step of `size` from x starts from.
    template <class Use>
    EDDY_INLINE EDDY_HD decltype(auto) with_input(const ChainState<Spec>& x, const Time& size,
                                                  Use&& use,
                                                  const Single* normals = nullptr) const {
        return with_moved_input<Spec>(*this, x, size, tangents_of_sizes<Spec>(*this, x, size), use,
                                      normals);
    }
    /// Uses the input of a step at times without tangents.
    template <class Use>
    EDDY_INLINE EDDY_HD decltype(auto) with_still_input(const ChainState<Spec>& x, const Time& size,
                                                        Use&& use,
                                                        const Single* normals = nullptr) const {
        const Size dt{size, convert<Primal>(Time(problem_->clock.direction) * size)};
        return use(StepInput{times_of(x.elapsed, size), x.y, parameters.values(), dt,
                             path_of(x.elapsed, size, normals), problem_->tolerances()});
    }
    /// Uses the input of a logged step, whose size has these tangents, if any, or may be the constant one.
    template <class Use>
    EDDY_INLINE EDDY_HD decltype(auto) with_logged_input(const ChainState<Spec>& x,
                                                         const Time& size,
                                                         const ClockTangent<Spec>& by, Use&& use,
                                                         const Single* normals = nullptr) const {
        if constexpr (Spec::has_constant_size) {
            if (is_constant(size)) return with_constant_input(x.elapsed, x.y, use, normals);
        }
        return with_moved_input<Spec>(*this, x, size, by, use, normals);
    }
    /// Uses the input of a step of the constant size.
    template <class Use>
    EDDY_INLINE EDDY_HD decltype(auto) with_constant_input(const Time& elapsed, const State& y,
                                                           Use&& use, const Single* normals) const {
        return use(StepInput{times_of(elapsed, Time(problem_->clock.dt0)), y, parameters.values(),
                             problem_->size, constant_path(elapsed, normals),
                             problem_->tolerances()});
    }

  private:
    /// Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
    [[nodiscard]] EDDY_INLINE EDDY_HD static TimeMask lands_within(const Time& limited,
                                                                   const Time& left) {
        return limited * Time(1.01) >= left;
    }
    [[gnu::noinline]] EDDY_HD void compute_out_of_line(const ChainState<Spec>& x,
                                                       Attempt<Spec>& attempt) const {
        compute_here(x, attempt);
    }
    EDDY_INLINE EDDY_HD void compute_here(const ChainState<Spec>& x, Attempt<Spec>& attempt) const {
        const Time limited = is_adaptive ? min(x.size, Time(problem_->clock.dt_max)) : x.size;
        const Time left = tstop - x.elapsed;
        if constexpr (Spec::has_dyadic_steps) {
            const auto here = path.cells().place_at(x.elapsed);
            attempt.size = select(left > Time(0), path.cells().size_at(here, limited), Time(0));
            attempt.lands = path.cells().end_of(here, attempt.size, tstop) == tstop;
        } else {
            land(limited, EventDue<Spec>::left_from(x, left), attempt);
        }
        if constexpr (Spec::has_event) {
            attempt.size = select(x.events.high > Time(0), x.size, attempt.size);
            attempt.lands = attempt.size == left;
        }
        with_input(x, attempt.size, [&](const auto& in) EDDY_INLINE {
            Stepper::attempt(in, x.memory, attempt.trial);
        });
    }

    [[nodiscard]] EDDY_INLINE EDDY_HD StageTimes<Time> times_of(const Time& elapsed,
                                                                const Time& size) const {
        return {TimeAt<Time>{t0_, problem_->clock.direction, elapsed, lowest_, highest_}, size};
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD Path path_of(const Time& elapsed, const Time& size,
                                                   const Single* normals) const {
        return path.of(
            *problem_, elapsed, size, [&](const auto&) EDDY_INLINE { return sqrt(size); },
            [&] { return steps_at(elapsed); }, normals);
    }
    /// The path of a step of constant size.
    [[nodiscard]] EDDY_INLINE EDDY_HD Path constant_path(const Time& elapsed,
                                                         const Single* normals) const {
        return path.of(
            *problem_, elapsed, Time(problem_->clock.dt0),
            [](const auto& noise) EDDY_INLINE { return Time(noise.root); },
            [&] { return steps_at(elapsed); }, normals);
    }

    /// Accepts an attempt or not, and chooses the next size.
    EDDY_INLINE EDDY_HD void judge_error(const ChainState<Spec>& x, Attempt<Spec>& attempt,
                                         AfterAttempt<Spec>& after) const {
        const Single norm = squared_norm_of(*problem_, x.y, attempt);
        const TimeMask accepted =
            judge_step(*problem_, x, attempt, after, norm, least_from(x.elapsed),
                       any(EventDue<Spec>::cut(x, attempt, problem_->clock.dt_max)));
        const Primal norm_of_state = convert<Primal>(norm), moved = convert<Primal>(attempt.size);
        attempt.accepted = (norm_of_state <= Primal(1)) & (moved > Primal(0));
        const Time end = Spec::has_dyadic_steps
                             ? elapsed_after(x.elapsed, attempt.size)
                             : select(attempt.lands, tstop, x.elapsed + attempt.size);
        after.elapsed = select(accepted, end, x.elapsed);
    }
    /// The least size of a step from there.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time least_from(const Time& elapsed) const {
        if constexpr (Spec::has_dyadic_steps)
            return max(Time(problem_->clock.least),
                       path.cells().least_at(path.cells().place_at(elapsed)));
        else
            return least_size(*problem_, elapsed);
    }

    /// Accepts an attempt of constant size; one that is not finite, or fails, is said to have
    /// stalled.
    EDDY_INLINE EDDY_HD void accept(const ChainState<Spec>& x, Attempt<Spec>& attempt,
                                    AfterAttempt<Spec>& after) const {
        const TimeMask moves = attempt.size > Time(0);
        attempt.accepted = convert<Primal>(attempt.size) > Primal(0);
        attempt.used = select(moves, attempt.size, Time(0));
        attempt.stalled = moves & (finiteness<Time>(attempt.trial.next) != Time(0));
        if constexpr (Stepper::can_fail)
            attempt.stalled = attempt.stalled | (moves & has_failed<Spec>(attempt.trial));
        after.elapsed = select(moves, elapsed_after(x.elapsed, attempt.size), x.elapsed);
        after.size = x.size;
        after.history = x.history;
    }

    [[no_unique_address]] PlaceTimes<Spec> times_;
    const Problem<Spec>* problem_ = nullptr;
    LaunchLane lanes_[Spec::num_places] = {};  // (place) the last one
    Time t0_;                                  // (place)
    Time lowest_, highest_;                    // (place) bounds of the times that f is asked at
    Time origin_;                              // (place) the last tstop; 0: the start
};

}  // namespace eddy::inline v0::detail
