#include "report.hpp"

#include <cmath>
#include <cstdio>

#include "../fitting/shown_text.hpp"

namespace short_rate {

void print_data(const Rates& rates, const std::string& file) {
    std::printf("data: %zu rates from %.2f to %.2f in %s\n", rates.rate.size(), rates.year.front(),
                rates.year.back(), fitting::shown(file).c_str());
    std::printf("model: dr = (a + b r) dt + sigma r^gamma dW, r a fraction a year\n");
}

void print_checks(const Checks& checks) {
    const Unknowns& euler = checks.euler.at;
    std::printf("likelihoods that need no path:\n");
    std::printf("  Euler's scheme, a step a quarter: log-likelihood %.4f\n", checks.euler.value);
    std::printf("    a %.6f, b %.5f, sigma %.5f, gamma %.5f\n", euler[0], euler[1],
                std::exp(euler[2]), euler[3]);
    for (std::size_t k = 0; k < checks.gammas.size(); ++k)
        std::printf("    with gamma = %.1f: %.2f\n", checks.gammas[k], checks.of_gammas[k]);
    const CoxIngersollRoss& exact = checks.exact.model;
    std::printf("  Cox, Ingersoll & Ross (gamma = 1/2), exact: log-likelihood %.4f\n",
                checks.exact.log_likelihood);
    std::printf("    speed %.6f, mean %.6f, sigma %.6f; there by simulation %.2f\n", exact.speed,
                exact.mean, exact.sigma, checks.simulated_at_exact);
}

void print_search(const Search& search, const Simulation& simulation) {
    std::printf("simulated likelihood, %d paths of %d steps to a quarter:\n", simulation.paths,
                simulation.steps);
    std::printf("  starts: %d in %.2f s, of which %d have a likelihood\n", search.num_starts,
                search.screening_seconds, search.num_possible);
    std::printf("  climbs: the best %zu in %.2f s, of which %d end within 0.01 of the best\n",
                search.summits.size(), search.climbing_seconds, search.num_within(0.01));
    if (search.num_left > 0) std::printf("  stopped before %d others\n", search.num_left);
}

void print_estimate(const Summit& best, const Eigen::VectorXd& errors,
                    const Simulation& simulation) {
    std::printf("fit with %d paths of %d steps: log-likelihood %.3f\n", simulation.paths,
                simulation.steps, best.value);
    const double sigma = std::exp(best.at[2]);
    for (int i = 0; i < num_unknowns; ++i)
        std::printf("  %-6s %10.6f  %.6f\n", unknown_names[i], i == 2 ? sigma : best.at[i],
                    i == 2 ? sigma * errors[i] : errors[i]);
}

}  // namespace short_rate
