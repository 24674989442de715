#pragma once
// The lanes of a tile on their way forward. A round is one attempt of all of them; each has its own time,
// size and verdict, and a tile is done when its last lane is. What ends a lane, and in which order, is
// told in lane/landing.hpp. Where all lanes of the call share their steps (joint_solve.hpp), an attempt and
// what comes of it are called apart, and lanes that a call before has found to fail do not begin.
// Test: tests/solve/tiles_oracle.cpp

#include <eddy/backends/tiles/tile_step.hpp>
#include <eddy/solve/lane/ending.hpp>

namespace eddy::inline v0::detail {

/// `Recorder` is told of save points, save(lane, k, y), and says whether what it makes of them is finite;
/// and of accepted steps where it wants to. It counts lanes from a first one on.
template <class Spec, class Recorder, bool with_gradient>
class TileSolve {
  public:
    using Step = TileStep<Spec, with_gradient>;
    using Real = typename Spec::Scalar;

    TileSolve(const Problem<Spec>& problem, Arena& arena)
        : problem_(&problem), step_(problem, arena) {
        clocks_ = arena.take<LaneClock<Spec>>(Step::most_lanes);
        first_sizes_ = arena.take<double>(Step::most_lanes);
        num_saved_ = arena.take<std::int32_t>(Step::most_lanes);
    }

    [[nodiscard]] Step& step() { return step_; }
    [[nodiscard]] const LaneClock<Spec>& clock(int lane) const { return clocks_[lane]; }
    [[nodiscard]] std::int32_t num_saved(int lane) const { return num_saved_[lane]; }
    [[nodiscard]] bool is_done() const { return num_running_ == 0; }

    /// Lanes begin: `number` is that of the first as the recorder counts, `outcomes` are theirs.
    void begin(std::ptrdiff_t first_lane, int count, std::int32_t number, Recorder& recorder,
               LaneOutcome* outcomes, Real* y) {
        recorder_ = &recorder;
        number_ = number;
        outcomes_ = outcomes;
        step_.begin(first_lane, count, y);
        step_.choose_first_sizes(y, first_sizes_);
        num_running_ = 0;
        for (int lane = 0; lane < count; ++lane) {
            clocks_[lane] = {};
            num_saved_[lane] = 0;
            if (is_joint && is_failure(outcomes[lane].result)) continue;
            clocks_[lane].begin(first_sizes_[lane]);
            ++num_running_;
            if (recorder.wants_steps())
                recorder.save_step(number + lane, {times().t0}, step_.state_of(lane, y));
        }
        step_.renew_first_stage(y, clocks_, [](int) { return true; });
    }

    /// One attempt of every lane, from y. `kept`, if any, gets what the way back needs. The team is asked
    /// whether to go on, and told of lanes that end.
    template <class Team>
    void round(Real* y, Team& team, Real* kept = nullptr) {
        attempt(y, kept);
        step_.judge(clocks_);
        take_verdicts(y, team);
    }

    // The same where all lanes of a call share their steps.

    [[nodiscard]] double first_size(int lane) const { return first_sizes_[lane]; }
    void begin_with(double first_size) {
        for (int lane = 0; lane < step_.num_lanes(); ++lane)
            if (clocks_[lane].is_running()) clocks_[lane].begin(first_size);
    }
    void attempt(const Real* y, Real* kept = nullptr) { step_.attempt(y, clocks_, kept); }
    /// The attempt of all lanes had this norm; NaN where some had none.
    template <class Team>
    void take_joint_verdict(Real* y, Team& team, float squared_norm) {
        step_.judge_jointly(clocks_, squared_norm);
        for (int lane = 0; lane < step_.num_lanes(); ++lane) {
            if (clocks_[lane].has_stalled() && !is_to_blame(lane, squared_norm))
                clocks_[lane].go_on_without_others();
        }
        take_verdicts(y, team);
    }

  private:
    static constexpr bool is_joint = steps_jointly<typename Spec::Controller>;

    /// Is a lane to blame for a step that could be no smaller? Lanes that are not finite are, or else
    /// those with large errors.
    [[nodiscard]] bool is_to_blame(int lane, float of_all) const {
        const float own = step_.squared_norm(lane);
        return std::isnan(of_all) ? !std::isfinite(own) : own > 1;
    }
    /// What an attempt that was judged means for the lanes.
    template <class Team>
    void take_verdicts(Real* y, Team& team) {
        const bool goes_on = team.attend();
        bool any_stretch_ends = false, has_stages = false;
        for (int lane = 0; lane < step_.num_lanes(); ++lane) {
            if (!clocks_[lane].is_running()) continue;
            std::int32_t broken = -1;
            const bool saved = save_passed(lane, y, has_stages, broken);
            any_stretch_ends |= end_or_go_on(lane, y, saved, broken, goes_on, team);
        }
        step_.accept(y, clocks_);
        if (any_stretch_ends) begin_stretches(y);
    }
    [[nodiscard]] LaneTimes times() const { return problem_->times.of_all(); }
    [[nodiscard]] const Tstop& tstop(int lane) const {
        return times().tstops[clocks_[lane].tstop()];
    }

