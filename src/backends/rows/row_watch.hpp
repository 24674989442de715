#pragma once
// The way back of a tile, watched (group/gradient_watch.hpp): a few steps of each lane are looked at, whether the
// cotangent that passes holds a mode that the steps do not resolve. Lanes come to these at rounds of their own, and
// products of one lane cost as much as those of all places: what is to be looked at waits until there is enough of it
// to fill them. A look changes no bit of what is computed.

#include <eddy/solve/lane/gradient_mark.hpp>
#include <limits>
#include "row_run.hpp"
#include "row_step.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowWatch {
  public:
    RowWatch(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field, RowRun<Real>& run,
             RowStep<Real>& step, Arena& arena);

    /// The way back of a run begins; what is found is written to `marks`, (lane), where the problem is watched.
    void begin(GradientMark* marks, const LaneOutcome* outcomes);
    /// A lane has taken the place of another one.
    void change_lane() { next_ = unknown; }
    /// Looks at the lanes that are due in this round, of those that take part: at the cotangent of the state before it.
    void look(const Real* y, const Real* cotangent, const RowClocks& clocks, std::int64_t round);
    /// The lanes are at their starts.
    void finish() {
        if (num_waiting_ > 0) look_at_waiting();
    }

  private:
    static constexpr std::int64_t never = -1, unknown = std::numeric_limits<std::int64_t>::max();

    void wait(int place, const Real* y, const Real* cotangent, const RowClocks& clocks);
    void look_at_waiting();
    template <int most>
    void mark_waiting();

    const RowProblem<Real>* problem_;
    FieldOnTileOf<Real>* field_;
    RowRun<Real>* run_;
    RowStep<Real>* step_;
    // (row, look) of those that wait
    Real *y_ = nullptr, *cotangent_ = nullptr, *t_ = nullptr, *h_ = nullptr, *p_ = nullptr;
    Real *scaled_ = nullptr, *kept_ = nullptr, *unwanted_ = nullptr;  // to work in
    std::int32_t* lanes_ = nullptr;                                   // (look)
    double* elapsed_ = nullptr;                                       // (look)
    int num_waiting_ = 0;
    double threshold_ = 0;
    std::int64_t next_ = never;  // the round of the next look of any lane
    GradientMark* marks_ = nullptr;
    const LaneOutcome* outcomes_ = nullptr;
};

}  // namespace eddy::inline v0::detail
