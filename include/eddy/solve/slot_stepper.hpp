#pragma once
// One attempted step of all slots of a pack: the hot path of every adaptive solve. Branchless but
// for the reuse of a last stage; each slot has its own time, size and verdict. An empty slot has
// nothing left to its stop, tries a step of size zero or less, and stays where it is. An attempt
// has two halves, so that a group can first compute the steps of all its packs and then judge them
// all: either half of one pack is a long chain of operations, and those of its neighbours fill the
// gaps.

#include <algorithm>
#include <eddy/solve/lane_program.hpp>
#include <eddy/solve/seated_parameters.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <limits>
#include <optional>

namespace eddy::detail {

/// An attempt of all slots of a pack: what was tried, and what was thought of it.
template <class Program>
struct Attempt {
    static constexpr int num_stages =
        Program::is_adaptive ? Program::Stepper::num_error_stages : Program::Stepper::num_stages;

    typename Program::Time h;              // tried, as progress
    MaskOf<typename Program::Time> lands;  // on the stop
    typename Program::State k[num_stages];
    typename Program::State next;
    typename Program::State error;  // its estimate; not set where steps have a constant size
    /// The second estimate of a method that has two.
    struct None {};
    static constexpr bool has_coarse_error =
        Program::is_adaptive && eddy::has_coarse_error<typename Program::Method>;
    [[no_unique_address]] std::conditional_t<has_coarse_error, typename Program::State, None>
        coarse_error;

    typename Program::Time used;  // h where it was accepted, else zero
    MaskOf<typename Program::Primal> accepted;
    MaskOf<typename Program::Time>
        stalled;  // rejected, and as small as a step may be; or not finite
};

template <class Program>
class SlotStepper {
    using Primal = typename Program::Primal;
    using Scalar = typename Program::Scalar;
    using Time = typename Program::Time;
    using Single = typename Program::Single;
    using State = typename Program::State;
    using Stepper = typename Program::Stepper;
    using Method = typename Program::Method;
    using TimeMask = MaskOf<Time>;
    using UniformSize = UniformStepSize<typename Stepper::Rows, Scalar>;
    static constexpr bool is_adaptive = Program::is_adaptive;
    static constexpr int size = Program::state_size;
    static constexpr bool reuses_last_stage = is_adaptive && is_fsal<Method>;

  public:
    using Loop = PackState<Program>;
    using Size = StepSize<Time, Primal>;
    static constexpr int num_stages = Attempt<Program>::num_stages;
    /// Evaluations of f that an attempt costs a lane, and those that it costs once.
    static constexpr int evaluations_per_attempt = num_stages - (reuses_last_stage ? 1 : 0);
    static constexpr int evaluations_at_start = reuses_last_stage ? 1 : 0;

    Time stop;  // (slot) where the steps head for
    SeatedParameters<Program> parameters;

    void begin(const LaneInputs<Program>& inputs) {
        inputs_ = &inputs;
        parameters.begin(inputs);
        smallest_ = std::max(inputs.times.dt_min, std::numeric_limits<double>::min());
        if constexpr (!is_adaptive) {
            uniform_.emplace(inputs.times.dt0, inputs.times.direction * inputs.times.dt0);
            per_size_ = 1 / inputs.times.dt0;
        }
        for (int slot = 0; slot < Program::pack_slots; ++slot) head_for(slot, -1);
    }
    /// The steps of a slot head for a stop, from the one before; it has no lane where it is −1.
    void head_for(int slot, std::int32_t index) {
        const auto& stops = inputs_->times.stops;
        const auto at = static_cast<std::size_t>(index);
        const Stop to = index < 0 ? Stop{0, 0} : stops[at];
        set_lane(stop, slot, to.s);
        set_lane(lowest_, slot, to.lowest);
        set_lane(highest_, slot, to.highest);
        set_lane(origin_, slot, index > 0 ? stops[at - 1].s : 0.);
        forget_last_stage();
    }
    /// To be called when a slot's time or lane was changed from outside.
    void forget_last_stage() { last_stage_row_ = -1; }

