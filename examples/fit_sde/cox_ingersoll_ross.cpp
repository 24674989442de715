#include "cox_ingersoll_ross.hpp"

#include <cmath>

namespace short_rate {

namespace {

constexpr double most_terms = 1e5;  // on either side

/// The law of the next rate is a mixture of Gamma laws with weights of Poisson's: the density at v of
/// Σ_j Poisson(j; u) Gamma(v; q + 1 + j), from its largest term to both sides.
double log_mixture(double u, double v, double q) {
    const auto log_term = [&](double j) {
        return j * std::log(u) - u - std::lgamma(j + 1) + (q + j) * std::log(v) - v -
               std::lgamma(q + j + 1);
    };
    const double peak = std::floor(std::fmax(0, (std::sqrt(q * q + 4 * u * v) - q) / 2));
    const double largest = log_term(peak);
    // Where a term is no number the sums end, and the whole is none.
    double sum = 0;
    const auto add = [&](double j) {
        const double term = std::exp(log_term(j) - largest);
        sum += term;
        return term >= 1e-18;
    };
    for (double j = peak; j >= 0 && j > peak - most_terms && add(j);) --j;
    for (double j = peak + 1; j < peak + most_terms && add(j);) ++j;
    return largest + std::log(sum);
}

}  // namespace

Unknowns CoxIngersollRoss::as_unknowns() const {
    Unknowns unknowns(num_unknowns);
    unknowns << speed * mean, -speed, std::log(sigma), 0.5;
    return unknowns;
}

double log_likelihood(const Rates& rates, const CoxIngersollRoss& model) {
    const double decay = std::exp(-model.speed * rates.gap());
    const double variance = model.sigma * model.sigma;
    const double c = 2 * model.speed / (variance * (1 - decay));
    const double q = 2 * model.speed * model.mean / variance - 1;
    double sum = 0;
    for (std::size_t k = 0; k + 1 < rates.rate.size(); ++k)
        sum += std::log(c) + log_mixture(c * rates.rate[k] * decay, c * rates.rate[k + 1], q);
    return sum;
}

CoxIngersollRossFit fit_cox_ingersoll_ross(const Rates& rates) {
    const auto model_at = [](const Eigen::VectorXd& logarithms) {
        return CoxIngersollRoss{std::exp(logarithms[0]), std::exp(logarithms[1]),
                                std::exp(logarithms[2])};
    };
    const auto value = [&](const Eigen::VectorXd& logarithms) {
        return log_likelihood(rates, model_at(logarithms));
    };
    const Eigen::Vector3d start(std::log(0.1), std::log(0.05), std::log(0.1));
    const Summit summit =
        maximise([&](const Eigen::VectorXd& at) { return with_differences(value, at, 1e-5); },
                 start, Eigen::Vector3d(0.1, 0.1, 0.05), 1e-6);
    return {model_at(summit.at), summit.value};
}

}  // namespace short_rate
