#pragma once
// What the gradient of a solve is: reverse accumulation over the steps that were accepted, the last
// one first, each with its own adjoint (Griewank & Walther 2008, Evaluating Derivatives, 3.2). The
// cotangent of the state begins as zero behind the last step; each save point adds its own to that of
// the state there. Sizes of steps are data. All steps are at hand: nothing is computed again.
// Test: tests/solve/oracle_gradients.cpp

#include <eddy/backends/serial/lane_step.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <span>
#include <vector>

namespace eddy::inline v0::detail {

/// `Recorder` gives the cotangents of save points and takes the gradients: see
/// solve/lane/gradient_recorder.hpp.
template <class Spec, class Recorder, bool with_times>
class LaneGradient {
    using Number = typename Spec::Number;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Times = std::conditional_t<with_times, TimeCotangents<Number>, NoTimeCotangents>;
    template <bool dense>
    using Linearization = typename Stepper::template Linearization<Number, with_times, dense>;

  public:
    LaneGradient(const LaneProblem<Spec>& lane, std::int32_t number, std::int32_t num_saved,
                 Recorder& recorder)
        : lane_(lane),
          times_(lane.times()),
          recorder_(recorder),
          number_(number),
          saves_left_(num_saved) {}

    /// Marks the lane where its steps do not carry its derivative. It has made so many attempts.
    void watch(GradientMark* mark, std::int64_t attempts) {
        mark_ = mark;
        attempts_ = attempts;
    }

    /// False where attend() was, and the gradient is not complete.
    template <class Attend>
    [[nodiscard]] bool run(std::span<const AcceptedStep<Spec>> steps, const Attend& attend) {
        for (std::size_t k = steps.size(); k-- > 0;) {
            if (!attend()) return false;
            pull(steps[k]);
            if constexpr (with_times) {
                if (k == 0 || steps[k - 1].from.tstop != steps[k].from.tstop)
                    add_time_of_start(steps[k].from.tstop);
            }
            if (k > 0 && steps[k - 1].from.tstop != steps[k].from.tstop)
                hand_out_inputs(steps[k].from.tstop);
        }
        if (!times_.saves_before_impulses) add_saves_at_start();
        if (times_.num_impulses > 0)
            recorder_.template pull_impulses_at_start<with_times>(number_, cotangent_);
        add_saves_at_start();
        if constexpr (LaneStart<Spec>::is_solved_for) pull_start();
        hand_out_inputs(0);
        recorder_.add_y0(number_, cotangent_);
        for (int i = 0; i < Spec::parameter_size; ++i) recorder_.add_p(number_, i, of_p_[i]);
        return true;
    }

  private:
    /// Cotangents of what a step that passes over knots read at the time that `reads` was told last.
    template <class Reads>
    struct CotangentsAt {
        LaneGradient& of_lane;
        const Reads& reads;
        typename LaneProblem<Spec>::Parameters& of_p;

        void add(int i, const Number& value) const {
            if (i < Spec::parameter_size)
                of_p[i] = of_p[i] + value;
            else
                of_lane.recorder_.add_input(of_lane.number_, reads.piece, i - Spec::parameter_size,
                                            value);
        }
    };
    /// The steps that head for a tstop have all been pulled back: what their inputs have got.
    void hand_out_inputs([[maybe_unused]] std::int32_t tstop) {
        if constexpr (Spec::input_room > 0) {
            recorder_.add_inputs(number_, tstop, take_input_sums<Spec>(of_p_, 0));
        }
    }
    /// Pulls a step back: from the cotangent of the state after it to that before it.
    void pull(const AcceptedStep<Spec>& step) {
        lane_.with_step(step.from, step.size, step.by, [&](const auto& in) {
            Times of_times{};
            typename Stepper::template DenseCotangent<Number> dense{};
            bool has_inner_saves = false;
            met_ = {};
            if (step.end == times_.tstops[step.from.tstop].elapsed && !step.ends_lane())
                meet_impulses(in, step);
            pull_impulses(cotangent_);
            if constexpr (Spec::has_event) take_end_at_event(step);
            while (saves_left_ > 0 && times_.saves[saves_left_ - 1] > step.from.elapsed)
                has_inner_saves |= add_save(in, step, dense, of_times);
            if constexpr (Spec::has_event) {
                static_for<0, Spec::num_events>([&]<int i>() {
                    if (step.event == i) pull_event<i>(in, step, dense, of_times);
                });
            }
            if (has_inner_saves)
                pull_step<true>(in, step, dense, of_times);
            else
                pull_step<false>(in, step, NoDenseCotangent{}, of_times);
            if constexpr (with_times) add_times_of_step(step, of_times);
            if constexpr (can_watch<Spec>) {
                if (mark_ && is_looked_at(step.attempt, attempts_)) look(in, step.from.elapsed);
            }
        });
    }

