// Lorenz by Tsit5 with 1,000 steps of 1e-3, in one thread, against the machine's limit of fused
// multiply-adds and against vector code written by hand.

#include <algorithm>
#include <eddy/solvers/tsit5.hpp>

#include "hand_vectors.hpp"
#include "lorenz_lanes.hpp"
#include "matched_error.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr std::ptrdiff_t num_lanes = 1 << 12, stride = 16;
constexpr int num_steps = 1000;
constexpr double dt = 1e-3;

/// The hand-written arm, ready to start again.
template <class Real>
struct HandArm {
    const LorenzLanes<Real>& lanes;
    eddy::EnsembleArray<Real> y = lanes.y0;

    void operator()() {
        std::copy(lanes.y0.data(), lanes.y0.data() + 3 * num_lanes, y.data());
        hand_steps<Real>({y.data(), lanes.p.data() + num_lanes, num_lanes}, num_steps, dt);
    }
};

template <class Real>
void compare(const char* precision) {
    const LorenzLanes<Real> lanes(num_lanes);
    const auto exact = reference(num_lanes, stride);
    eddy::SolveOptions options{.t1 = 1, .dt0 = dt};
    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options,
                                        eddy::ConstantController{}, eddy::Cpu{.threads = 1});
    HandArm<Real> by_hand{lanes};
    constexpr std::int64_t rounds = 20'000;
    constexpr double fma_lanes =
        static_cast<double>(rounds) * num_fma_chains * eddy::native_lanes<Real>;

    Race race;
    const int fma = race.add(fma_lanes / fma_of_step,
                             [&] { kept = run_fma_chains<Real>(rounds, Real(0.99), Real(0.1)); });
    const int hand = race.add(static_cast<double>(num_lanes) * num_steps, [&] { by_hand(); });
    const int ours = race.add(static_cast<double>(num_lanes) * num_steps,
                              [&] { kept = solver(lanes.y0, lanes.p).y()(0, 0); });
    race.run(41);

    const auto& solution = solver(lanes.y0, lanes.p);
    const auto print = [&](const char* name, const char* goal, int arm, double error) {
        print_row(text("%s, %s", name, precision), goal, nanoseconds(race.time(arm)),
                  text("%.1f %%", 100 * race.ratio(fma, arm)),
                  error < 0 ? "" : text("%.1e", error));
    };
    print("limit: 87 multiply-adds", "", fma, -1);
    print("hand-written vectors", "", hand, relative_error(every_row(by_hand.y, stride), exact.y));
    print("eddy", ">= 90 %", ours, relative_error(every_row(solution.y(), stride), exact.y));
}

}  // namespace

int main() {
    print_heading("Lorenz, Tsit5, 1,000 steps of 1e-3, one thread",
                  "Time per lane and step; ratio: of the limit. Medians of 41 interleaved rounds, "
                  "4,096 lanes.");
    compare<double>("fp64");
    compare<float>("fp32");
}
