#pragma once
// The lanes of a tile forward and back: reverse accumulation over its rounds by the checkpointed loop, whose state is
// that of the lanes. Rounds forward and again: row_replay.hpp; what save points give: row_saves.hpp; events:
// row_events_back.hpp. A lane that has ended makes room for the next one; the log says who had a place in a round, and
// the way back gives it to them in turn. Lanes then hand out what they have got in their order, whatever the rounds in
// which they did.

#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include "row_events_back.hpp"
#include "row_saves.hpp"
#include "row_watch.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowGradient {
  public:
    using State = RowState<Real>;
    /// Tiles whose lanes make room for each other.
    static constexpr std::int32_t most_tiles = 8;

    RowGradient(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field,
                const RowObjective<Real>& objective, const GradientPlan& plan, Arena& arena);

    /// Before each group of lanes: what a call has of its own, arrays, and parameters that lanes share as numbers.
    void take_call(const RowObjective<Real>& objective) {
        if (is_first_group_)
            is_first_group_ = false;
        else
            step_->expect_more();
        has_report_ = objective.has_report;
        marks_of_call_ = objective.marks;
        leaves_out_marked_ = objective.leaves_out_marked;
        step_->take_parameters();
        saves_.take_call(objective);
    }
    /// Do lanes begin in place of others? Sums over the lanes of a tile would depend on who shares it.
    [[nodiscard]] static bool refills(const RowProblem<Real>& problem) {
        return !problem.sums_tile && !problem.prescribed;
    }
    /// The lanes that the next run should be given: a tile, or as many as it has room for where the lanes of the last one
    /// differed much.
    [[nodiscard]] std::int64_t lanes_at_once() const {
        return refills_ ? run_.most_lanes() : step_->width();
    }
    /// The gradient of `count` lanes from `first` on, or of as many as there is room for, added to the target; tells how
    /// many. `shared`: the sums of their block, or parts of each lane, of parameters that are shared.
    template <class Loop>
    [[nodiscard]] std::int32_t run(Loop& loop, ThreadTeam<1>& team, std::ptrdiff_t first,
                                   std::int32_t count, const GradientTarget<Real>& target,
                                   const SharedTarget<Real>& shared, LaneOutcome* outcomes) {
        target_ = target;
        run_.begin(first, count);
        saves_.begin();
        replay_.begin(team, saves_, outcomes);
        marks_ = marks_of_call_ ? marks_of_call_ + first : nullptr;
        loop.body().gradient = this;
        loop.run(replay_.start(),
                 [&](const RowState<Real>&, std::int64_t) { return !replay_.solve().is_done(); });
        run_.end(replay_.solve().num_begun());
        learn(outcomes);
        saves_.measure(outcomes, team.call());
        begin_back(outcomes);
        static_cast<void>(loop.reverse(0));
        if (leave_out_infinite(outcomes)) {
            // Sums have taken up what those lanes brought: once more without them, by the log.
            loop.run(replay_.start(), [&](const RowState<Real>&, std::int64_t round) {
                return round < replay_.num_rounds();
            });
            begin_back(outcomes);
            static_cast<void>(loop.reverse(0));
        }
        hand_out(shared, outcomes);
        return run_.count();
    }
    [[nodiscard]] const RowReplay<Real>& replay() const { return replay_; }
    /// Bytes of a round, and of a slot of the loop.
    [[nodiscard]] static std::int64_t kept_bytes(int num_states, int num_residuals,
                                                 const MethodOnRows& method, int width);
    [[nodiscard]] static std::int64_t bytes_of_slot(int num_states, int width, bool with_clocks,
                                                    int num_events = 0);

    // What the checkpointed loop repeats.

    void advance(RowState<Real>& x, std::int64_t round) { replay_.advance(x, round); }
    void pull(const RowState<Real>& x, std::int64_t round);

  private:
    void learn(const LaneOutcome* outcomes);
    void begin_back(LaneOutcome* outcomes);
    void take_back(int place, std::int32_t lane);
    void leave_back(int place);
    [[nodiscard]] bool leave_out_infinite(LaneOutcome* outcomes);
    void fail_infinite(std::int32_t lane, LaneOutcome* outcomes);
    void hand_out(const SharedTarget<Real>& shared, LaneOutcome* outcomes);
    void hand_out_p(std::int32_t lane, const SharedTarget<Real>& shared);
    void for_each_number(std::int32_t lane, const auto& use) const;
    void forget(std::int32_t lane) const;
    void leave_tstops();
    void leave_tstop(int place);
    void hand_out_inputs(int place);
    [[nodiscard]] bool begin_times(const RowState<Real>& x, std::int64_t round, bool meets);
    [[nodiscard]] bool add_saves();
    void expect(int place);
    void add_time_of_save(int place, std::int32_t k);
    void add_to_cotangent(int place);
    void pull_start(int place);
    void add_saves_at_start(int place);
    /// Cotangents of parameters that a lane has of its own.
    [[nodiscard]] int num_own_p() const {
        return problem_->sums_tile ? 0 : problem_->parameter_size;
    }

    const RowProblem<Real>* problem_;
    bool has_report_, leaves_out_marked_ = false, is_first_group_ = true;
    RowRun<Real> run_;
    RowReplay<Real> replay_;
    RowStep<Real>* step_;
    RowTimes<Real> times_;
    RowSaves<Real> saves_;
    RowCotangents<Real> cotangents_;
    RowEventsBack<Real> events_;
    RowWatch<Real> watch_;
    bool refills_ = false;         // do lanes begin in place of others?
    Real* of_inputs_;              // (number of a piece, place)
    Real* got_p_;                  // (tile, parameter, place) what lanes have got
    Real *column_, *state_;        // (component)
    std::int32_t* saves_left_;     // (lane)
    double* due_;                  // (place) the next save point of its lane, elapsed; −1: none
    std::int32_t* pulled_tstops_;  // (place) of the steps that were pulled back last; −1: none
    GradientTarget<Real> target_{};
    GradientMark *marks_of_call_ = nullptr, *marks_ = nullptr;  // (lane) of the call, of the run
};

}  // namespace eddy::inline v0::detail