    /// The end of a lane that ended at an event, where it is the only save point, lies at the end of its step.
    void take_end_at_event(const AcceptedStep<Spec>& step) {
        if (step.event == no_event || saves_left_ == 0) return;
        const double last = times_.saves[saves_left_ - 1];
        const bool is_there = last == step.end && times_.saves_the_end && step.ends_lane();
        if (!(last > step.end || is_there)) return;
        cotangent_ =
            cotangent_ + recorder_.pull_save(
                             number_, --saves_left_, lane_.time_after(step.from, step.end, step.by),
                             [&](int i, const Number& of_p) { recorder_.add_p(number_, i, of_p); },
                             of_stretch_);
    }
    /// An event at the end of a step: first the jump of the state there. The size h of the step is where
    /// g(t + h, Φ(h)) = 0: its cotangent, which is that of the time at which the next step begins and
    /// what Φ(h) brings, is cleared by a multiple of g.
    template <int event, class Input, class Dense>
    void pull_event(const Input& in, const AcceptedStep<Spec>& step, const Dense& dense,
                    Times& of_times) {
        using Events = EventFunctions<typename Spec::Field>;
        const auto t = in.t.last;
        const State y = Stepper::step(in, step.from.memory);
        if constexpr (!Events::template is_terminal<event>) {
            State before{};
            of_stretch_ =
                of_stretch_ + Events::template pull_jump<event>(
                                  t, y, in.p, cotangent_, before,
                                  [&](int i, const Number& value) { of_p_[i] = of_p_[i] + value; });
            cotangent_ = before;
        }
        State by_y{};
        typename LaneProblem<Spec>::Parameters by_p{}, unwanted{};
        const Number by_t = Events::template derivatives<event>(
            t, y, in.p, by_y, [&](int i, const Number& value) { by_p[i] = value; });
        Linearization<true> linearization;
        Stepper::linearize(in, step.from.memory, linearization);
        Times of_state = of_times, of_root{};
        static_cast<void>(Stepper::pull(in, linearization, cotangent_, dense, unwanted, of_state));
        static_cast<void>(Stepper::pull(in, linearization, by_y, Dense{}, unwanted, of_root));
        const Number of_size = of_stretch_ + of_state.dt;
        bool has_any = of_size != 0;
        if constexpr (Spec::is_dual) has_any = has_any || of_size.tangent != 0;
        if (has_any) {
            Number factor = -of_size / (by_t + of_root.dt);
            factor = factor + (factor - factor);  // no number where there is no slope
            cotangent_ = cotangent_ + factor * by_y;
            of_p_ = of_p_ + factor * by_p;
            of_stretch_ = of_stretch_ + factor * by_t;
        }
        of_times.dt = of_times.dt + of_stretch_;
    }

