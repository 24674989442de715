#pragma once
// One lane of a tile, but for its state: how far it is, how large its steps are, and how it ends. It has
// its own time, size and verdict; that other lanes step at the same moment means nothing to it.
// Test: tests/solve/tiles_oracle.cpp

#include <algorithm>
#include <eddy/solve/lane/chain_path.hpp>
#include <eddy/solve/lane/ending.hpp>
#include <eddy/solve/lane/judged_step.hpp>
#include <eddy/steppers/controller/joint.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
class LaneClock {
  public:
    /// A lane begins; `first_size` as FirstStep chooses it.
    void begin(double first_size) {
        *this = {};
        at_.size = first_size;
        is_running_ = true;
        head_for(0);
    }

    [[nodiscard]] bool is_running() const { return is_running_; }
    [[nodiscard]] double elapsed() const { return at_.elapsed; }
    [[nodiscard]] double before() const { return before_.elapsed; }  // the last attempt
    [[nodiscard]] double size() const { return tried_.size; }
    [[nodiscard]] std::int32_t tstop() const { return tstop_; }
    [[nodiscard]] bool was_accepted() const { return tried_.used > 0; }
    [[nodiscard]] bool has_stalled() const { return tried_.stalled; }
    [[nodiscard]] bool is_at(const Tstop& tstop) const { return at_.elapsed == tstop.elapsed; }
    [[nodiscard]] std::int64_t attempts() const { return attempts_; }

    /// Chooses the size of the next attempt; a lane that has ended makes a step of size zero.
    void choose_size(const Problem<Spec>& problem, std::ptrdiff_t lane) {
        tried_ = {};
        // Steps that all lanes share are given as those of one.
        const std::ptrdiff_t row = steps_jointly<typename Spec::Controller> ? 0 : lane;
        if (is_running_ && problem.prescribed)
            at_.size = problem.prescribed.size_at(LaunchLane{row}, at_.elapsed);
        before_ = at_;
        if (!is_running_) return;
        const LaneTimes times = problem.times.of_all();
        const double wanted = Spec::is_adaptive ? std::min(at_.size, times.dt_max) : at_.size;
        const double left = times.tstops[tstop_].elapsed - at_.elapsed;
        // Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
        tried_.lands = wanted * 1.01 >= left;
        tried_.size = tried_.lands ? left : wanted;
        ++attempts_;
    }

    /// The verdict on an attempt with this squared norm of its error.
    void judge(const Problem<Spec>& problem, float squared_norm) requires Spec::is_adaptive {
        if (!is_running_) return;
        if (!at_.history.was_rejected) size_before_rejections_ = at_.size;
        judge_step(problem, before_, tried_, at_, squared_norm, least_size(problem, at_.elapsed),
                   tried_.lands);
        move(problem.times.of_all());
    }
    /// Judges a step of constant size, which is accepted where the sum of its components is finite.
    void judge(const Problem<Spec>& problem, bool is_finite) requires(!Spec::is_adaptive) {
        if (!is_running_) return;
        tried_.used = is_finite ? tried_.size : 0;
        tried_.stalled = tried_.size > 0 && !is_finite;
        move(problem.times.of_all());
    }

    /// Goes on as before the step was rejected: it was another lane for which the step of all could be
    /// no smaller.
    void go_on_without_others() {
        tried_.stalled = false;
        at_.size = size_before_rejections_;
        at_.history = {};
    }

    /// Steps head for another tstop, between other jumps.
    void head_for(std::int32_t tstop) {
        tstop_ = tstop;
        origin_ = at_.elapsed;
    }

    [[nodiscard]] LaneOutcome end(const LaneTimes& times, const LaneEnding& ending) {
        stop();
        return outcome_of<Spec>(times, ending, tstop_, attempts_, num_rejected_);
    }
    /// The lane has ended, and how is known.
    void stop() { is_running_ = false; }
    [[nodiscard]] double time(const LaneTimes& times) const {
        return times.t0 + times.direction * at_.elapsed;
    }

  private:
    void move(const LaneTimes& times) {
        if (!was_accepted()) {
            num_rejected_ += Spec::is_adaptive && tried_.size > 0;
        } else if (tried_.lands) {
            at_.elapsed = times.tstops[tstop_].elapsed;
        } else if (Spec::is_adaptive) {
            at_.elapsed += tried_.size;
        } else {  // counted: a sum of sizes would gather an error at every step
            at_.elapsed =
                mul_add(steps_since(at_.elapsed, origin_, 1 / times.dt0) + 1, times.dt0, origin_);
        }
    }

    struct Moment {
        double elapsed = 0, size = 0;  // |dt| to be tried next
        ControllerHistory<float> history;
    };
    struct Tried {
        double size = 0, used = 0;
        bool lands = false, stalled = false;
    };
    Moment at_, before_;  // now; before the last attempt
    Tried tried_;
    double size_before_rejections_ = 0;
    double origin_ = 0;  // elapsed time of the last tstop
    std::int64_t attempts_ = 0, num_rejected_ = 0;
    std::int32_t tstop_ = 0;
    bool is_running_ = false;
};

}  // namespace eddy::inline v0::detail
