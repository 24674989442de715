#pragma once
// When the lanes of a tile stepped, and how far, as the way back asks for it. The first rounds are logged
// whole, in room that was planned; of later ones the log has the latest, as many as there are rounds whose
// stages are kept. What is in neither a replay finds out by making the attempts again, from the clocks
// that the states of the loop carry behind the end of the log.
// Test: tests/backends/tiles_memory.cpp

#include <algorithm>
#include <eddy/solve/lane/arena.hpp>

namespace eddy::inline v0::detail {

/// The step that a lane made in a round; size zero where it made none.
struct LoggedStep {
    double before, after;  // elapsed
    double size;
    std::int32_t tstop;
    std::int16_t lane;             // of those that share a tile's places
    std::int8_t event = no_event;  // at its end
    bool ends_lane = false;        // does the lane end there?

    static constexpr std::int8_t no_event = -1;
    [[nodiscard]] bool meets_event() const { return event != no_event; }
};

/// Rows of steps, (round, lane). Fewer lanes make shorter rows, and more of them.
class RowLog {
  public:
    RowLog() = default;
    /// Room for so many steps of the first rounds, and so many of the latest.
    RowLog(std::int64_t first_steps, std::int64_t latest_steps, int most_lanes, Arena& arena)
        : first_steps_(first_steps),
          first_(arena.take<LoggedStep>(first_steps)),
          latest_(arena.take<LoggedStep>(latest_steps)),
          spare_(arena.take<LoggedStep>(most_lanes)) {}

    void begin(int num_lanes, std::int64_t num_latest) {
        num_lanes_ = num_lanes;
        num_first_ = first_steps_ / num_lanes;
        num_latest_ = num_latest;
    }
    /// The rounds that are logged whole.
    [[nodiscard]] std::int64_t num_first() const { return num_first_; }

    /// The row of the log for the steps of a round; a later one may have taken the place of a late one.
    [[nodiscard]] LoggedStep* row(std::int64_t round) const {
        return round < num_first_ ? first_ + round * num_lanes_
                                  : latest_ + round % num_latest_ * num_lanes_;
    }
    /// Room for the steps of a round that nobody asks for a second time.
    [[nodiscard]] LoggedStep* spare() const { return spare_; }

    /// Bytes that so many rounds have written.
    [[nodiscard]] std::int64_t bytes_of(std::int64_t rounds) const {
        const std::int64_t first = std::min(rounds, num_first_);
        const std::int64_t latest = std::min(rounds - first, num_latest_);
        return (first + latest) * num_lanes_ * static_cast<std::int64_t>(sizeof(LoggedStep));
    }

  private:
    std::int64_t first_steps_ = 0;
    LoggedStep *first_ = nullptr, *latest_ = nullptr, *spare_ = nullptr;
    std::int64_t num_lanes_ = 1, num_first_ = 0, num_latest_ = 1;
};

/// The rounds of a tile, as the checkpointed loop sees them. The cotangents stay with the gradient.
template <class Gradient>
struct RowRounds {
    using State = typename Gradient::State;
    Gradient* gradient = nullptr;

    void advance_in_place(State& x, std::int64_t round) const { gradient->advance(x, round); }
    [[nodiscard]] State advance(const State& x, std::int64_t round) const {
        State next = x;
        gradient->advance(next, round);
        return next;
    }
    int pullback(const State& x, std::int64_t round, int nothing) {
        gradient->pull(x, round);
        return nothing;
    }
};

}  // namespace eddy::inline v0::detail
