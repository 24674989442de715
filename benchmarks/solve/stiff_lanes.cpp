// Stiff lanes that need very different numbers of attempts, 1:10, in one batch, against a batch of equal
// lanes that makes as many altogether: Robertson's reactions by Rodas5P, each lane to an end of its own.
// What matters is time per attempt.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rodas5p.hpp>

#include "support/stiff_equations.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;
using Array = eddy::EnsembleArray<double>;

/// Robertson's reactions in units of time that differ from lane to lane: p = (rates, end), and the solve
/// goes from 0 to 1.
struct Reactions {
    static constexpr int state_size = 3, parameter_size = 4;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return p[3] * support::Robertson{}(t, y, p);
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

constexpr std::ptrdiff_t num_lanes = 8192;
constexpr int num_rounds = 11;
constexpr double first = -2, last = 11;  // exponents of ends
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-5, .atol = 1e-12};
const eddy::Cpu backend{.threads = 1};

std::int64_t attempts_of(const eddy::LaneStats& stats) { return stats.accepted + stats.rejected; }
double attempts_of(const eddy::Outcomes& outcomes) {
    return static_cast<double>(attempts_of(outcomes.total_stats()));
}

/// Ends 10^e, e from `lowest` to `highest` in an order without pattern: multiples of the golden ratio, modulo 1.
Array parameters(double lowest, double highest) {
    Array p(num_lanes, 4);
    double fraction = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int i = 0; i < 3; ++i) p(lane, i) = support::Robertson::p0[i];
        p(lane, 3) = std::pow(10., lowest + (highest - lowest) * fraction);
        fraction = std::fmod(fraction + 0.6180339887498949, 1.);
    }
    return p;
}

template <class Call>
void race_batches(const char* what, const Array& mixed, const Array& equal, const Call& call) {
    Race race;
    const int even = race.add(attempts_of(call(equal)), [&] { kept = attempts_of(call(equal)); });
    const int uneven = race.add(attempts_of(call(mixed)), [&] { kept = attempts_of(call(mixed)); });
    race.run(num_rounds);
    print_row(text("%s, equal lanes", what), "", nanoseconds(race.time(even)), "",
              text("%.4g attempts a lane", attempts_of(call(equal)) / double(num_lanes)));
    print_row(text("%s, mixed lanes", what), ">= 85 %", nanoseconds(race.time(uneven)),
              text("%.1f %%", 100 * race.ratio(even, uneven)),
              text("%.4g attempts a lane", attempts_of(call(mixed)) / double(num_lanes)));
}

}  // namespace

int main() {
    print_heading("stiff lanes with attempts 1:10 against equal lanes, an attempt of Rodas5P",
                  text("Robertson, Cpu, 1 thread, %d lanes, median of %d rounds, processor time; "
                       "ratio: throughput to that of equal lanes",
                       static_cast<int>(num_lanes), num_rounds));
    Array y0(num_lanes, 3);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) y0(lane, 0) = 1;
    auto solver = eddy::ensemble_solver(Reactions{}, eddy::Rodas5P{}, options, backend);
    auto gradient =
        eddy::gradient_solver(Reactions{}, eddy::Rodas5P{}, Squares{}, options, backend);
    const Array mixed = parameters(first, last);
    const eddy::Outcomes& outcomes = solver(y0, mixed);
    std::int64_t fewest = INT64_MAX, most = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        fewest = std::min(fewest, attempts_of(outcomes.stats(lane)));
        most = std::max(most, attempts_of(outcomes.stats(lane)));
    }
    std::printf("attempts from %lld to %lld, 1:%.1f\n", static_cast<long long>(fewest),
                static_cast<long long>(most), double(most) / double(fewest));
    const double wanted = attempts_of(outcomes);
    double low = first, high = last;  // of the exponent with which equal lanes take as many
    for (int halving = 0; halving < 20; ++halving) {
        const double middle = (low + high) / 2;
        (attempts_of(solver(y0, parameters(middle, middle))) < wanted ? low : high) = middle;
    }
    const Array equal = parameters(high, high);
    race_batches("solve", mixed, equal,
                 [&](const Array& p) -> const eddy::Outcomes& { return solver(y0, p); });
    race_batches("solve and gradient", mixed, equal,
                 [&](const Array& p) -> const eddy::Outcomes& { return gradient(y0, p).report; });
}
