// Step-size controllers compared on whole solves with Tsit5: attempted steps per lane, the error at
// the end, and the steps that the error costs, attempts · error^(1/5), which is what counts where
// the error is given. Counts and errors, no times.
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>
#include <string>

#include "support/equations.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;

struct LotkaVolterra {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - y[0] * y[1], y[0] * y[1] - 3.0 * y[1]);
    }
};
struct VanDerPol {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]);
    }
};

constexpr int num_lanes = 64;
double sum_of_logs[3];  // of each controller's cost
int num_costs = 0;

/// Root mean square over the lanes of the error at the end, relative to 1 + |y|.
double error_of(const eddy::Solution<double>& solution, const eddy::Solution<double>& exact) {
    double sum = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (std::ptrdiff_t i = 0; i < exact.y().cols(); ++i) {
            const double y = exact.y()(lane, i);
            sum += std::pow((solution.y()(lane, i) - y) / (1 + std::fabs(y)), 2);
        }
    }
    return std::sqrt(sum / num_lanes);
}

template <class Field>
void compare(const char* name, const Field& field, const Array& y0, const Array& p, double t1) {
    const auto exact =
        eddy::solve(field, eddy::Tsit5{}, y0, p, {.t1 = t1, .rtol = 1e-13, .atol = 1e-13});
    const eddy::PIDController controllers[] = {eddy::i_controller(), eddy::pi_controller(),
                                               eddy::pid_controller()};
    constexpr const char* names[] = {"I", "PI (default)", "PID"};
    for (int c = 0; c < 3; ++c) {
        std::printf("%-16s %-14s", name, names[c]);
        for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
            const auto solution =
                eddy::solve(field, eddy::Tsit5{}, y0, p,
                            {.t1 = t1, .rtol = tolerance, .atol = tolerance}, controllers[c]);
            const auto stats = solution.total_stats();
            const double attempts =
                static_cast<double>(stats.accepted + stats.rejected) / num_lanes;
            const double error = error_of(solution, exact), cost = attempts * std::pow(error, 0.2);
            std::printf("  %6.1f %8.1e %7.3f", attempts, error, cost);
            sum_of_logs[c] += std::log(cost);
        }
        std::printf("\n");
    }
    num_costs += 3;
}

}  // namespace

int main() {
    std::printf("%-16s %-14s  attempts, error, cost at tolerances 1e-4, 1e-6, 1e-8\n", "", "");
    Array y0(num_lanes, 3), p(num_lanes, 3);
    for (int lane = 0; lane < num_lanes; ++lane) {
        y0(lane, 0) = 1;
        p(lane, 0) = 10;
        p(lane, 1) = 21. * lane / (num_lanes - 1);
        p(lane, 2) = 8. / 3;
    }
    compare("Lorenz, t = 1", support::Lorenz{}, y0, p, 1);
    for (int lane = 0; lane < num_lanes; ++lane) p(lane, 1) = 28 + 0.01 * lane;
    compare("Lorenz, t = 3", support::Lorenz{}, y0, p, 3);
    Array z0(num_lanes, 2, 1), q(num_lanes, 1);
    for (int lane = 0; lane < num_lanes; ++lane) q(lane, 0) = 1 + lane / 64.;
    compare("Lotka-Volterra", LotkaVolterra{}, z0, q, 20);
    for (int lane = 0; lane < num_lanes; ++lane) {
        z0(lane, 0) = 2;
        z0(lane, 1) = 0;
        q(lane, 0) = std::pow(30., lane / 63.);
    }
    compare("Van der Pol", VanDerPol{}, z0, q, 20);
    std::printf("cost against the default, geometric mean: I %.3f, PID %.3f\n",
                std::exp((sum_of_logs[0] - sum_of_logs[1]) / num_costs),
                std::exp((sum_of_logs[2] - sum_of_logs[1]) / num_costs));
}