    /// False at a save point where the state, or what the recorder makes of it, is not finite; `broken`
    /// is then the component of the state that is to blame.
    bool save_passed(int lane, const Real* y, bool& has_stages, std::int32_t& broken) {
        const LaneClock<Spec>& clock = clocks_[lane];
        if (clock.was_accepted() && recorder_->wants_steps()) {
            const double t = clock.is_at(tstop(lane)) ? tstop(lane).t : clock.time(times());
            recorder_->save_step(number_ + lane, {t}, step_.state_of(lane, step_.next()));
        }
        for (; num_saved_[lane] < times().num_saves; ++num_saved_[lane]) {
            const double elapsed = times().saves[num_saved_[lane]];
            if (elapsed > clock.elapsed()) break;
            const auto state = state_at(lane, elapsed, y, has_stages);
            for (broken = 0; broken < Spec::state_size; ++broken)
                if (!std::isfinite(state[broken])) return false;
            broken = -1;
            if (!recorder_->save(number_ + lane, num_saved_[lane], state)) return false;
        }
        return true;
    }
    [[nodiscard]] auto state_at(int lane, double elapsed, const Real* y, bool& has_stages) {
        const LaneClock<Spec>& clock = clocks_[lane];
        if (elapsed <= clock.before()) return step_.state_of(lane, y);
        if (elapsed == clock.elapsed()) return step_.state_of(lane, step_.next());
        if (!has_stages) step_.complete_stages(y);
        has_stages = true;
        return step_.state_within(lane, y, (elapsed - clock.before()) / clock.size());
    }

    /// Ends a lane if it is to end; true where its steps head for another tstop.
    template <class Team>
    bool end_or_go_on(int lane, const Real* y, bool saved, std::int32_t broken, bool goes_on,
                      Team& team) {
        LaneClock<Spec>& clock = clocks_[lane];
        const bool lands = clock.is_at(tstop(lane));
        const RoundFacts facts{!saved, clock.has_stalled(), lands, !goes_on, clock.attempts()};
        const Verdict verdict = verdict_of(times(), {0, clock.tstop()}, facts);
        if (verdict.turn == Turn::goes_on || verdict.turn == Turn::to_next_tstop)
            return verdict.turn == Turn::to_next_tstop;
        outcomes_[lane] = clock.end(times(), ending_of(lane, verdict, y, broken));
        team.ended(outcomes_[lane]);
        --num_running_;
        return false;
    }
    [[nodiscard]] LaneEnding ending_of(int lane, const Verdict& verdict, const Real* y,
                                       std::int32_t broken) const {
        const double t = clocks_[lane].time(times());
        if (verdict.turn == Turn::breaks_at_save) {
            const std::int32_t k = num_saved_[lane];
            if (broken >= 0) return {Result::non_finite, times().save_time[k], broken};
            return {Recorder::not_finite, times().save_time[k], k};
        }
        if (verdict.turn == Turn::breaks) {
            const auto [worst, finite] = step_.blame(lane, y);
            return {finite ? Result::dt_underflow : Result::non_finite, t, worst,
                    !Spec::is_adaptive};
        }
        return {verdict.result, verdict.result == Result::success ? tstop(lane).t : t};
    }

    /// Lanes that have landed on a tstop, and go on.
    void begin_stretches(const Real* y) {
        const auto begins = [&](int lane) {
            return clocks_[lane].is_running() && clocks_[lane].is_at(tstop(lane));
        };
        std::uint64_t begin_here = 0;
        static_assert(Step::most_lanes <= 64);
        for (int lane = 0; lane < step_.num_lanes(); ++lane) {
            if (!begins(lane)) continue;
            clocks_[lane].head_for(clocks_[lane].tstop() + 1);
            begin_here |= std::uint64_t{1} << lane;
        }
        step_.renew_first_stage(y, clocks_,
                                [&](int lane) { return (begin_here >> lane & 1) != 0; });
    }

    const Problem<Spec>* problem_;
    Step step_;
    LaneClock<Spec>* clocks_ = nullptr;
    double* first_sizes_ = nullptr;
    std::int32_t* num_saved_ = nullptr;
    Recorder* recorder_ = nullptr;
    LaneOutcome* outcomes_ = nullptr;
    std::int32_t number_ = 0;
    int num_running_ = 0;
};

}  // namespace eddy::inline v0::detail
