#pragma once
// What a solve is. A lane starts at t0 with a size of step that is chosen or given; a step is tried,
// judged by its error, and accepted or tried again smaller; it ends on each tstop, exactly; save
// points that it has passed are saved; and so on until something ends the lane. Plain text, never
// tuned: what every backend has to compute, bit for bit where the operations of f are correctly
// rounded.
// Test: tests/solve/oracle.cpp

#include <algorithm>
#include <cmath>
#include <eddy/backends/serial/lane_error.hpp>
#include <eddy/backends/serial/lane_events.hpp>
#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/lane/first_step.hpp>
#include <eddy/solve/lane/loop_limit.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/tangent_error.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// `Recorder` is told of save points, save(lane, k, y), and says whether what it makes of them is
/// finite; and of accepted steps where it wants to. It counts lanes from a first one on.
template <class Spec, class Recorder>
class LaneSolve {
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Real = typename Spec::Primal;

  public:
    /// `number`: of the lane, as the recorder counts them.
    LaneSolve(const LaneProblem<Spec>& lane, std::int32_t number, Recorder& recorder)
        : lane_(lane), times_(lane.times()), recorder_(recorder), number_(number), events_(lane) {
        at_.y = lane.y0();
        FirstStep<Spec>::choose(lane.problem, to_index(lane.of_launch), 1, &next_size_, 0, 1);
        if (recorder.wants_steps()) recorder.save_step(number, {times_.t0}, at_.y);
    }
    /// The lane's events, so far.
    [[nodiscard]] const LaneEvents& events() const { return events_.told; }

    /// Marks the lane where its steps do not carry its tangent.
    void watch(TangentMark* mark) { mark_ = mark; }

    /// Takes all steps. Hands the accepted ones to keep(step); ends where attend() is false.
    template <class Keep, class Attend>
    [[nodiscard]] LaneOutcome run(const Keep& keep, const Attend& attend) {
        if constexpr (LaneStart<Spec>::is_solved_for) {
            if (!std::isfinite(primal(at_.y[0])))
                return LaneStart<Spec>::outcome(lane_.problem, lane_.of_launch);
        }
        head_for(0);
        if constexpr (Spec::has_event) events_.begin(at_);
        for (;;) {
            try_step();
            if (accepted_) keep(last_step());
            if (!save_what_was_passed())
                return outcome(broken_.first, times_.save_time[num_saved_], broken_.second);
            if constexpr (Spec::has_event) {
                if (meets_event() && !pass_event())
                    return outcome(broken_.first, time(), broken_.second);
                if (meets_event() && events_.ends_lane()) return outcome(Result::event, time());
            }
            if (stalled_) return outcome_of_stall();
            const bool lands = at_.elapsed == tstop().elapsed;
            if (lands && at_.elapsed == times_.span) return outcome_of_end();
            if (!attend()) return outcome(Result::cancelled, time());
            const bool is_sent = stiff_streak_ >= looks_to_switch && !lane_.problem.prescribed;
            if (attempts_ >= times_.max_steps || is_sent)
                return outcome(Result::max_steps_reached, time());
            if (!lands) continue;
            at_.y = lane_.behind_impulses(at_);
            head_for(at_.tstop + 1);
            if constexpr (Spec::has_event) events_.go_on(at_);
        }
    }
    /// Save points that were reached.
    [[nodiscard]] std::int32_t num_saved() const { return num_saved_; }

  private:
    [[nodiscard]] const Tstop& tstop() const { return times_.tstops[at_.tstop]; }
    [[nodiscard]] double time() const { return times_.t0 + times_.direction * at_.elapsed; }

    /// Steps head for another tstop, between other jumps: what is carried from step to step begins
    /// anew.
    void head_for(std::int32_t index) {
        at_.tstop = index;
        stretch_begin_ = at_.elapsed;
        steps_of_stretch_ = 0;
        begin_anew();
    }
    void begin_anew() {
        at_.memory = lane_.with_step(at_, 0, [](const auto& in) { return Stepper::first(in); });
    }

