#include "checks.hpp"

namespace short_rate {

namespace {

Unknowns usual_start(double gamma) {
    Unknowns start(num_unknowns);
    start << 1e-3, -0.02, std::log(0.1) - gamma * std::log(0.05), gamma;
    return start;
}

/// Where g stays as it is.
Height with_fixed_gamma(Likelihood& likelihood, const Eigen::VectorXd& at) {
    Height height = likelihood.with_gradient(at);
    height.gradient[3] = 0;
    return height;
}

}  // namespace

Checks check(const Rates& rates, int num_threads) {
    Likelihood euler(rates, {.steps = 1, .num_threads = num_threads});
    Checks checks;
    const auto height = [&](const Eigen::VectorXd& at) { return euler.with_gradient(at); };
    checks.euler = maximise(height, usual_start(0.7), typical_errors(), 1e-6);
    const auto fixed = [&](const Eigen::VectorXd& at) { return with_fixed_gamma(euler, at); };
    for (const double gamma : {0., 0.5, 1., 1.5}) {
        checks.gammas.push_back(gamma);
        checks.of_gammas.push_back(
            maximise(fixed, usual_start(gamma), typical_errors(), 1e-6).value);
    }
    checks.exact = fit_cox_ingersoll_ross(rates);
    Likelihood fine(rates, {.steps = 32, .paths = 1024, .num_threads = num_threads});
    checks.simulated_at_exact = fine(checks.exact.model.as_unknowns());
    return checks;
}

}  // namespace short_rate
