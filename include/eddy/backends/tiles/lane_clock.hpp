#pragma once
// One lane of a tile, but for its state: how far it is, how large its steps are, and how it ends. It has
// its own time, size and verdict; that other lanes step at the same moment means nothing to it.

#include <algorithm>
#include <cmath>
#include <eddy/solve/lane/ending.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/problem.hpp>
#include <eddy/steppers/controller/joint.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
class LaneClock {
    using Stepper = typename Spec::Stepper;

  public:
    /// A lane begins; `first_size` as FirstStep chooses it.
    void begin(double first_size) {
        *this = {};
        next_size_ = first_size;
        is_running_ = true;
        head_for(0);
    }

    [[nodiscard]] bool is_running() const { return is_running_; }
    [[nodiscard]] double elapsed() const { return elapsed_; }
    [[nodiscard]] double before() const { return before_; }  // where the last attempt began
    [[nodiscard]] double size() const { return size_; }
    [[nodiscard]] double next_size() const { return next_size_; }
    [[nodiscard]] std::int32_t tstop() const { return tstop_; }
    [[nodiscard]] bool was_accepted() const { return accepted_; }
    [[nodiscard]] bool has_stalled() const { return stalled_; }
    [[nodiscard]] bool is_at(const Tstop& tstop) const { return elapsed_ == tstop.elapsed; }
    [[nodiscard]] std::int64_t attempts() const { return attempts_; }

    /// Chooses the size of the next attempt; a lane that has ended makes a step of size zero.
    void choose_size(const Problem<Spec>& problem, std::ptrdiff_t lane) {
        const LaneTimes& times = problem.times;
        before_ = elapsed_;
        accepted_ = stalled_ = false;
        size_ = 0;
        if (!is_running_) return;
        // Steps that all lanes share are given as those of one.
        const std::ptrdiff_t row = steps_jointly<typename Spec::Controller> ? 0 : lane;
        if (problem.given.are_given()) next_size_ = problem.given.size_at(row, elapsed_);
        const double wanted = Spec::is_adaptive ? std::min(next_size_, times.dt_max) : next_size_;
        const double left = times.tstops[tstop_].elapsed - elapsed_;
        // Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
        lands_ = wanted * 1.01 >= left;
        size_ = lands_ ? left : wanted;
        ++attempts_;
    }

    /// The verdict on an attempt with this squared norm of its error; NaN is not accepted.
    void judge(const Problem<Spec>& problem, float squared_norm) requires Spec::is_adaptive {
        if (!is_running_) return;
        const LaneTimes& times = problem.times;
        const double uncut = std::min(next_size_, times.dt_max);
        if (!history_.was_rejected) size_before_rejections_ = next_size_;
        const auto decision =
            problem.controller.propose(squared_norm, float(Stepper::error_order), history_);
        // Relative to the elapsed time a step would hardly move it.
        const double smallest = std::max({times.dt_min, std::numeric_limits<double>::min(),
                                          4 * std::numeric_limits<double>::epsilon() * elapsed_});
        accepted_ = squared_norm <= 1 && size_ > 0;
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
        move(times);
    }
    /// The same of a step of constant size, which is accepted where the sum of its components is finite.
    void judge(const Problem<Spec>& problem, bool is_finite) requires(!Spec::is_adaptive) {
        if (!is_running_) return;
        accepted_ = size_ > 0 && is_finite;
        stalled_ = size_ > 0 && !accepted_;
        move(problem.times);
    }

    /// It was another lane for which the step of all could be no smaller: on as before it was rejected.
    void go_on_without_others() {
        stalled_ = false;
        next_size_ = size_before_rejections_;
        history_ = {};
    }

    /// Steps head for another tstop, between other jumps.
    void head_for(std::int32_t tstop) {
        tstop_ = tstop;
        stretch_begin_ = elapsed_;
        steps_of_stretch_ = 0;
    }

    /// The lane ends.
    [[nodiscard]] LaneOutcome end(const LaneTimes& times, Result result, double t,
                                  std::int32_t component = -1) {
        is_running_ = false;
        return {.accepted = num_accepted_,
                .rejected = num_rejected_,
                .evaluations = evaluations_of<Stepper>(times, attempts_, tstop_),
                .t = t,
                .component = component,
                .result = result};
    }
    /// The same of one whose end is known.
    void stop() { is_running_ = false; }
    [[nodiscard]] double time(const LaneTimes& times) const {
        return times.t0 + times.direction * elapsed_;
    }

  private:
    void move(const LaneTimes& times) {
        if (!accepted_) return;
        ++num_accepted_;
        ++steps_of_stretch_;
        if (lands_)
            elapsed_ = times.tstops[tstop_].elapsed;
        else if (Spec::is_adaptive)
            elapsed_ = before_ + size_;
        else  // counted: a sum of sizes would gather an error at every step
            elapsed_ = mul_add(static_cast<double>(steps_of_stretch_), times.dt0, stretch_begin_);
    }

    double elapsed_ = 0, before_ = 0;
    double next_size_ = 0, size_ = 0;  // |dt| to be tried next; of the last attempt
    double size_before_rejections_ = 0;
    ControllerHistory<float> history_;
    double stretch_begin_ = 0;  // elapsed time of the last tstop
    std::int64_t steps_of_stretch_ = 0, attempts_ = 0, num_accepted_ = 0, num_rejected_ = 0;
    std::int32_t tstop_ = 0;
    bool is_running_ = false, lands_ = false, accepted_ = false, stalled_ = false;
};

}  // namespace eddy::inline v0::detail
