#include <algorithm>
#include <cstdio>

#include "progress_line.hpp"

namespace eddy::inline v0::detail {

namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[64];
    std::snprintf(text, sizeof(text), pattern, values...);
    return text;
}

/// Three digits and a prefix from 10,000 on: 9999, 12.3k, 4.57M.
std::string count_text(std::int64_t count) {
    if (count < 10'000) return std::to_string(count);
    double value = static_cast<double>(count) / 1000;
    const char* prefix = "kMGTPE";
    for (; value >= 999.5; value /= 1000) ++prefix;
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return format("%.*f", decimals, value) + *prefix;
}

/// Minutes and seconds, with hours where there are any.
std::string time_text(double seconds) {
    if (!(seconds < 360'000)) return "> 100 h";
    const auto whole = static_cast<int>(seconds + 0.5);
    const int minutes = whole / 60 % 60, hours = whole / 3600;
    return hours > 0 ? format("%d:%02d:%02d", hours, minutes, whole % 60)
                     : format("%d:%02d", minutes, whole % 60);
}

std::string time_left(const ProgressCounts& counts, double seconds) {
    if (counts.lanes_done <= 0) return "?";
    const auto left = static_cast<double>(counts.num_lanes - counts.lanes_done);
    return time_text(seconds * left / static_cast<double>(counts.lanes_done));
}

std::string steps_text(const ProgressCounts& counts) {
    return count_text(counts.accepted) + " steps, " + count_text(counts.rejected) + " rejected";
}

/// "[====>     ]", `width` in all.
std::string bar_text(double fraction, int width) {
    const int inside = width - 2;
    const auto filled = static_cast<std::size_t>(fraction * inside);
    std::string bar(static_cast<std::size_t>(inside), ' ');
    std::fill_n(bar.begin(), filled, '=');
    if (filled < bar.size()) bar[filled] = '>';
    return "[" + bar + "]";
}

}  // namespace

std::string progress_line(const char* title, const ProgressCounts& counts, double seconds,
                          int columns) {
    constexpr int narrowest = 6, widest = 42;
    const double fraction = counts.num_lanes > 0
                                ? std::clamp(static_cast<double>(counts.lanes_done) /
                                                 static_cast<double>(counts.num_lanes),
                                             0., 1.)
                                : 1.;
    const std::string numbers =
        format("%3d%% ", static_cast<int>(100 * fraction)) + time_left(counts, seconds) +
        " left, " + std::to_string(counts.lanes_done) + "/" + std::to_string(counts.num_lanes) +
        " trajectories, " + steps_text(counts);
    std::string line = std::string(title) + " ";
    const int room = columns - static_cast<int>(line.size() + 1 + numbers.size());
    if (room >= narrowest) line += bar_text(fraction, std::min(room, widest)) + " ";
    return (line + numbers).substr(0, static_cast<std::size_t>(std::max(columns, 0)));
}

std::string closing_line(const char* title, const ProgressCounts& counts, double seconds) {
    const bool complete = counts.lanes_done >= counts.num_lanes;
    const std::string done = (complete ? "" : std::to_string(counts.lanes_done) + " of ") +
                             std::to_string(counts.num_lanes) + " trajectories in ";
    const std::string time = seconds < 59.95 ? format("%.1f s", seconds) : time_text(seconds);
    return std::string(title) + (complete ? ": " : ": stopped, ") + done + time + ", " +
           steps_text(counts);
}

}  // namespace eddy::inline v0::detail
