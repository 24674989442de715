// What noise costs: geometric Brownian motion by Euler-Maruyama in one thread, double precision, as
// eddy solves it and as a loop written by hand draws the same normals; its gradient with all states
// kept, and within 32 checkpoints.

#include <algorithm>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/spark.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr std::ptrdiff_t num_paths = 1 << 12;
constexpr int num_steps = 256, num_rounds = 21;
constexpr double mu = 0.05, sigma = 0.4;

struct Geometric {
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};
/// Three components, each with a noise of its own.
struct Three {
    static constexpr int state_size = 3, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const { return p[0] * y; }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const { return p[1] * y; }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

/// The same normals by hand: four steps a block, three packs in turn.
double by_hand(const eddy::SolveOptions& options) {
    using Pack = eddy::Pack<double, 8>;
    using Words = eddy::Pack<std::uint64_t, 8>;
    const eddy::PhiloxKey key(options.seed);
    const double h = options.dt0, root = std::sqrt(h);
    double sum = 0;
    for (std::ptrdiff_t first = 0; first < num_paths; first += 24) {
        Pack y[3];
        Words path[3];
        for (int chain = 0; chain < 3; ++chain) {
            y[chain] = Pack(1);
            for (int i = 0; i < 8; ++i)
                path[chain].set(i, static_cast<std::uint64_t>(first + 8 * chain + i));
        }
        for (std::uint64_t block = 0; block < num_steps / 4; ++block) {
            for (int chain = 0; chain < 3; ++chain) {
                const auto normals = eddy::normals(eddy::philox(
                    eddy::PhiloxWords<Words>{{Words(0), Words(block), path[chain], Words(0)}},
                    key));
                for (const auto& z : normals.z)
                    y[chain] = mul_add(Pack(sigma * root) * Pack(z), y[chain],
                                       mul_add(Pack(mu * h), y[chain], y[chain]));
            }
        }
        for (int i = 0; i < 8; ++i) sum += y[0][i];
    }
    return sum;
}

template <class Field>
void compare(const std::string& name, int size, bool with_hand) {
    const eddy::EnsembleArray<double> y0(num_paths, size, 1.), p(num_paths, 2, 0.);
    eddy::EnsembleArray<double> parameters = p;
    for (std::ptrdiff_t lane = 0; lane < num_paths; ++lane) {
        parameters(lane, 0) = mu;
        parameters(lane, 1) = sigma;
    }
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / num_steps, .seed = 7};
    auto few = options;
    few.checkpoints = 32;
    const eddy::Cpu backend{.threads = 1};
    auto solver = eddy::ensemble_solver(Field{}, eddy::EulerMaruyama{}, options, backend);
    auto stored = eddy::gradient_solver(Field{}, eddy::EulerMaruyama{}, Square{}, options, backend);
    auto bounded = eddy::gradient_solver(Field{}, eddy::EulerMaruyama{}, Square{}, few, backend);
    const double work = static_cast<double>(num_paths) * num_steps;

    Race race;
    const int hand = with_hand ? race.add(work, [&] { kept = by_hand(options); }) : -1;
    const int forward = race.add(work, [&] { kept = solver(y0, parameters).y()(0, 0); });
    const int all = race.add(work, [&] { kept = stored(y0, parameters).loss.total; });
    const int some = race.add(work, [&] { kept = bounded(y0, parameters).loss.total; });
    race.run(num_rounds);

    if (with_hand) print_row(name + ": by hand", "", nanoseconds(race.time(hand)), "", "");
    print_row(name + ": forward", with_hand ? "1.2 ns" : "", nanoseconds(race.time(forward)),
              with_hand ? text("%.2f", race.ratio(forward, hand)) : "", "");
    print_row(name + ": gradient, all kept", "1.6", nanoseconds(race.time(all)),
              text("%.2f", race.ratio(all, forward)), "");
    print_row(name + ": gradient, 32 checkpoints", "3.2", nanoseconds(race.time(some)),
              text("%.2f", race.ratio(some, forward)), "");
}

}  // namespace

int main() {
    print_heading("Noise: Euler-Maruyama, double precision, a path and step",
                  "one thread, processor time, median of rounds in turn; ratios are to the forward "
                  "solve, of that to the loop by hand");
    compare<Geometric>("geometric Brownian motion", 1, true);
    compare<Three>("three of them", 3, false);
}
