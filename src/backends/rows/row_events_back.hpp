#pragma once
// The events of a tile on its way back: lane/event_adjoint.hpp, a tile at a time. The size of a step that ends with an
// event is where the function is zero; its cotangent is cleared by what joins that of the state.

#include "row_cotangents.hpp"
#include "row_replay.hpp"
#include "row_times.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowEventsBack {
  public:
    RowEventsBack(const RowProblem<Real>& problem, RowRun<Real>& run, RowReplay<Real>& replay,
                  RowCotangents<Real>& cotangents, RowTimes<Real>& times, Arena& arena);

    /// Does a lane that is alive meet one in the round at hand?
    [[nodiscard]] bool are_met() const;
    /// The cotangents of the states after events become those of the states before them. The stages of the round have
    /// just been computed.
    void pull_jumps(const Real* y);
    /// Then clears the sizes of the steps that end with events.
    void clear_sizes(std::int64_t round, bool is_dense);

  private:
    void for_events(const auto& visit) const;
    void pull_jump_of(int place);
    void clear_size_of(int place);

    const RowProblem<Real>* problem_;
    RowRun<Real>* run_;
    RowReplay<Real>* replay_;
    RowStep<Real>* step_;
    RowCotangents<Real>* cotangents_;
    RowTimes<Real>* times_;
    Real *root_ = nullptr,
         *unwanted_ = nullptr;  // of functions by y; of parameters that nobody asks for
    // (place) of the step's time; of its size by what the state brings, and by those functions
    Real *still_ = nullptr, *of_size_ = nullptr, *of_root_ = nullptr;
    Real *state_ = nullptr, *column_ = nullptr;  // (component)
};

}  // namespace eddy::inline v0::detail
