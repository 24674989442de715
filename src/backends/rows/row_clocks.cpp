#include "row_clocks.hpp"
#include <algorithm>
#include <limits>

namespace eddy::inline v0::detail {

using row_kernels::Clocks;

std::size_t RowClocks::num_bytes(int width) {
    constexpr std::size_t of_lane = (Clocks::num_doubles + 1) * sizeof(double) +
                                    Clocks::num_floats * sizeof(float) + sizeof(std::int32_t);
    return of_lane * static_cast<std::size_t>(num_places(width));
}

RowClocks::RowClocks(int width, Arena& arena) : width_(width) {
    auto* const block = arena.take<double>(
        static_cast<std::int64_t>((num_bytes(width) + sizeof(double) - 1) / sizeof(double)));
    if (!block) return;
    double* next = block;
    for (double** row :
         {&rows_.elapsed, &rows_.size, &rows_.before, &rows_.tried, &rows_.used, &rows_.tstop,
          &rows_.origin, &rows_.due, &rows_.t0, &rows_.lowest, &rows_.highest, &rows_.rejected,
          &rows_.stalled, &rows_.first, &rows_.last, &rows_.h, &sought_}) {
        *row = next;
        next += num_places(width);
    }
    auto* single = reinterpret_cast<float*>(next);
    for (float** row : {&rows_.previous_log2, &rows_.earlier_log2, &rows_.was_rejected}) {
        *row = single;
        single += num_places(width);
    }
    tstops_ = reinterpret_cast<std::int32_t*>(single);
    std::fill_n(reinterpret_cast<std::byte*>(block), num_bytes(width), std::byte{0});
    for (int place = width; place < num_places(width); ++place) stop(place);
}

void RowClocks::begin(int lane, double first_size, const LaneTimes& times, std::int32_t num_saved) {
    rows_.elapsed[lane] = rows_.before[lane] = rows_.tried[lane] = rows_.used[lane] = 0;
    rows_.rejected[lane] = rows_.stalled[lane] = 0;
    rows_.previous_log2[lane] = rows_.earlier_log2[lane] = rows_.was_rejected[lane] = 0;
    rows_.size[lane] = first_size;
    sought_[lane] = 0;
    rows_.t0[lane] = times.t0;
    head_for(lane, 0, times, num_saved);
}
void RowClocks::head_for(int lane, std::int32_t tstop, const LaneTimes& times,
                         std::int32_t num_saved) {
    const Tstop& to = times.tstops[tstop];
    tstops_[lane] = tstop;
    rows_.origin[lane] = rows_.elapsed[lane];
    rows_.tstop[lane] = to.elapsed;
    rows_.lowest[lane] = to.lowest;
    rows_.highest[lane] = to.highest;
    expect(lane, times, num_saved);
}
void RowClocks::expect(int lane, const LaneTimes& times, std::int32_t num_saved) {
    rows_.due[lane] = min(rows_.tstop[lane], next_save(times, num_saved));
}
void RowClocks::stop(int lane) {
    rows_.tstop[lane] = rows_.elapsed[lane];
    rows_.due[lane] = std::numeric_limits<double>::infinity();
}
void RowClocks::take_sought(double direction) const {
    for (int lane = 0; lane < width_; ++lane) {
        const double size = sought_[lane];
        if (!(size > 0)) continue;
        const TimeAt<double> start{rows_.t0[lane], direction, rows_.elapsed[lane],
                                   rows_.lowest[lane], rows_.highest[lane]};
        rows_.tried[lane] = size;
        rows_.last[lane] = start + size;
        rows_.h[lane] = direction * size;
    }
}

}  // namespace eddy::inline v0::detail
