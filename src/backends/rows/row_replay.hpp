#pragma once
// The rounds of a run, forward and again. The first time a round is an attempt of all lanes; the log then has its steps,
// and what it computed of the field is kept as long as it fits. Where the log has a round, it is repeated by its steps;
// behind the end of the log by the attempt, from clocks that the states of the checkpointed loop carry: bit for bit
// either way.

#include <eddy/solve/group/gradient_memory.hpp>
#include <vector>
#include "row_run.hpp"
#include "row_solve.hpp"

namespace eddy::inline v0::detail {

/// Numbers as aligned as rows.
template <class Real>
struct alignas(64) RowNumbers {
    static constexpr std::int64_t size = 64 / sizeof(Real);
    Real number[size];
};
/// The states of a tile's lanes, (component, lane), and, behind the end of the log, their clocks.
template <class Real>
struct RowState {
    std::vector<RowNumbers<Real>> numbers;
    std::vector<std::byte> clocks;

    [[nodiscard]] Real* y() { return numbers.data()->number; }
    [[nodiscard]] const Real* y() const { return numbers.data()->number; }
};

template <class Real>
class RowReplay {
  public:
    RowReplay(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field, RowRun<Real>& run,
              Arena& arena);
    /// Room for rounds, as planned. Behind all else: few of them are written in a short solve, whose pages then lie side
    /// by side and wait for the next call.
    void reserve(const GradientPlan& plan, Arena& arena);

    [[nodiscard]] RowSolve<Real>& solve() { return solve_; }
    [[nodiscard]] RowStep<Real>& step() { return *step_; }
    [[nodiscard]] const RowClocks& clocks() const { return solve_.clocks(); }
    /// Where the lanes of the run begin.
    [[nodiscard]] const RowState<Real>& start() const { return start_; }
    [[nodiscard]] std::int64_t num_rounds() const { return num_rounds_; }
    [[nodiscard]] std::int64_t num_replayed() const { return replayed_; }

    void begin(ThreadTeam<1>& team, RowRecorder<Real>& recorder, LaneOutcome* outcomes);
    /// A round: the first time an attempt, then the steps that the log has of it, or the attempt again.
    void advance(RowState<Real>& x, std::int64_t round);

    // The way back.

    /// The log has the steps of the round, which the run takes.
    void know_steps(const RowState<Real>& x, std::int64_t round);
    /// What the round keeps of the field, from the state before it.
    void linearize(int count, const RowState<Real>& x, std::int64_t round);
    /// Its stages are computed again where it is pulled back.
    void count_replay() { ++replayed_; }
    [[nodiscard]] Real* kept_of(std::int64_t round) const {
        return kept_ + round % num_kept_ * kept_size_;
    }
    [[nodiscard]] bool is_kept(std::int64_t round) const {
        return round_kept_[round % num_kept_] == round;
    }

    /// Bytes that the rounds of the last run have written, of those planned for them; of a state.
    [[nodiscard]] std::int64_t planned_bytes() const { return planned_bytes_; }
    [[nodiscard]] std::int64_t used_bytes() const;
    [[nodiscard]] std::int64_t bytes_of_state() const {
        return run_->block() * std::int64_t{sizeof(Real)} +
               static_cast<std::int64_t>(after_log_.size());
    }

  private:
    void make_round(RowState<Real>& x, std::int64_t round);
    void log_round(LoggedStep* row);
    void carry_clocks(RowState<Real>& x);
    void attempt_again(const RowState<Real>& x, Real* kept, LoggedStep* row);
    void take_steps(std::int64_t round);
    void meet_events(Real* y);
    void meet_impulses(Real* y);
    void change_lanes(std::int64_t round, Real* y);

    const RowProblem<Real>* problem_;
    RowRun<Real>* run_;
    RowSolve<Real> solve_;
    RowStep<Real>* step_;
    std::int64_t planned_bytes_ = 0;
    std::int64_t num_kept_ = 1, kept_size_ = 0;  // rounds, numbers of a round
    Real* kept_ = nullptr;                       // (kept round, stage, row, lane)
    std::int64_t* round_kept_ = nullptr;         // (kept round)
    RowLog log_;
    Real *before_, *behind_;  // (component) of an event
    RowState<Real> start_;
    std::vector<std::byte> after_log_;
    ThreadTeam<1>* team_ = nullptr;
    std::int64_t num_rounds_ = 0, replayed_ = 0;
};

}  // namespace eddy::inline v0::detail
