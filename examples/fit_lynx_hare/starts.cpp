#include "starts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fitting/halton.hpp"

namespace lynx_hare {

namespace {

/// Logarithms from low to high.
struct Range {
    double low, high;
    double at(double part) const { return low + part * (high - low); }
};

Range range_of(const std::vector<double>& counts) {
    const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    return {std::log(*low), std::log(*high)};
}

}  // namespace

UnknownsArray starting_points(const Counts& counts, int num_starts) {
    const double span = counts.year.back() - counts.year.front();
    const double gap = span / (counts.num_rows() - 1);
    const Range period{std::log(std::min(4 * gap, span)), std::log(span)};
    const Range ratio{-std::log(16.0), std::log(16.0)};
    const Range hare = range_of(counts.hare), lynx = range_of(counts.lynx);

    UnknownsArray starts(num_starts, num_unknowns);
    for (int lane = 0; lane < num_starts; ++lane) {
        const auto part = [lane](int base) { return fitting::radical_inverse(lane + 1, base); };
        // Small cycles have the period 2 pi / sqrt(a c).
        const double frequency = std::log(2 * std::numbers::pi) - period.at(part(2));
        const double half_ratio = ratio.at(part(3)) / 2;
        const double a = frequency + half_ratio, c = frequency - half_ratio;
        const double b = a - lynx.at(part(5)), d = c - hare.at(part(7));
        starts.row(lane) << a, b, c, d, hare.at(part(11)), lynx.at(part(13));
    }
    return starts.max(-largest_unknown).min(largest_unknown);
}

}  // namespace lynx_hare