    void try_step() {
        before_ = at_;
        [[maybe_unused]] const double uncut = next_size_;
        [[maybe_unused]] const ControllerHistory<float> history = history_;
        const PrescribedSteps& prescribed = lane_.problem.prescribed;
        if (prescribed) next_size_ = prescribed.size_at(lane_.of_launch, at_.elapsed);
        choose_size(Spec::is_adaptive ? std::min(next_size_, times_.dt_max) : next_size_);
        lane_.with_step(before_, size_,
                        [&](const auto& in) { Stepper::attempt(in, before_.memory, trial_); });
        ++attempts_;
        if constexpr (IteratesWithinSteps<Stepper>)
            iterations_ += size_ > 0 ? static_cast<std::int64_t>(trial_.evaluations) : 0;
        if constexpr (Spec::has_dyadic_steps)
            judge_dyadic();
        else if constexpr (Spec::is_adaptive)
            judge_by_error(std::min(next_size_, times_.dt_max));
        else
            judge_by_state();
        if constexpr (Spec::has_event) look_for_event(uncut, history);
        Stepper::carry(trial_, accepted_, at_.memory);
        if (!accepted_) return;
        if constexpr (TellsStiffness<Stepper>) look_for_stiffness();
        if constexpr (can_watch_tangents<Spec>) {
            if (mark_ && !*mark_)
                look_at_tangent(lane_.problem, times_.t0, before_, trial_, *mark_);
        }
        ++num_accepted_;
        ++steps_of_stretch_;
        if constexpr (Spec::moves_times) {
            by_ = events_.tangent_of_size(before_, size_, meets_event());
            lane_.with_step(before_, size_, by_,
                            [&](const auto& in) { Stepper::attempt(in, before_.memory, trial_); });
            at_.clock = lands_ ? 0 : before_.clock + by_;
        }
        at_.y = trial_.next;
        at_.elapsed = elapsed_after_step();
        if constexpr (Spec::has_jump) {
            if (meets_event() && !events_.is_lost() && !events_.ends_lane())
                at_.y = events_.jump(last_step(), trial_.next);
        }
    }

    /// Is there an event at the end of the attempt? Where there is one within it, the next attempt is to find
    /// it, and this one is rejected after all.
    void look_for_event(double uncut, const ControllerHistory<float>& history) {
        event_ = no_event;
        if (!accepted_) return events_.give_up();
        const EventSeen seen =
            events_.look(before_, size_, elapsed_after_step(), trial_.next, uncut);
        if (seen == EventSeen::none) return;
        if (seen == EventSeen::here) event_ = events_.index();
        if (!events_.is_lost()) {
            history_ = history;
            next_size_ = events_.next_size();
        }
        if (seen != EventSeen::within) return;
        accepted_ = false;
        ++num_rejected_;
    }
    [[nodiscard]] AcceptedStep<Spec> last_step() const {
        return {before_, size_, at_.elapsed, by_, attempts_ - 1, event_};
    }
    [[nodiscard]] bool meets_event() const { return event_ != no_event; }
    [[nodiscard]] bool ends_at_event() const { return last_step().ends_lane(); }
    /// False where its function is no number, or a lane that ends has nothing finite to save.
    [[nodiscard]] bool pass_event() {
        broken_ = {Result::non_finite, -1};
        if (events_.is_lost()) return false;
        events_.tell(time());
        if (!events_.ends_lane())
            begin_anew();
        else if (times_.saves_the_end && num_saved_ == 0)
            return is_finite_state(at_.y) &&
                   recorder_.save(number_, num_saved_++, at_.y,
                                  lane_.time_after(before_, at_.elapsed, by_));
        return true;
    }

    void choose_size(double wanted) {
        const double left = tstop().elapsed - at_.elapsed;
        if constexpr (Spec::has_dyadic_steps) {
            const auto cells = lane_.grid(at_.tstop);
            const auto here = cells.place_at(at_.elapsed);
            size_ = left > 0 ? cells.size_at(here, wanted) : 0;
            least_size_ = cells.least_at(here);
            end_ = cells.end_of(here, size_, tstop().elapsed);
            lands_ = end_ == tstop().elapsed;
        } else {
            // Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
            const double until = std::min(left, events_.due_after(at_.elapsed));
            size_ = wanted * 1.01 >= until ? until : wanted;
            lands_ = size_ == left;
            if constexpr (Spec::has_event) {
                if (events_.are_sought()) size_ = wanted;
                lands_ = size_ == left;
            }
        }
    }
    /// Has stability bounded an accepted step? Some are counted; where lanes may be sent to another method,
    /// a few more are looked at.
    void look_for_stiffness() {
        constexpr int most = std::numeric_limits<std::uint16_t>::max();
        const auto is_stiff = [&] {
            return lane_.with_step(before_, size_,
                                   [&](const auto& in) { return Stepper::is_stiff(in, trial_); });
        };
        if (counted_looks.holds(attempts_) && is_stiff() && stiff_looks_ < most) ++stiff_looks_;
        if constexpr (switches<Spec>) {
            if (switching_looks.holds(attempts_))
                stiff_streak_ = is_stiff() ? stiff_streak_ + 1 : 0;
        }
    }
    /// Steps of constant size are counted: a sum of sizes would gather an error at every step.
    [[nodiscard]] double elapsed_after_step() const {
        if (Spec::has_dyadic_steps) return end_;
        if (lands_) return tstop().elapsed;
        if (!Spec::counts_steps) return before_.elapsed + size_;
        return mul_add(static_cast<double>(steps_of_stretch_), times_.dt0, stretch_begin_);
    }

