#pragma once
// The words of a progress bar, as a function of the numbers that it shows.

#include <cstdint>
#include <string>

namespace eddy::inline v0::detail {

struct ProgressCounts {
    std::int64_t num_lanes = 0;  // in all
    std::int64_t lanes_done = 0;
    std::int64_t accepted = 0;  // steps
    std::int64_t rejected = 0;
};

/// "solve [====>     ]  45% 0:12 left, 460/1024 trajectories, 12.3k steps, 1.23k rejected", at most
/// `columns` long: a narrow terminal cuts what matters least. The time left is that which the
/// trajectories done so far took each, times those to come.
[[nodiscard]] std::string progress_line(const char* title, const ProgressCounts& counts,
                                        double seconds, int columns);

/// "solve: 1024 trajectories in 12.3 s, 45.6k steps, 1.23k rejected": what is left of the bar at the
/// end.
[[nodiscard]] std::string closing_line(const char* title, const ProgressCounts& counts,
                                       double seconds);

}  // namespace eddy::inline v0::detail
