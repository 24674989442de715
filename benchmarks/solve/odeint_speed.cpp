// Adaptive Lorenz, rtol 1e-8, 2^15 lanes, one thread, against Boost.Odeint's controlled dopri5 at
// the same achieved error.

#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/solvers/vern7.hpp>

#include "lorenz_lanes.hpp"
#include "matched_error.hpp"
#include "peers.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr std::ptrdiff_t num_lanes = 1 << 15, stride = 64;
constexpr int num_rounds = 11;

/// y(1) of every `step`-th lane by odeint.
std::vector<double> solve_by_odeint(double tolerance, std::ptrdiff_t step) {
    std::vector<double> values;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; lane += step) {
        const State y = odeint_dopri5({1, 0, 0}, {10, rho_of(lane, num_lanes), 8. / 3}, tolerance);
        values.insert(values.end(), y.begin(), y.end());
    }
    return values;
}

/// Prints what eddy takes beside odeint with the tolerance at which it errs as much as eddy does:
/// the largest that keeps to eddy's error.
template <class Method>
void compare(const char* name, const std::vector<double>& exact) {
    const LorenzLanes<double> lanes(num_lanes);
    auto solver = eddy::ensemble_solver(Lorenz{}, Method{}, {.t1 = 1, .rtol = 1e-8, .atol = 1e-8},
                                        eddy::Cpu{.threads = 1});
    const auto& solution = solver(lanes.y0, lanes.p);
    const double error = relative_error(every_row(solution.y(), stride), exact);
    const auto stats = solution.total_stats();

    Race race;
    const int ours = race.add(num_lanes, [&] { kept = solver(lanes.y0, lanes.p).y()(0, 0); });
    std::string ratio;
    if (has_odeint) {
        const auto odeint_error = [&](double tolerance) {
            return relative_error(solve_by_odeint(tolerance, stride), exact);
        };
        const double tolerance = tolerance_for(error, odeint_error);
        const int peer = race.add(num_lanes, [&] { kept = solve_by_odeint(tolerance, 1)[0]; });
        race.run(num_rounds);
        print_row(text("Boost.Odeint, dopri5, tolerance %.1e", tolerance), "",
                  nanoseconds(race.time(peer)), "", text("%.2e", odeint_error(tolerance)));
        ratio = text("%.1f", race.ratio(peer, ours));
    } else {
        race.run(num_rounds);
    }
    print_row(text("eddy, %s, rtol = atol = 1e-8", name), ">= 10", nanoseconds(race.time(ours)),
              ratio, error_and_steps(error, stats, num_lanes));
}

}  // namespace

int main() {
    print_heading("Adaptive Lorenz, fp64, 32,768 lanes, one thread, against Boost.Odeint",
                  "Time per lane; ratio: odeint's to eddy's at the same achieved error (odeint's "
                  "tolerance is chosen so).\nMedians of 11 interleaved rounds.");
    if (!has_odeint) std::puts("Boost.Odeint is not installed (libboost-dev): eddy alone");
    const auto exact = reference(num_lanes, stride).y;
    compare<eddy::Tsit5>("Tsit5", exact);
    compare<eddy::Dopri5>("Dopri5", exact);
    compare<eddy::Vern7>("Vern7", exact);
}