    /// Does the cotangent hold a mode that the steps do not resolve?
    template <class Input>
    void look(const Input& in, double elapsed) {
        using Watch = typename Stepper::Watch;
        using Real = typename Spec::Primal;
        Vec<Real, Spec::state_size> y, cotangent;
        for (int i = 0; i < Spec::state_size; ++i) {
            y[i] = primal(in.y[i]);
            cotangent[i] = primal(cotangent_[i]);
        }
        const auto ratio = static_cast<float>(Watch::ratio(in, y, cotangent));
        if (ratio > static_cast<float>(Watch::threshold) && ratio > mark_->ratio)
            *mark_ = {times_.t0 + times_.direction * elapsed, ratio};
    }

    /// The last save point that is left, one of this step's: at its end it adds to the cotangent there,
    /// else to that of dense output. True for the latter.
    template <class Input, class Dense>
    bool add_save(const Input& in, const AcceptedStep<Spec>& step, Dense& dense, Times& of_times) {
        const std::int32_t k = --saves_left_;
        State seed = recorder_.pull_save(number_, k);
        const bool at_end = times_.saves[k] == step.end && !step.ends_lane();
        const double fraction =
            at_end ? 1 : (times_.saves[k] - step.from.elapsed) / step.size;  // of the step
        const auto theta = moving_fraction<Spec>(in, static_cast<typename Spec::Primal>(fraction));
        if constexpr (with_times) add_times_of_save(in, step, k, theta, seed, of_times);
        if (at_end && times_.saves[k] == times_.tstops[step.from.tstop].elapsed &&
            !times_.saves_before_impulses)
            pull_impulses(seed);
        if (at_end)
            cotangent_ = cotangent_ + seed;
        else
            Stepper::pull_interpolant(in, theta, seed, dense);
        return !at_end;
    }

    /// Parameters, where they are few, get the sum of the whole step.
    template <bool dense, class Input, class Dense>
    void pull_step(const Input& in, const AcceptedStep<Spec>& step, const Dense& of_dense,
                   Times& of_times) {
        Linearization<dense> linearization;
        Stepper::linearize(in, step.from.memory, linearization);
        if constexpr (Spec::passes_knots) {
            typename LaneProblem<Spec>::Parameters of_step{};
            CotangentsAt<std::remove_cvref_t<decltype(in.p)>> cotangents{*this, in.p, of_step};
            cotangent_ =
                Stepper::pull(in, linearization, cotangent_, of_dense, cotangents, of_times);
            for (int i = 0; i < Spec::parameter_size; ++i) of_p_[i] = of_p_[i] + of_step[i];
        } else if constexpr (Spec::parameter_size <= longest_unrolled) {
            typename LaneProblem<Spec>::Parameters of_step{};
            cotangent_ = Stepper::pull(in, linearization, cotangent_, of_dense, of_step, of_times);
            of_p_ = of_p_ + of_step;
        } else {
            cotangent_ = Stepper::pull(in, linearization, cotangent_, of_dense, of_p_, of_times);
        }
    }

    /// The impulses at the end of a step, and what each found.
    template <class Input>
    void meet_impulses(const Input& in, const AcceptedStep<Spec>& step) {
        met_ = times_.tstops[step.from.tstop].impulses;
        if (met_.is_empty()) return;
        State y = Stepper::step(in, step.from.memory);
        found_.clear();
        lane_.meet_impulses(met_, y, [&](const Number& number) { found_.push_back(number); });
    }
    /// From the cotangent of the state behind them to that before them.
    void pull_impulses(State& cotangent) {
        for (std::int32_t k = met_.end; k-- > met_.first;) {
            const PlannedImpulse& impulse = times_.impulses[k];
            Number& number = cotangent[impulse.component];
            if (impulse.kind == Impulse::scale) {
                recorder_.add_amount(number_, k,
                                     number * found_[static_cast<std::size_t>(k - met_.first)]);
                number = number * Number(static_cast<typename Spec::Primal>(impulse.amount));
            } else {
                recorder_.add_amount(number_, k, number);
                if (impulse.kind == Impulse::replace) number = Number(0);
            }
        }
    }