    void judge_by_error(double uncut) {
        const float norm = squared_norm();
        const auto decision =
            lane_.problem.controller.propose(norm, Stepper::error_order, history_);
        // Below four units in the last place of the elapsed time a step would hardly move it.
        const double smallest =
            std::max({times_.dt_min, std::numeric_limits<double>::min(),
                      4 * std::numeric_limits<double>::epsilon() * at_.elapsed});
        accepted_ = norm <= 1 && size_ > 0;  // NaN is not accepted
        stalled_ = !accepted_ && size_ > 0 && size_ <= smallest;
        if (!accepted_ && size_ > 0) ++num_rejected_;
        double next = size_ * static_cast<double>(decision.factor);
        if (accepted_ && size_ < uncut) {
            // A step cut short to land says nothing against the size before the cut; and its small
            // error is none that the next one should be compared with.
            next = std::max(next, next_size_);
            history_.was_rejected = decision.history.was_rejected;
        } else {
            history_ = decision.history;
        }
        next_size_ = std::max(next, smallest);
    }
    /// Dyadic steps: at most twice the size follows one that was accepted, which it does not shrink;
    /// at most half follows one that was rejected.
    void judge_dyadic() {
        const float norm = squared_norm();
        const auto decision =
            lane_.problem.controller.propose(norm, Stepper::error_order, history_);
        const double smallest = std::max(times_.dt_min, least_size_);
        accepted_ = norm <= 1 && size_ > 0;
        stalled_ = !accepted_ && size_ > 0 && size_ <= smallest;
        if (!accepted_ && size_ > 0) ++num_rejected_;
        const double next = size_ * static_cast<double>(decision.factor);
        next_size_ = accepted_ ? std::clamp(next, size_, 2 * size_) : std::min(next, size_ / 2);
        next_size_ = std::max(next_size_, smallest);
        history_ = decision.history;
    }
    [[nodiscard]] float squared_norm() const {
        return squared_error_of<Spec>(lane_.problem, before_.y, trial_);
    }
    /// A step of constant size is accepted where the sum of its components is finite.
    void judge_by_state() {
        Real sum(0);
        for (int i = 0; i < Spec::state_size; ++i) sum = sum + primal(trial_.next[i]);
        accepted_ = size_ > 0 && std::isfinite(sum) && !failed_within<Stepper>(trial_);
        stalled_ = size_ > 0 && !accepted_;
    }

    /// False at a save point that is not finite, or of which the recorder makes what is not.
    [[nodiscard]] bool save_what_was_passed() {
        if (accepted_ && recorder_.wants_steps())
            recorder_.save_step(number_, {lands_ ? tstop().t : time(), before_.elapsed, size_},
                                at_.y);
        for (; num_saved_ < times_.num_saves; ++num_saved_) {
            const double elapsed = times_.saves[num_saved_];
            if (elapsed > at_.elapsed || (times_.saves_the_end && ends_at_event())) break;
            const State y = state_at(elapsed);
            if (!is_finite_state(y) || !recorder_.save(number_, num_saved_, y)) return false;
        }
        return true;
    }
    [[nodiscard]] bool is_finite_state(const State& y) {
        for (std::int32_t i = 0; i < Spec::state_size; ++i) {
            broken_ = {Result::non_finite, i};
            if (!std::isfinite(primal(y[i]))) return false;
        }
        broken_ = {Recorder::not_finite, num_saved_};
        return true;
    }
    [[nodiscard]] State state_at(double elapsed) const {
        const bool is_before = times_.saves_before_impulses;
        if (elapsed == 0 && is_before) return lane_.problem.load_y0(lane_.of_launch);
        if (elapsed <= before_.elapsed) return before_.y;
        if (elapsed == at_.elapsed && !ends_at_event())
            return elapsed == tstop().elapsed && !is_before ? lane_.behind_impulses(at_) : at_.y;
        const auto theta = static_cast<Real>((elapsed - before_.elapsed) / size_);
        return lane_.with_step(before_, size_, by_, [&](const auto& in) {
            return Stepper::interpolant(in, trial_).at(moving_fraction<Spec>(in, theta));
        });
    }

