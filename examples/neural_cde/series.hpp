#pragma once
// Spirals that turn one way or the other, seen at irregular times and in part: at each time only some coordinates are
// measured.

#include <cmath>
#include <cstdint>
#include <eddy/eddy.hpp>
#include <limits>
#include <vector>

using Array = eddy::EnsembleArray<double>;

/// Series of several lanes: what a controlled equation is driven by.
struct Series {
    Array knots, values;       // (series, knot); (series, knot · channel): time, x and y
    std::vector<double> turn;  // +1 or −1, one for each
    std::vector<double> begin, end;
};

/// Fills what was not measured on the straight line between the measurements before and behind it, and from the nearest one at
/// the ends: a channel is then linear between its own times.
inline void fill(std::vector<double>& numbers, const std::vector<double>& times) {
    const std::size_t count = numbers.size();
    std::size_t before = count;  // none yet
    for (std::size_t k = 0; k < count; ++k) {
        if (std::isnan(numbers[k])) continue;
        for (std::size_t i = before == count ? 0 : before + 1; i < k; ++i) {
            const double share =
                before == count ? 1 : (times[i] - times[before]) / (times[k] - times[before]);
            numbers[i] = before == count ? numbers[k]
                                         : numbers[before] + share * (numbers[k] - numbers[before]);
        }
        before = k;
    }
    for (std::size_t i = before + 1; before < count && i < count; ++i) numbers[i] = numbers[before];
}

/// `count` spirals of 12 to 40 times each, a third of the coordinates missing, with noise.
inline Series draw_series(std::ptrdiff_t count, std::uint64_t seed) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    constexpr std::ptrdiff_t most = 40;
    Series series{Array(count, most, none), Array(count, 3 * most, none), {}, {}, {}};
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        eddy::CounterRng random(seed, static_cast<std::uint64_t>(lane));
        const double turn = random.uniform() < 0.5 ? -1 : 1, phase = 6.3 * random.uniform();
        const auto length = static_cast<std::size_t>(12 + 29 * random.uniform());
        std::vector<double> times{random.uniform()}, x, y;
        while (times.size() < length) times.push_back(times.back() + 0.02 + 0.3 * random.uniform());
        for (const double t : times) {
            const auto measured = [&](double exact) {
                const double noise = 0.1 * (random.uniform() - 0.5);
                return random.uniform() < 1. / 3 ? none : exact + noise;
            };
            x.push_back(measured(std::exp(-0.2 * t) * std::cos(phase + turn * 2 * t)));
            y.push_back(measured(std::exp(-0.2 * t) * std::sin(phase + turn * 2 * t)));
        }
        fill(x, times);
        fill(y, times);
        for (std::size_t k = 0; k < length; ++k) {
            const auto knot = static_cast<std::ptrdiff_t>(k);
            series.knots(lane, knot) = times[k];
            series.values(lane, 3 * knot) = times[k];
            series.values(lane, 3 * knot + 1) = x[k];
            series.values(lane, 3 * knot + 2) = y[k];
        }
        series.turn.push_back(turn);
        series.begin.push_back(times.front());
        series.end.push_back(times.back());
    }
    return series;
}
