// A batch of which some lanes are stiff: Van der Pol with mu log-uniform in 1..1e4, more than a period of
// each, by an explicit method, by a stiff one, and by both, each for its lanes. And what looking for
// stiffness costs a batch in which no lane is stiff.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "support/stiff_equations.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;
using Array = eddy::EnsembleArray<double>;

constexpr std::ptrdiff_t num_lanes = 2048;
constexpr int num_rounds = 11;
const eddy::SolveOptions options{.t1 = 4, .rtol = 1e-5, .atol = 1e-8};
const eddy::Cpu backend{.threads = 1};

/// mu log-uniform in 1..largest, in an order without pattern: multiples of the golden ratio, modulo 1.
Array parameters(double largest) {
    Array p(num_lanes, 1);
    double fraction = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        p(lane, 0) = std::pow(largest, fraction);
        fraction = std::fmod(fraction + 0.6180339887498949, 1.);
    }
    return p;
}

void measure(double largest) {
    const Array p = parameters(largest);
    Array y0(num_lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) y0(lane, 0) = 2;
    const auto solver_by = [](const auto& method) {
        return eddy::ensemble_solver(support::VanDerPol{}, method, options, backend);
    };
    auto tsit5 = solver_by(eddy::Tsit5{});
    auto rodas5p = solver_by(eddy::Rodas5P{});
    auto both = solver_by(eddy::AutoSwitch{eddy::Tsit5{}, eddy::Rodas5P{}});
    Race race;
    const auto arm = [&](auto& solver) {
        return race.add(num_lanes, [&] { kept = solver(y0, p).y()(0, 0); });
    };
    const int by_tsit5 = arm(tsit5), by_rodas5p = arm(rodas5p), by_both = arm(both);
    race.run(num_rounds);
    const auto row = [&](const char* name, int index, auto& solver) {
        const auto& solution = solver(y0, p);
        const auto stats = solution.total_stats();
        print_row(text("mu from 1 to %g, %s, a lane", largest, name), "",
                  nanoseconds(race.time(index)), text("%.2f", race.ratio(index, by_both)),
                  text("%.4g attempts a lane, %td switched",
                       double(stats.accepted + stats.rejected) / double(num_lanes),
                       solution.num_switched()));
    };
    row("Tsit5", by_tsit5, tsit5);
    row("Rodas5P", by_rodas5p, rodas5p);
    row("AutoSwitch", by_both, both);
}

}  // namespace

int main() {
    print_heading("lanes of which some are stiff",
                  text("Cpu, 1 thread, %d lanes, median of %d rounds, processor time; ratio to "
                       "AutoSwitch{Tsit5{}, Rodas5P{}}",
                       static_cast<int>(num_lanes), num_rounds));
    measure(1e4);
    measure(10);
}