    /// Tries a step of every slot from x.
    [[gnu::always_inline]] void compute(const Loop& x, std::int64_t row,
                                        Attempt<Program>& attempt) const {
        const auto& p = parameters.values();
        const Time limited = is_adaptive ? min(x.h, Time(inputs_->times.dt_max)) : x.h;
        const Time left = stop - x.s;
        // Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
        const TimeMask lands = limited * Time(1.01) >= left;
        const Time h = select(lands, left, limited);
        const Size dt = size_of(h);
        const StageTimes<Time> t = times_of(x.s, h);
        State k[num_stages];
        if (reuses_last_stage && last_stage_row_ == row) {
            k[0] = last_stage_;
        } else {
            Stepper::template stages<0, 1>(t, x.y, p, dt, k);
        }
        Stepper::template stages<1, num_stages>(t, x.y, p, dt, k);
        attempt.h = h;
        attempt.lands = lands;
        attempt.next = Stepper::next_state(x.y, dt, k);
        if constexpr (is_adaptive) attempt.error = Stepper::error(dt, k);
        if constexpr (Attempt<Program>::has_coarse_error)
            attempt.coarse_error = Stepper::template error<true>(dt, k);
        static_for<0, num_stages>([&]<int i>()
                                      __attribute__((always_inline)) { attempt.k[i] = k[i]; });
    }

    /// Judges what was tried from x in `row`, and returns the state after the row.
    [[nodiscard, gnu::always_inline]] Loop judge(const Loop& x, std::int64_t row,
                                                 Attempt<Program>& attempt) {
        Loop after;
        if constexpr (is_adaptive) {
            judge_error(x, attempt, after);
        } else {
            accept(x, attempt, after);
        }
        static_for<0, size>([&]<int i>() __attribute__((always_inline)) {
            after.y.data[i] = select(attempt.accepted, attempt.next.data[i], x.y.data[i]);
        });
        if constexpr (reuses_last_stage) {
            static_for<0, size>([&]<int i>() __attribute__((always_inline)) {
                last_stage_.data[i] = select(attempt.accepted, attempt.k[num_stages - 1].data[i],
                                             attempt.k[0].data[i]);
            });
            last_stage_row_ = row + 1;
        }
        return after;
    }

    /// The state after a row of constant size, for slots that have at least a step and a half left
    /// to their stops.
    [[nodiscard, gnu::always_inline]] State uniform_step(const Time& s, const State& y) const {
        return Stepper::step(times_of(s, Time(inputs_->times.dt0)), y, parameters.values(),
                             *uniform_);
    }
    // Progress by steps of constant size is their number since the last stop times their size: a
    // sum would gather an error at every step. The number is read off the progress itself.
    [[nodiscard, gnu::always_inline]] Time steps_at(const Time& s) const {
        return floor(mul_add(s - origin_, Time(per_size_), Time(0.5)));
    }
    [[nodiscard, gnu::always_inline]] Time after_steps(const Time& count) const {
        return mul_add(count, Time(inputs_->times.dt0), origin_);
    }
    /// Where a step of h from s ends: on the stop if h is exactly what was left to it.
    [[nodiscard, gnu::always_inline]] Time progress_after(const Time& s, const Time& h) const {
        const Time further = is_adaptive ? s + h : after_steps(steps_at(s) + Time(1));
        return select(h == stop - s, stop, further);
    }

    /// Zero where all components are finite, NaN elsewhere; a sum that overflows counts as
    /// infinite.
    [[nodiscard, gnu::always_inline]] static Time finiteness(const State& y) {
        Primal sum = primal(y[0]);
        for_components<size - 1>([&](int i) __attribute__((always_inline)) {
            sum = sum + primal(y[i + 1]);
        });
        return convert<Time>(sum - sum);
    }

    /// Of a step of h from s.
    [[nodiscard, gnu::always_inline]] StageTimes<Time> times_of(const Time& s,
                                                                const Time& h) const {
        return {TimeAt<Time>{inputs_->times.t0, inputs_->times.direction, s, lowest_, highest_}, h};
    }
    /// For reports: it may be that of a jump.
    [[nodiscard]] double time_of(const Time& s, int slot) const {
        return inputs_->times.t0 + inputs_->times.direction * get_lane(s, slot);
    }
    [[nodiscard, gnu::always_inline]] Size size_of(const Time& h) const {
        return {h, convert<Primal>(Time(inputs_->times.direction) * h)};
    }
    /// Is this a step of the constant size that all slots share?
    [[nodiscard, gnu::always_inline]] bool is_uniform(const Time& h) const {
        if constexpr (is_adaptive)
            return false;
        else
            return all(h == Time(inputs_->times.dt0));
    }
    [[nodiscard]] const UniformSize& uniform_size() const { return *uniform_; }

