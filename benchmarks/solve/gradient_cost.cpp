// What a gradient costs beside the forward solve: Lorenz by Tsit5 in one thread, all states stored
// or 32 checkpoints, steps of constant size and chosen ones; and vector code written by hand that
// stores all states.

#include <algorithm>
#include <eddy/solvers/tsit5.hpp>

#include "hand_vectors.hpp"
#include "lorenz_lanes.hpp"
#include "matched_error.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr std::ptrdiff_t num_lanes = 1 << 10, stride = 4;
constexpr int num_steps = 1000, num_rounds = 21;
constexpr double dt = 1e-3;

void print_gradient(const Race& race, const char* name, const char* goal, int gradient, int forward,
                    const std::string& error) {
    print_row(name, goal, nanoseconds(race.time(gradient)),
              text("%.2f", race.ratio(gradient, forward)), error);
}

/// `name` is that of the table; the work of a call is in steps of lanes.
template <class Real, class Controller>
void compare_eddy(const std::string& name, const eddy::SolveOptions& options,
                  const Controller& controller) {
    const LorenzLanes<Real> lanes(num_lanes);
    const eddy::EnsembleArray<Real> no_data(1, 3);
    const auto exact = reference(num_lanes, stride);
    const eddy::Cpu backend{.threads = 1};
    auto bounded_options = options;
    bounded_options.checkpoints = 32;
    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options, controller, backend);
    auto stored =
        eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, options, controller, backend);
    auto bounded = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, bounded_options,
                                         controller, backend);
    const auto stats = solver(lanes.y0, lanes.p).total_stats();
    const auto work = static_cast<double>(stats.accepted + stats.rejected);

    Race race;
    const int forward = race.add(work, [&] { kept = solver(lanes.y0, lanes.p).y()(0, 0); });
    const int all = race.add(work, [&] { kept = stored(no_data, lanes.y0, lanes.p).loss.total; });
    const int some = race.add(work, [&] { kept = bounded(no_data, lanes.y0, lanes.p).loss.total; });
    race.run(num_rounds);

    print_row(
        name + ": forward", "", nanoseconds(race.time(forward)), "",
        text("%.1e", relative_error(every_row(solver(lanes.y0, lanes.p).y(), stride), exact.y)));
    const auto print = [&](const char* what, const char* goal, int arm, auto& gradient) {
        const auto& result = gradient(no_data, lanes.y0, lanes.p);
        const auto& counters = result.report.counters;
        print_gradient(
            race, (name + what).c_str(), goal, arm, forward,
            text("%.1e  (%.2f advances a step)",
                 relative_error(every_row(result.gradient.p, stride), exact.gradient),
                 static_cast<double>(counters.advances) / static_cast<double>(counters.pullbacks)));
    };
    print(": gradient, all stored", "<= 3.3", all, stored);
    print(": gradient, 32 checkpoints", "<= 4.4", some, bounded);
}

template <class Real>
void compare_hand(const std::string& name) {
    const LorenzLanes<Real> lanes(num_lanes);
    const auto exact = reference(num_lanes, stride);
    eddy::EnsembleArray<Real> y = lanes.y0, p_cotangent(num_lanes, 3);
    std::vector<Real> memory(static_cast<std::size_t>(3 * hand_block<Real> * num_steps));
    const HandBatch<Real> batch{y.data(), lanes.p.data() + num_lanes, num_lanes};
    const auto restart = [&] {
        std::copy(lanes.y0.data(), lanes.y0.data() + 3 * num_lanes, y.data());
    };
    const double work = static_cast<double>(num_lanes) * num_steps;

    Race race;
    const int forward = race.add(work, [&] {
        restart();
        hand_steps(batch, num_steps, dt);
    });
    const int gradient = race.add(work, [&] {
        restart();
        hand_gradient(batch, num_steps, dt, memory.data(), p_cotangent.data());
    });
    race.run(num_rounds);

    print_row(name + ": forward", "", nanoseconds(race.time(forward)), "", "");
    print_gradient(race, (name + ": gradient, all stored").c_str(), "", gradient, forward,
                   text("%.1e", relative_error(every_row(p_cotangent, stride), exact.gradient)));
}

}  // namespace

int main() {
    print_heading(
        "Gradient and forward solve against the forward solve, Lorenz, Tsit5, one thread",
        "Time per lane and attempted step of the forward solve; ratio: to it. Gradient by "
        "y0, sigma, rho, beta.\nMedians of 21 interleaved rounds, 1,024 lanes.");
    const eddy::SolveOptions fixed{.t1 = 1, .dt0 = dt};
    compare_hand<double>("hand-written, 1,000 steps, fp64");
    compare_eddy<double>("eddy, 1,000 steps, fp64", fixed, eddy::ConstantController{});
    compare_hand<float>("hand-written, 1,000 steps, fp32");
    compare_eddy<float>("eddy, 1,000 steps, fp32", fixed, eddy::ConstantController{});
    compare_eddy<double>("eddy, rtol 1e-8, fp64", {.t1 = 1, .rtol = 1e-8, .atol = 1e-8},
                         eddy::PIDController{});
}
