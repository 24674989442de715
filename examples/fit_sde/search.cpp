#include "search.hpp"

#include <algorithm>
#include <cmath>

#include "../fitting/halton.hpp"
#include "../fitting/stopwatch.hpp"

namespace short_rate {

namespace {

struct Start {
    Unknowns at;
    double log_likelihood;
};

/// All starting points until a Ctrl-C, the best first; those without a likelihood are left out. What is left is
/// counted in `num_left`.
std::vector<Start> screen(Likelihood& likelihood, int num_starts, int& num_left) {
    std::vector<Start> starts;
    eddy::Progress bar(true, {}, num_starts, "starts");
    num_left = num_starts;
    for (int index = 0; index < num_starts && !bar.cancelled().stop_requested();
         ++index, --num_left) {
        const Unknowns at = starting_point(index);
        const double value = likelihood(at);
        if (std::isfinite(value)) starts.push_back({at, value});
        bar.add(1, 0, 0);
    }
    std::stable_sort(starts.begin(), starts.end(), [](const Start& one, const Start& other) {
        return one.log_likelihood > other.log_likelihood;
    });
    return starts;
}

}  // namespace

int Search::num_within(double distance) const {
    return static_cast<int>(std::count_if(
        summits.begin(), summits.end(),
        [&](const Summit& summit) { return summit.value > summits.front().value - distance; }));
}

Unknowns starting_point(int index) {
    const auto between = [index](int base, double low, double high) {
        return low + (high - low) * fitting::radical_inverse(index + 1, base);
    };
    Unknowns start(num_unknowns);
    const double mean = between(2, 0.01, 0.12), speed = std::exp(between(3, std::log(0.01), 0.));
    const double gamma = between(7, 0, 1.5);
    // The deviation of a year at the rate `mean`, from a thousandth to a twentieth.
    const double deviation = between(5, std::log(1e-3), std::log(0.05));
    start << speed * mean, -speed, deviation - gamma * std::log(mean), gamma;
    return start;
}

Search search(const Rates& rates, int num_starts, const Simulation& simulation) {
    const fitting::Stopwatch screening;
    Likelihood likelihood(rates, simulation);
    Search found;
    std::vector<Start> starts = screen(likelihood, num_starts, found.num_left);
    found.num_starts = num_starts - found.num_left;
    found.num_possible = static_cast<int>(starts.size());
    found.screening_seconds = screening.seconds();

    const fitting::Stopwatch climbing;
    constexpr int fewest = 8;
    const bool was_stopped = found.num_left > 0;  // who stops wants an end soon
    const auto some =
        static_cast<std::size_t>(was_stopped ? fewest : std::max(fewest, num_starts / 32));
    starts.resize(std::min(starts.size(), some), {{}, 0});
    eddy::Progress bar(true, {}, static_cast<std::int64_t>(starts.size()), "climbs");
    const auto height = [&](const Eigen::VectorXd& at) { return likelihood.with_gradient(at); };
    for (const Start& start : starts) {
        if (bar.cancelled().stop_requested()) {
            found.num_left += static_cast<int>(starts.size() - found.summits.size());
            break;
        }
        found.summits.push_back(maximise(height, start.at, typical_errors(), 1e-4));
        bar.add(1, 0, 0);
    }
    std::stable_sort(
        found.summits.begin(), found.summits.end(),
        [](const Summit& one, const Summit& other) { return one.value > other.value; });
    found.climbing_seconds = climbing.seconds();
    return found;
}

}  // namespace short_rate
