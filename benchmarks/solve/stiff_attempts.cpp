// What an attempted step of a stiff method takes, and its gradient: equations of chemistry with 3, 8 and
// 20 states, in packs on one thread, the parameters of each lane its own.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas5p.hpp>

#include "support/stiff_equations.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;
using Array = eddy::EnsembleArray<double>;

constexpr std::ptrdiff_t num_lanes = 2048;
constexpr int num_rounds = 7;
const eddy::Cpu backend{.threads = 1};

/// Rates within a tenth of the usual ones, in an order without pattern: multiples of the golden ratio,
/// modulo 1.
template <class Field>
Array parameters() {
    Array p(num_lanes, Field::parameter_size);
    double fraction = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int i = 0; i < Field::parameter_size; ++i) {
            p(lane, i) = Field::p0[i] * (0.9 + 0.2 * fraction);
            fraction = std::fmod(fraction + 0.6180339887498949, 1.);
        }
    }
    return p;
}
template <class Field>
Array starts() {
    Array y0(num_lanes, Field::state_size);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int i = 0; i < Field::state_size; ++i) y0(lane, i) = Field::y0[i];
    }
    return y0;
}

struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

template <class Outcomes>
double attempts_of(const Outcomes& outcomes) {
    const auto total = outcomes.total_stats();
    return static_cast<double>(total.accepted + total.rejected);
}

template <class Field, class Method>
void measure(const char* name, const Method& method, const eddy::SolveOptions& options,
             const char* goal, const char* gradient_goal) {
    const Array y0 = starts<Field>(), p = parameters<Field>();
    auto solver = eddy::ensemble_solver(Field{}, method, options, backend);
    auto gradient = eddy::gradient_solver(Field{}, method, Squares{}, options, backend);
    const double attempts = attempts_of(solver(y0, p));
    Race race;
    const int forward = race.add(attempts, [&] { kept = solver(y0, p).y()(0, 0); });
    const int both = race.add(attempts, [&] { kept = gradient(y0, p).loss.total; });
    race.run(num_rounds);
    const std::string work = text("%.3g attempts a lane", attempts / double(num_lanes));
    print_row(text("%s, an attempt", name), goal, nanoseconds(race.time(forward)), "", work);
    print_row(text("%s, solve and gradient", name), gradient_goal, nanoseconds(race.time(both)),
              text("%.2f", race.ratio(both, forward)), "ratio to the solve");
}

}  // namespace

int main() {
    print_heading("stiff equations: one attempted step of one lane",
                  text("Cpu, 1 thread, %d lanes, median of %d rounds, processor time",
                       static_cast<int>(num_lanes), num_rounds));
    const eddy::SolveOptions robertson{.t1 = 1e11, .rtol = 1e-4, .atol = 1e-12},
        hires{.t1 = 321.8122, .rtol = 1e-4, .atol = 1e-8},
        pollution{.t1 = 60, .rtol = 1e-4, .atol = 1e-9};
    using eddy::Rodas4, eddy::Rodas5P;
    measure<support::Robertson>("Robertson by Rodas4", Rodas4{}, robertson, "12 ns", "3.5");
    measure<support::Robertson>("Robertson by Rodas5P", Rodas5P{}, robertson, "", "3.5");
    measure<support::Hires>("HIRES by Rodas4", Rodas4{}, hires, "35 ns", "3.5");
    measure<support::Hires>("HIRES by Rodas5P", Rodas5P{}, hires, "", "3.5");
    measure<support::Pollution>("Pollution by Rodas4", Rodas4{}, pollution, "100 ns", "5");
}
