// What calls on few lanes cost besides their steps: packs and threads against plain numbers, and
// the free functions, which begin without memory and threads, against solver objects that keep both.

#include <eddy/solvers/tsit5.hpp>
#include <string>

#include "lorenz_lanes.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr int num_rounds = 31;
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-6, .atol = 1e-9};

/// The arms of one backend, per lane.
struct Arms {
    int solve, free_solve, gradient, free_gradient;
};

template <class Backend>
Arms add_arms(Race& race, const Backend& backend, const LorenzLanes<double>& lanes, int calls) {
    static const eddy::EnsembleArray<double> no_data(1, 3);
    const auto work = static_cast<double>(calls * lanes.y0.rows());
    const auto add = [&](auto call) {
        return race.add(work, [=]() mutable {
            for (int i = 0; i < calls; ++i) kept = call();
        });
    };
    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options, backend);
    auto gradient = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, options, backend);
    const auto* all = &lanes;
    return {add([=]() mutable { return solver(all->y0, all->p).y()(0, 0); }), add([=] {
                const auto solution =
                    eddy::solve(Lorenz{}, eddy::Tsit5{}, all->y0, all->p, options, backend);
                return solution.y()(0, 0);
            }),
            add([=]() mutable { return gradient(no_data, all->y0, all->p).loss.total; }), add([=] {
                return eddy::value_and_gradient(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, no_data,
                                                all->y0, all->p, options, backend)
                    .loss.total;
            })};
}

void print(const Race& race, const std::string& what, int arm, int base) {
    print_row(what, "", nanoseconds(race.time(arm)), text("%.2f", race.ratio(arm, base)), "");
}

void compare(std::ptrdiff_t num_lanes) {
    LorenzLanes<double> lanes(num_lanes);
    if (num_lanes == 1) lanes.p(0, 1) = 20;
    const int calls = static_cast<int>(std::max<std::ptrdiff_t>(1, 400 / num_lanes));
    Race race(Clock::wall);
    const Arms serial = add_arms(race, eddy::Serial{}, lanes, calls);
    const Arms one = add_arms(race, eddy::Cpu{.threads = 1}, lanes, calls);
    const Arms two = add_arms(race, eddy::Cpu{.threads = 2}, lanes, calls);
    race.run(num_rounds);

    const std::string which = text("%lld lanes, ", static_cast<long long>(num_lanes));
    print(race, which + "solve: Serial", serial.solve, serial.solve);
    print(race, which + "solve: Cpu, one thread, to Serial", one.solve, serial.solve);
    print(race, which + "solve: Cpu, two threads, to one", two.solve, one.solve);
    print(race, which + "solve: free function, to kept solver", two.free_solve, two.solve);
    print(race, which + "gradient: Serial", serial.gradient, serial.gradient);
    print(race, which + "gradient: Cpu, one thread, to Serial", one.gradient, serial.gradient);
    print(race, which + "gradient: Cpu, two threads, to one", two.gradient, one.gradient);
    print(race, which + "gradient: free, to kept solver", two.free_gradient, two.gradient);
}

}  // namespace

int main() {
    print_heading("Small calls: Lorenz, Tsit5, rtol 1e-6, atol 1e-9",
                  "Time per lane on the wall; ratio: to the arm that the row names. Medians of 31 "
                  "interleaved rounds.");
    for (const std::ptrdiff_t num_lanes : {1, 8, 64, 512, 4096}) compare(num_lanes);
}