    /// The outcome of a lane that reached its end: where its start took steps, these count.
    [[nodiscard]] LaneOutcome outcome_of_end() const {
        if constexpr (LaneStart<Spec>::reports_steps())
            return LaneStart<Spec>::outcome(lane_.problem, lane_.of_launch);
        else
            return outcome(Result::success, tstop().t);
    }
    /// The outcome of a step that was not accepted and can be no smaller: the first component that is
    /// not finite is to blame, or else the one with the largest error; of steps of constant size, the
    /// largest.
    [[nodiscard]] LaneOutcome outcome_of_stall() const {
        for (std::int32_t i = 0; may_run_out_of_turns<Spec> && i < Spec::state_size; ++i) {
            if (std::isfinite(size_of_component(i))) continue;
            const bool runs_out = lane_.with_step(
                before_, size_, [](const auto& in) { return runs_out_of_turns<Spec>(in, 0); });
            if (runs_out) return outcome(Result::loop_limit, time(), i);
            break;
        }
        if constexpr (SolvesLinearSystems<Stepper>) {
            const std::int32_t pivot = lane_.with_step(
                before_, size_, [](const auto& in) { return Stepper::singular_component(in, 0); });
            if (pivot >= 0) return outcome(Result::singular_matrix, time(), pivot);
            const std::int32_t infinite = lane_.with_step(
                before_, size_, [](const auto& in) { return Stepper::infinite_component(in, 0); });
            if (infinite >= 0) return outcome(Result::non_finite, time(), infinite);
        }
        std::int32_t worst = 0;
        Real largest = std::abs(size_of_component(0));
        for (std::int32_t i = 0; i < Spec::state_size; ++i) {
            const Real size = std::abs(size_of_component(i));
            if (!std::isfinite(size)) {
                const bool failed = newton_has_failed();
                return outcome(failed ? Result::newton_failed : Result::non_finite, time(), i);
            }
            if (size > largest) {
                largest = size;
                worst = i;
            }
        }
        if (newton_has_failed()) return outcome(Result::newton_failed, time(), worst);
        return outcome(Result::dt_underflow, time(), worst);
    }
    /// Does an iteration within the step not converge?
    [[nodiscard]] bool newton_has_failed() const {
        if constexpr (IteratesWithinSteps<Stepper>)
            return trial_.failed;
        else
            return false;
    }
    [[nodiscard]] Real size_of_component(int i) const {
        const Real from = primal(before_.y[i]), to = primal(trial_.next[i]);
        if constexpr (Spec::is_adaptive) {
            if (!std::isfinite(to)) return to;
            const Real scale = mul_add(std::max(std::abs(from), std::abs(to)),
                                       Real(lane_.problem.rtol), Real(lane_.problem.atol[i]));
            return primal(trial_.error[i]) / std::max(scale, std::numeric_limits<Real>::min());
        } else {
            return to;
        }
    }

    [[nodiscard]] LaneOutcome outcome(Result result, double t, std::int32_t component = -1) const {
        return {.accepted = num_accepted_,
                .rejected = num_rejected_,
                .evaluations = attempts_ * Stepper::evaluations_per_attempt + iterations_ +
                               (at_.tstop + 1) * std::int64_t{Stepper::evaluations_at_start} +
                               (times_.dt0 == 0 ? 2 : 0) + events_.evaluations(),
                .t = t,
                .component = component,
                .result = result,
                .method = static_cast<std::uint8_t>(
                    result == Result::max_steps_reached && stiff_streak_ > 0 ? 1 : 0),
                .stiff_looks = stiff_looks_};
    }

    const LaneProblem<Spec>& lane_;
    const LaneTimes& times_;
    Recorder& recorder_;
    std::int32_t number_;

    StepStart<Spec> at_, before_;  // now; before the last attempt
    double next_size_ = 0;         // |dt| to be tried next
    ControllerHistory<float> history_;
    double stretch_begin_ = 0;  // elapsed time of the last tstop
    std::int64_t steps_of_stretch_ = 0;

    // The last attempt:
    typename Stepper::template Trial<typename Spec::Number> trial_;
    double size_ = 0, end_ = 0, least_size_ = 0;  // the latter two of dyadic steps
    bool lands_ = false, accepted_ = false, stalled_ = false;

    std::conditional_t<Spec::has_event, EventsOfLane<Spec>, NoEventsOfLane> events_;
    int event_ = no_event;                           // at the end of the last attempt
    [[no_unique_address]] ClockTangent<Spec> by_{};  // of its size

    std::int64_t iterations_ = 0;  // evaluations of f by them, within steps
    std::int64_t attempts_ = 0, num_accepted_ = 0, num_rejected_ = 0;
    std::int32_t num_saved_ = 0;
    std::pair<Result, std::int32_t> broken_;  // what is not finite, and the component or save point
    std::uint16_t stiff_looks_ = 0;
    int stiff_streak_ = 0;  // looks in a row that have seen stiffness, where a lane may be switched
    TangentMark* mark_ = nullptr;  // null: nobody watches
};

}  // namespace eddy::inline v0::detail
