// Two threads against one: adaptive Lorenz, 2^15 lanes. What the machine itself gains by a second
// thread is measured beside it, with multiply-adds in registers: processors that share a core, or
// neighbours that use the other one, gain less than 2.

#include <eddy/solvers/tsit5.hpp>
#include <thread>
#include <vector>

#include "hand_vectors.hpp"
#include "lorenz_lanes.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr std::ptrdiff_t num_lanes = 1 << 15;
constexpr int num_rounds = 21;

/// Multiply-adds in registers, divided among the threads.
void run_registers(int threads) {
    constexpr std::int64_t rounds = 2'000'000;
    const auto run = [threads] { kept = run_fma_chains(rounds / threads, 0.99, 0.1); };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(run);
    run();
}

/// One thread and two, in one race.
struct Pair {
    int one, two;
};
template <class Make>
Pair add_pair(Race& race, Make make) {
    const int one = race.add(num_lanes, make(1));
    return {one, race.add(num_lanes, make(2))};
}

void print_gain(const Race& race, const char* what, const char* goal, const Pair& arms) {
    print_row(what, goal,
              text("%s, %s", nanoseconds(race.time(arms.one)).c_str(),
                   nanoseconds(race.time(arms.two)).c_str()),
              text("%.2f", race.ratio(arms.one, arms.two)), "");
}

}  // namespace

int main() {
    print_heading("Two threads against one: adaptive Lorenz, Tsit5, rtol 1e-8, fp64, 32,768 lanes",
                  "Time per lane with one thread and with two; ratio: the gain. Medians of 21 "
                  "interleaved rounds.");
    const LorenzLanes<double> lanes(num_lanes);
    const eddy::EnsembleArray<double> no_data(1, 3);
    const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-8, .atol = 1e-8};
    Race race(Clock::wall);
    const Pair machine =
        add_pair(race, [](int threads) { return [threads] { run_registers(threads); }; });
    const Pair solve = add_pair(race, [&](int threads) {
        auto solver =
            eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options, eddy::Cpu{.threads = threads});
        return [&, solver]() mutable { kept = solver(lanes.y0, lanes.p).y()(0, 0); };
    });
    const Pair gradient = add_pair(race, [&](int threads) {
        auto solver = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, options,
                                            eddy::Cpu{.threads = threads});
        return [&, solver]() mutable { kept = solver(no_data, lanes.y0, lanes.p).loss.total; };
    });
    race.run(num_rounds);
    print_gain(race, "the machine: multiply-adds in registers", "", machine);
    print_gain(race, "solve", ">= 1.9", solve);
    print_gain(race, "solve and gradient", ">= 1.9", gradient);
}
