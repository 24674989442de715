#pragma once
// The lanes of a run forward and back: who has a place of the tile in the round at hand, and who takes part in what is
// computed for all places at once. A run may have the lanes of several tiles, of which as many as there are places are
// under way.

#include <algorithm>
#include <cstdint>
#include <eddy/backends/rows/row_problem.hpp>
#include "row_log.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowRun {
  public:
    RowRun(const RowProblem<Real>& problem, int width, std::int32_t num_tiles, Arena& arena)
        : problem_(&problem),
          width_(width),
          num_tiles_(num_tiles),
          chosen_(arena.take<Real>(width)),
          taking_part_(arena.take<int>(width)),
          back_(arena.take<std::int32_t>(width)),
          first_round_(arena.take<std::int64_t>(most_lanes())),
          is_alive_(arena.take<bool>(most_lanes())) {}

    void begin(std::ptrdiff_t first, std::int32_t count) {
        first_ = first;
        count_ = count;
    }
    /// As many have begun.
    void end(std::int32_t count) { count_ = count; }

    // The lanes, and where what is kept of them lies.

    [[nodiscard]] std::ptrdiff_t first() const { return first_; }
    [[nodiscard]] std::int32_t count() const { return count_; }
    /// Places in which lanes are.
    [[nodiscard]] int num_places() const { return std::min(count_, width_); }
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] std::int32_t num_tiles() const { return num_tiles_; }
    /// That a run has room for.
    [[nodiscard]] std::int64_t most_lanes() const { return std::int64_t{num_tiles_} * width_; }
    [[nodiscard]] int tile_of(std::int32_t lane) const { return lane / width_; }
    [[nodiscard]] int place_in_tile(std::int32_t lane) const { return lane % width_; }
    /// Numbers of the states of a tile.
    [[nodiscard]] std::int64_t block() const { return std::int64_t{problem_->state_size} * width_; }
    /// The column of a lane in (tile, row, place).
    [[nodiscard]] Real* column_of(Real* rows, std::int64_t num_rows, std::int32_t lane) const {
        return rows + tile_of(lane) * num_rows * width_ + place_in_tile(lane);
    }
    void copy_column(const Real* from, Real* to, std::int64_t num_rows) const {
        for (std::int64_t i = 0; i < num_rows; ++i) to[i * width_] = from[i * width_];
    }

    /// The round in which a lane began.
    [[nodiscard]] std::int64_t first_round(std::int32_t lane) const { return first_round_[lane]; }
    void begin_lane(std::int32_t lane, std::int64_t round) { first_round_[lane] = round; }

    // The round at hand.

    void take_steps(const LoggedStep* steps) { steps_ = steps; }
    /// (place)
    [[nodiscard]] const LoggedStep& step(int place) const { return steps_[place]; }
    /// The lane that goes back in a place, of the run and of the call.
    [[nodiscard]] std::int32_t back(int place) const { return back_[place]; }
    [[nodiscard]] std::ptrdiff_t lane(int place) const { return first_ + back_[place]; }
    void take_back(int place, std::int32_t lane) { back_[place] = lane; }
    [[nodiscard]] bool is_alive(int place) const { return is_alive_[back_[place]]; }
    [[nodiscard]] bool is_lane_alive(std::int32_t lane) const { return is_alive_[lane]; }
    void set_alive(std::int32_t lane, bool is_alive) { is_alive_[lane] = is_alive; }
    /// Does the lane land on its tstop?
    [[nodiscard]] static bool lands(const LoggedStep& step, const LaneTimes& times) {
        return step.size > 0 && step.after == times.tstops[step.tstop].elapsed && !step.ends_lane;
    }

    // Who takes part.

    /// Those that are chosen do: is_chosen(place). False: nobody does.
    bool choose(const auto& is_chosen) {
        num_taking_part_ = 0;
        for (int place = 0; place < width_; ++place) {
            const bool takes_part = place < count_ && is_chosen(place);
            chosen_[place] = takes_part ? 1 : 0;
            if (takes_part) taking_part_[num_taking_part_++] = place;
        }
        return num_taking_part_ > 0;
    }
    /// The lanes that made a step in the round; on the way back those alone that are alive.
    bool choose_stepped(bool if_alive) {
        return choose(
            [&](int place) { return steps_[place].size > 0 && (!if_alive || is_alive(place)); });
    }
    [[nodiscard]] bool takes_part(int place) const { return chosen_[place] > 0; }
    /// (place) 1 or 0.
    [[nodiscard]] const Real* chosen() const { return chosen_; }
    /// Their places, in order.
    [[nodiscard]] const int* taking_part() const { return taking_part_; }
    [[nodiscard]] int num_taking_part() const { return num_taking_part_; }

  private:
    const RowProblem<Real>* problem_;
    int width_;
    std::int32_t num_tiles_;
    Real* chosen_;
    int* taking_part_;
    int num_taking_part_ = 0;
    std::int32_t* back_;
    std::int64_t* first_round_;  // (lane)
    bool* is_alive_;             // (lane)
    std::ptrdiff_t first_ = 0;
    std::int32_t count_ = 0;
    const LoggedStep* steps_ = nullptr;
};

}  // namespace eddy::inline v0::detail
