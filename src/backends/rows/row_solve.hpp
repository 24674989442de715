#pragma once
// The lanes of a tile on their way forward. A round is one attempt of all of them; each has its own time, size and
// verdict. A lane that has ended makes room for the next one that waits. What ends a lane, and in which order, is
// told in lane/landing.hpp.

#include <eddy/backends/cpu/thread_team.hpp>
#include <eddy/backends/rows/row_recorder.hpp>
#include <memory>
#include <vector>
#include "row_events.hpp"
#include "row_log.hpp"
#include "row_step.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowSolve {
  public:
    RowSolve(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field, bool goes_back,
             Arena& arena);

    [[nodiscard]] RowStep<Real>& step() { return step_; }
    [[nodiscard]] const RowClocks& clocks() const { return clocks_; }
    [[nodiscard]] bool is_done() const { return num_running_ == 0; }
    /// The lane that was the last to begin in a place, of those that were given, and how many have begun.
    [[nodiscard]] std::int32_t begun(int place) const { return begun_[place]; }
    [[nodiscard]] std::int32_t num_begun() const { return next_lane_; }
    /// The round in which that lane began.
    [[nodiscard]] std::int64_t first_round(int place) const { return first_round_[place]; }

    /// Solves lanes [first, first + count): as many at once as a tile has places.
    void run(std::ptrdiff_t first, std::int32_t count, RowRecorder<Real>& recorder,
             LaneOutcome* outcomes, ThreadTeam<1>& team);

    /// As many lanes as there are places begin, from y; round() then makes an attempt of each, and go_on() lets others
    /// begin where lanes have ended.
    void begin(std::ptrdiff_t first, std::int32_t count, RowRecorder<Real>& recorder,
               LaneOutcome* outcomes, Real* y);
    /// `kept`, if any, gets what the way back needs; y may be `swapped` for other memory.
    void round(Real*& y, Real* kept, bool swapped, ThreadTeam<1>& team);
    void go_on(Real* y) {
        if (has_looked_) refill(y);
    }
    /// No lane begins in place of another from a round on.
    void refill_until(std::int64_t round) { last_refill_ = round; }

    // The same where all lanes of a call share their steps: tiles wait between an attempt and its verdict.

    [[nodiscard]] bool is_running(int place) const { return lane_[place] != no_lane; }
    [[nodiscard]] double first_size(int place) const { return sizes_[place]; }
    void begin_with(double first_size);
    /// Who works on the tile now. `counts`: do the lanes that end here count as ended?
    void work_by(FieldOnTileOf<Real>& field, RowRecorder<Real>& recorder, bool counts);
    /// Writes the squared norms of the lanes' errors, or `has_ended`.
    void attempt(const Real* y, float* norms, float has_ended);
    /// The attempt of all lanes had this norm, NaN where some had none; `norms` are their own. Those that are not to blame
    /// for a step that could be no smaller go on with the size before it was rejected.
    void take_verdict(Real*& y, float of_all, const float* norms, double size_before_rejections,
                      ThreadTeam<1>& team);

    // What a gradient repeats of lanes; the clocks are those of the lanes that were the last to begin.

    /// An attempt of all of them, and what comes of it. True where that is rare.
    bool attempt_once(const Real* y, Real* kept);
    [[nodiscard]] RowEvents<Real>* events() const { return events_.get(); }
    /// Settles again what an attempt to y meant for them, after so many rounds: they end as they did.
    void settle_again(std::int64_t round, Real* y);
    /// Takes the clocks, and what is known of events, from where they lay in another round.
    void copy_clocks(std::vector<std::byte>& to) const;
    void restore_clocks(const std::byte* clocks);
    [[nodiscard]] static std::size_t bytes_of_clocks(int num_events, int width) {
        return RowClocks::num_bytes(width) +
               (num_events > 0 ? RowEvents<Real>::num_bytes(num_events, width) : 0);
    }
    /// The steps of a round that is known.
    void take_steps(const LoggedStep* row);

  private:
    void take_verdicts(Real*& y, bool is_rare, bool swapped, ThreadTeam<1>& team);
    /// Marks the lanes whose steps no longer carry a tangent.
    void watch_tangents();
    void enter(int place, std::int32_t lane, double first_size, Real* y);
    void refill(Real* y);
    /// False at a save point where the state is not finite; `broken` is then the component to blame, −1 where it is not
    /// the state.
    [[nodiscard]] bool save_passed(int place, const Real* y, bool& has_stages,
                                   std::int32_t& broken);
    /// The state of a lane at save point k.
    void state_at(int place, std::int32_t k, const Real* y, bool& has_stages);
    /// A lane goes on behind the impulses at its tstop.
    void go_further(int place, std::ptrdiff_t lane, std::int32_t num_saved, Real* y);
    /// A lane goes on behind the event at the end of the last attempt, if that is to be. False: it is not.
    bool jump(int place, Real* y) const;
    /// The state at the end of the last attempt, behind an event there.
    void state_at_end(int place);
    [[nodiscard]] bool meets_event(int place) const { return events_ && events_->meets(place); }
    [[nodiscard]] bool ends_at_event(int place) const {
        return events_ && events_->ends_lane(place);
    }
    /// False where its function is no number, or a lane that ends there has nothing finite to save; see `broken`.
    [[nodiscard]] bool pass_event(int place, LaneEnding& broken);
    void settle(int place, const Real* y, bool& has_stages, bool goes_on, ThreadTeam<1>& team);
    [[nodiscard]] LaneEnding ending_of(int place, const Verdict& verdict, const Real* y,
                                       std::int32_t broken) const;
    void plan_limit();
    [[nodiscard]] double time(int place) const {
        return times(place).t0 + problem_->times.direction * clocks_.rows().elapsed[place];
    }
    /// Of the lane in a place.
    [[nodiscard]] LaneTimes times(int place) const {
        return problem_->times_of(first_ + lane_[place]);
    }

    const RowProblem<Real>* problem_;
    RowStep<Real> step_;
    RowClocks clocks_;
    std::unique_ptr<RowEvents<Real>> events_;   // null: the equation has none
    Real *y_, *state_;                          // (component, place), (component)
    double* sizes_;                             // (place) of first steps
    std::int32_t *num_saved_, *lane_, *begun_;  // (place)
    std::int64_t *first_round_, *attempts_, *iterations_;
    bool* goes_further_;  // (place): to another tstop

    RowRecorder<Real>* recorder_ = nullptr;
    LaneOutcome* outcomes_ = nullptr;
    std::ptrdiff_t first_ = 0;
    std::int32_t count_ = 0, next_lane_ = 0;
    int num_running_ = 0;
    bool counts_ = true, has_looked_ = false;
    std::int64_t last_refill_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t round_ = 0,
                 limit_ = 0;  // limit: the round in which a lane may have made too many attempts
    std::vector<double> first_sizes_;  // (lane) of those that wait
};

}  // namespace eddy::inline v0::detail
