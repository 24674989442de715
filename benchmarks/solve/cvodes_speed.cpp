// The gradient of adaptive Lorenz by its parameters, 2^15 lanes, one thread, against the adjoint of
// CVODES at the same achieved error of the gradient.

#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <memory>
#include <vector>

#include "lorenz_lanes.hpp"
#include "matched_error.hpp"
#include "peers.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr std::ptrdiff_t num_lanes = 1 << 15;
constexpr std::ptrdiff_t stride = 512;  // between the lanes that CVODES is given
constexpr int num_rounds = 11;

std::vector<double> gradient_by_cvodes(CvodesAdjoint& adjoint) {
    std::vector<double> values;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; lane += stride) {
        const State gradient = adjoint.gradient({1, 0, 0}, {10, rho_of(lane, num_lanes), 8. / 3});
        values.insert(values.end(), gradient.begin(), gradient.end());
    }
    return values;
}

struct Tuned {
    CvodesAdjoint::Choices choices;
    double tolerance, error;
};

std::string name_of(const Tuned& tuned) {
    const bool adams = tuned.choices.method == CvodesAdjoint::Method::adams;
    const bool hermite = tuned.choices.interpolation == CvodesAdjoint::Interpolation::hermite;
    return text("CVODES, %s, %s, %.0e / %.0e", adams ? "Adams" : "BDF",
                hermite ? "Hermite" : "polynomial", tuned.tolerance,
                tuned.tolerance * tuned.choices.backward_factor);
}

/// All choices, each with the largest tolerance that keeps to the error `target`; those that do not
/// reach it are left out.
std::vector<Tuned> tune(double target, const std::vector<double>& exact) {
    std::vector<Tuned> tuned;
    for (const auto method : {CvodesAdjoint::Method::adams, CvodesAdjoint::Method::bdf}) {
        for (const auto interpolation :
             {CvodesAdjoint::Interpolation::hermite, CvodesAdjoint::Interpolation::polynomial}) {
            for (const double factor : {0.1, 1., 10., 100.}) {
                const CvodesAdjoint::Choices choices{method, interpolation, factor};
                const auto error_of = [&](double tolerance) {
                    CvodesAdjoint adjoint(choices, tolerance);
                    return relative_error(gradient_by_cvodes(adjoint), exact);
                };
                const double tolerance = tolerance_for(target, error_of);
                const double error = error_of(tolerance);
                if (error <= target) tuned.push_back({choices, tolerance, error});
            }
        }
    }
    return tuned;
}

/// The fastest of them, in a race of its own.
Tuned fastest(const std::vector<Tuned>& tuned) {
    std::vector<std::unique_ptr<CvodesAdjoint>> adjoints;
    Race race;
    for (const Tuned& one : tuned) {
        adjoints.push_back(std::make_unique<CvodesAdjoint>(one.choices, one.tolerance));
        CvodesAdjoint& adjoint = *adjoints.back();
        race.add(1, [&adjoint] { kept = gradient_by_cvodes(adjoint)[0]; });
    }
    race.run(5);
    int best = 0;
    for (int arm = 1; arm < static_cast<int>(tuned.size()); ++arm) {
        if (race.time(arm) < race.time(best)) best = arm;
    }
    return tuned.at(static_cast<std::size_t>(best));
}

/// Prints what eddy takes beside CVODES tuned to eddy's error.
template <class Method>
void compare(const char* name, const std::vector<double>& exact) {
    const LorenzLanes<double> lanes(num_lanes);
    const eddy::EnsembleArray<double> no_data(1, 3);
    auto solver =
        eddy::gradient_solver(Lorenz{}, Method{}, SquaredNorm{},
                              {.t1 = 1, .rtol = 1e-8, .atol = 1e-8}, eddy::Cpu{.threads = 1});
    const auto& result = solver(no_data, lanes.y0, lanes.p);
    const double error = relative_error(every_row(result.gradient.p, stride), exact);
    const auto stats = result.report.total_stats();

    Race race;
    const int ours =
        race.add(num_lanes, [&] { kept = solver(no_data, lanes.y0, lanes.p).loss.total; });
    std::string ratio;
    if (has_cvodes) {
        const Tuned tuned = fastest(tune(error, exact));
        CvodesAdjoint adjoint(tuned.choices, tuned.tolerance);
        const int peer = race.add(static_cast<double>(num_lanes / stride),
                                  [&] { kept = gradient_by_cvodes(adjoint)[0]; });
        race.run(num_rounds);
        print_row(name_of(tuned), "", nanoseconds(race.time(peer)), "", text("%.2e", tuned.error));
        ratio = text("%.0f", race.ratio(peer, ours));
    } else {
        race.run(num_rounds);
    }
    print_row(text("eddy, %s, rtol = atol = 1e-8", name), ">= 100", nanoseconds(race.time(ours)),
              ratio, error_and_steps(error, stats, num_lanes));
}

}  // namespace

int main() {
    print_heading(
        "Gradient of adaptive Lorenz by sigma, rho, beta, fp64, one thread, against CVODES",
        "Time per lane; ratio: CVODES' to eddy's at the same achieved error of the gradient. "
        "eddy: 32,768 lanes, with the gradient of y0;\nCVODES: 64 of them, the fastest of its "
        "methods, interpolations and ratios of tolerances, memory used again.\nMedians of "
        "11 interleaved rounds.");
    if (!has_cvodes) std::puts("SUNDIALS is not installed (libsundials-dev): eddy alone");
    const auto exact = reference(num_lanes, stride).gradient;
    compare<eddy::Tsit5>("Tsit5", exact);
    compare<eddy::Dopri5>("Dopri5", exact);
}
