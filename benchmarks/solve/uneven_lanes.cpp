// Lanes that need very different numbers of steps, in one batch: Van der Pol with mu log-uniform in
// 1..30. What matters is time per accepted step, against a batch of equal lanes that makes as many
// steps altogether.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eddy/backends/tiles.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "lorenz_lanes.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

/// van der Pol 1926, Phil. Mag. 2(11), y" = mu (1 - y^2) y' - y, in units of time that may differ
/// from lane to lane: p = (mu, t1), and the solve goes from 0 to 1.
struct VanDerPol {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[1], p[1] * (p[0] * (1 - y[0] * y[0]) * y[1] - y[0]));
    }
};

constexpr int num_rounds = 11;
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-6, .atol = 1e-6};
const eddy::Cpu backend{.threads = 1};

using Array = eddy::EnsembleArray<double>;
/// How long a lane is integrated, by its mu.
using EndTime = double (*)(double mu);

double twenty(double) { return 20; }
/// A little more than a period, which is near 1.6 mu for large mu.
double about_a_period(double mu) { return 3 + 2 * mu; }

Array initial_states(std::ptrdiff_t num_lanes) {
    Array y0(num_lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) y0(lane, 0) = 2;
    return y0;
}

/// mu log-uniform in 1..30, in an order without pattern: multiples of the golden ratio, modulo 1.
Array mixed_parameters(std::ptrdiff_t num_lanes, EndTime end_time) {
    Array p(num_lanes, 2);
    double fraction = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        p(lane, 0) = std::pow(30., fraction);
        p(lane, 1) = end_time(p(lane, 0));
        fraction = std::fmod(fraction + 0.6180339887498949, 1.);
    }
    return p;
}

template <class Outcomes>
double accepted_of(const Outcomes& outcomes) {
    return static_cast<double>(outcomes.total_stats().accepted);
}

/// The same mu in all lanes, with which they take `steps` accepted steps altogether, or nearly so.
Array equal_parameters(std::ptrdiff_t num_lanes, double steps, EndTime end_time) {
    double low = 1, high = 30;
    const auto steps_of = [&](double mu) {
        const std::vector<double> y0{2, 0}, p{mu, end_time(mu)};
        return accepted_of(eddy::solve(VanDerPol{}, eddy::Tsit5{}, y0, p, options, backend));
    };
    for (int halving = 0; halving < 40; ++halving) {
        const double middle = (low + high) / 2;
        (steps_of(middle) * static_cast<double>(num_lanes) < steps ? low : high) = middle;
    }
    Array p(num_lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        p(lane, 0) = high;
        p(lane, 1) = end_time(high);
    }
    return p;
}

/// `call(p)` runs a batch and returns its outcomes.
template <class Call>
void race_batches(const char* what, const Array& mixed, const Array& equal, Call call) {
    const double mixed_steps = accepted_of(call(mixed)), equal_steps = accepted_of(call(equal));
    Race race;
    const int even = race.add(equal_steps, [&] { kept = accepted_of(call(equal)); });
    const int uneven = race.add(mixed_steps, [&] { kept = accepted_of(call(mixed)); });
    race.run(num_rounds);
    print_row(text("%s, equal lanes, mu = %.3f", what, equal(0, 0)), "",
              nanoseconds(race.time(even)), "", text("%.0f steps", equal_steps));
    print_row(text("%s, mixed lanes", what), ">= 85 %", nanoseconds(race.time(uneven)),
              text("%.1f %%", 100 * race.ratio(even, uneven)), text("%.0f steps", mixed_steps));
}

void print_spread(const char* name, const eddy::Outcomes& outcomes) {
    std::int64_t fewest = INT64_MAX, most = 0;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        fewest = std::min(fewest, outcomes.stats(lane).accepted);
        most = std::max(most, outcomes.stats(lane).accepted);
    }
    const auto all = outcomes.total_stats();
    std::printf("%s, %td lanes: they take %lld to %lld steps, 1:%.0f, and reject %.1f %% more\n",
                name, outcomes.num_lanes(), static_cast<long long>(fewest),
                static_cast<long long>(most),
                static_cast<double>(most) / static_cast<double>(fewest),
                100 * static_cast<double>(all.rejected) / static_cast<double>(all.accepted));
}

template <class Backend>
void compare(const char* name, std::ptrdiff_t num_lanes, EndTime end_time, const Backend& backend) {
    const Array y0 = initial_states(num_lanes), mixed = mixed_parameters(num_lanes, end_time),
                no_data(1, 2);
    auto solver = eddy::ensemble_solver(VanDerPol{}, eddy::Tsit5{}, options, backend);
    auto gradient =
        eddy::gradient_solver(VanDerPol{}, eddy::Tsit5{}, SquaredNorm{}, options, backend);
    const auto& outcomes = solver(y0, mixed);
    print_spread(name, outcomes);
    const Array equal = equal_parameters(num_lanes, accepted_of(outcomes), end_time);
    race_batches(
        "solve", mixed, equal, [&](const Array& p) -> auto& { return solver(y0, p); });
    race_batches(
        "solve and gradient", mixed,
        equal, [&](const Array& p) -> auto& { return gradient(no_data, y0, p).report; });
}

}  // namespace

int main() {
    print_heading("Van der Pol, mu log-uniform in 1..30 against equal lanes, one thread",
                  "Time per accepted step; ratio: throughput to that of equal lanes. Tsit5, rtol = "
                  "atol = 1e-6.\nMedians of 11 interleaved rounds.");
    compare("t to 20", 1 << 15, twenty, backend);
    compare("t to 3 + 2 mu", 1 << 12, about_a_period, backend);
    compare("t to 3 + 2 mu", 1 << 15, about_a_period, backend);
    compare("Tiles, t to 20", 1 << 12, twenty, eddy::Tiles{.threads = 1});
    compare("Tiles, t to 3 + 2 mu", 1 << 12, about_a_period, eddy::Tiles{.threads = 1});
}