    /// Adds the save points that are left, which lie at t0.
    void add_saves_at_start() {
        while (saves_left_ > 0) add_save_at_start();
    }
    void add_save_at_start() {
        const std::int32_t k = --saves_left_;
        const State seed = recorder_.pull_save(number_, k);
        cotangent_ = cotangent_ + seed;
        if constexpr (with_times) recorder_.add_start_save(number_, k, seed);
    }

    /// Pulls back what made the state at t0 consistent.
    void pull_start() {
        [[maybe_unused]] const Number of_t0 = LaneStart<Spec>::template pull<with_times>(
            lane_.problem, lane_.of_launch, lane_.y0(), cotangent_, of_p_);
        if constexpr (with_times) recorder_.add_tstop(number_, 0, of_t0);
    }

    // Derivatives with respect to times, where they are asked for. Tstop 0 is the start, tstop j the
    // j-th of the plan. Steps begin at the tstop before plus a sum of sizes that are data, up to the
    // one that lands, whose size is what was left.

    /// A tstop shifts all steps from there to the next.
    void add_time_of_start(std::int32_t tstop) {
        recorder_.add_tstop(number_, tstop, of_stretch_);
        of_stretch_ = Number(0);
    }
    void add_times_of_step(const AcceptedStep<Spec>& step, const TimeCotangents<Number>& of_times) {
        const std::int32_t tstop = step.from.tstop;
        of_stretch_ = of_stretch_ + of_times.t;
        if (step.end != times_.tstops[tstop].elapsed) return;
        recorder_.add_tstop(number_, tstop + 1, of_times.dt);
        if constexpr (Spec::has_event)  // the step may begin after one
            of_stretch_ = of_stretch_ - of_times.dt;
        else
            recorder_.add_tstop(number_, tstop, -of_times.dt);
    }
    /// A save point moves along the slope there. On a tstop it takes that from the tstop; elsewhere it
    /// shifts against the step's start and size.
    template <class Input>
    void add_times_of_save(const Input& in, const AcceptedStep<Spec>& step, std::int32_t k,
                           const auto& theta, const State& seed, TimeCotangents<Number>& of_times) {
        const auto interpolant = Stepper::interpolant(in);
        Number along = dot(seed, slope_of_save(interpolant, theta));
        const bool is_tstop =
            times_.saves[k] == times_.tstops[step.from.tstop].elapsed && !step.ends_lane();
        const bool has_impulses = is_tstop && !met_.is_empty();
        if (has_impulses && !times_.saves_before_impulses)
            along = recorder_.slope_behind(number_, step.from.tstop, k, seed);
        if (!times_.saves_the_end || has_impulses) {
            recorder_.add_save_time(number_, k, along);
            if (is_tstop) recorder_.add_tstop(number_, step.from.tstop + 1, -along);
        }
        if (is_tstop) return;
        Number moved(0);
        if constexpr (dense_output_scales_with_size<Stepper>)
            moved = dot(seed, interpolant.at(theta) - in.y);
        of_times.t = of_times.t - along;
        of_times.dt = of_times.dt + (moved / in.dt.h - theta * along);
    }

    const LaneProblem<Spec>& lane_;
    const LaneTimes& times_;
    Recorder& recorder_;
    std::int32_t number_;
    std::int32_t saves_left_;
    GradientMark* mark_ = nullptr;  // null: nobody watches
    std::int64_t attempts_ = 0;

    State cotangent_{};                              // of the state
    typename LaneProblem<Spec>::Parameters of_p_{};  // of the parameters, so far
    ImpulseRange met_;                               // at the end of the step that is pulled back
    std::vector<Number> found_;                      // what each of them changed
    Number of_stretch_ = Number(0);  // of the start times of steps since the last tstop
};

}  // namespace eddy::inline v0::detail