    /// The error in units of the tolerances, of one component: for reports.
    [[nodiscard]] Primal ratio(const State& y, const Attempt<Program>& attempt, int i) const {
        const Primal from = primal(y[i]), to = primal(attempt.next[i]);
        const Primal scale =
            mul_add(max(abs(from), abs(to)), Primal(inputs_->rtol), Primal(inputs_->atol[i]));
        // Where `to` is not finite the ratio is NaN: an infinite scale would hide it.
        return (primal(attempt.error[i]) + (to - to)) /
               max(scale, Primal(std::numeric_limits<Scalar>::min()));
    }

  private:
    /// Accepts an attempt or not, and chooses the next size.
    [[gnu::always_inline]] void judge_error(const Loop& x, Attempt<Program>& attempt,
                                            Loop& after) const {
        const Single norm = squared_norm(x.y, attempt);
        const auto decision = inputs_->controller.propose(norm, error_order<Method>, x.history);
        const TimeMask moves = attempt.h > Time(0);
        const TimeMask accepted = (convert<Time>(norm) <= Time(1)) & moves;
        const Primal state_norm = convert<Primal>(norm), state_h = convert<Primal>(attempt.h);
        attempt.accepted = (state_norm <= Primal(1)) & (state_h > Primal(0));
        attempt.used = select(accepted, attempt.h, Time(0));
        Time next = attempt.h * convert<Time>(decision.factor);
        after.history = decision.history;
        if (any(attempt.lands)) [[unlikely]]
            forget_cuts(x, attempt, accepted, next, after.history);
        // Below four units in the last place of s a step would hardly move it.
        const Time smallest =
            max(Time(smallest_), x.s * Time(4 * std::numeric_limits<double>::epsilon()));
        attempt.stalled = moves & (!accepted) & (attempt.h <= smallest);
        after.s = select(accepted, select(attempt.lands, stop, x.s + attempt.h), x.s);
        after.h = max(next, smallest);
    }

    /// A step cut short to land says nothing against the size before the cut; and its small error is
    /// none that the next one should be compared with.
    [[gnu::always_inline]] void forget_cuts(const Loop& x, const Attempt<Program>& attempt,
                                            const TimeMask& accepted, Time& next,
                                            typename Program::History& history) const {
        const TimeMask cut = accepted & (attempt.h < min(x.h, Time(inputs_->times.dt_max)));
        next = select(cut, max(next, x.h), next);
        const auto is_cut = convert<Single>(select(cut, Time(1), Time(0))) > Single(0);
        history.previous_log2 = select(is_cut, x.history.previous_log2, history.previous_log2);
        history.earlier_log2 = select(is_cut, x.history.earlier_log2, history.earlier_log2);
    }

    /// Accepts an attempt of constant size; one that is not finite is said to have stalled.
    [[gnu::always_inline]] void accept(const Loop& x, Attempt<Program>& attempt,
                                       Loop& after) const {
        const TimeMask moves = attempt.h > Time(0);
        attempt.accepted = convert<Primal>(attempt.h) > Primal(0);
        attempt.used = select(moves, attempt.h, Time(0));
        attempt.stalled = moves & (finiteness(attempt.next) != Time(0));
        after.s = select(moves, progress_after(x.s, attempt.h), x.s);
        after.h = x.h;
        after.history = x.history;
    }

    [[nodiscard, gnu::always_inline]] Single squared_norm(const State& y,
                                                          const Attempt<Program>& attempt) const {
        const Single fine =
            squared_error_norm(attempt.error, y, attempt.next, inputs_->rtol, inputs_->atol);
        if constexpr (Attempt<Program>::has_coarse_error) {
            return combined_square(fine, squared_error_norm(attempt.coarse_error, y, attempt.next,
                                                            inputs_->rtol, inputs_->atol));
        } else {
            return fine;
        }
    }

    const LaneInputs<Program>* inputs_ = nullptr;
    std::optional<UniformSize> uniform_;
    Time lowest_, highest_;  // (slot) bounds of the times that f is asked at
    Time origin_;            // (slot) the last stop; 0: the start
    double per_size_ = 0;    // 1/dt0
    double smallest_ = 0;
    State last_stage_{};  // of the row before last_stage_row_
    std::int64_t last_stage_row_ = -1;
};

}  // namespace eddy::detail
