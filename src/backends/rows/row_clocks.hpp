#pragma once
// Where the lanes of a tile are: their times, sizes and controllers, as kernels over rows read them, in one block
// that is copied as it is.

#include <cstdint>
#include <eddy/backends/rows/row_problem.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/solve/lane/landing.hpp>

namespace eddy::inline v0::detail {

class RowClocks {
  public:
    RowClocks() = default;
    RowClocks(int width, Arena& arena);

    [[nodiscard]] const row_kernels::Clocks& rows() const { return rows_; }
    [[nodiscard]] int width() const { return width_; }
    /// The index of the tstop that a lane's steps head for.
    [[nodiscard]] std::int32_t tstop(int lane) const { return tstops_[lane]; }
    [[nodiscard]] bool was_accepted(int lane) const { return rows_.used[lane] > 0; }
    [[nodiscard]] bool was_rejected(int lane) const { return rows_.was_rejected[lane] > 0; }
    [[nodiscard]] bool has_stalled(int lane) const { return rows_.stalled[lane] > 0; }

    /// Has it stalled, or come to where something is due?
    [[nodiscard]] bool is_due(int lane) const {
        return has_stalled(lane) || rows_.elapsed[lane] >= rows_.due[lane];
    }

    /// A lane begins with a step of this size.
    void begin(int lane, double first_size, const LaneTimes& times, std::int32_t num_saved);
    /// Its steps head for another tstop, between other jumps.
    void head_for(int lane, std::int32_t tstop, const LaneTimes& times, std::int32_t num_saved);
    /// A save point has been passed.
    void expect(int lane, const LaneTimes& times, std::int32_t num_saved);
    /// Lanes that have ended make steps of size zero.
    void stop(int lane);
    /// The next attempt of a lane begins with this size.
    void set_size(int lane, double size) { rows_.size[lane] = size; }
    /// The next attempt of a lane has just this size, whatever is due; zero: the controller's.
    void seek(int lane, double size) { sought_[lane] = size; }
    void take_sought(double direction) const;
    /// A lane goes on with this size as if none of its steps had been judged before.
    void forget_rejection(int lane, double size) {
        rows_.size[lane] = size;
        rows_.stalled[lane] = 0;
        rows_.previous_log2[lane] = rows_.earlier_log2[lane] = rows_.was_rejected[lane] = 0;
    }
    /// The next step of a lane, of a size that is known; where anybody asks, its times.
    void set_step(int lane, double direction, double size) {
        rows_.h[lane] = direction * size;
        rows_.used[lane] = size;
    }
    void set_times(int lane, const TimeAt<double>& start, double size) {
        rows_.first[lane] = start + 0.;
        rows_.last[lane] = start + size;
    }

    /// The places of clocks beside a tile's lanes: kernels take times by packs.
    [[nodiscard]] static constexpr int num_places(int width) { return width < 8 ? 8 : width; }
    /// The block that all of it lies in.
    [[nodiscard]] std::byte* block() const { return reinterpret_cast<std::byte*>(rows_.elapsed); }
    [[nodiscard]] static std::size_t num_bytes(int width);

  private:
    row_kernels::Clocks rows_{};
    double* sought_ = nullptr;
    std::int32_t* tstops_ = nullptr;
    int width_ = 0;
};

}  // namespace eddy::inline v0::detail
