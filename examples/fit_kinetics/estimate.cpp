#include "estimate.hpp"

#include <Eigen/Cholesky>
#include <limits>
#include <vector>

#include "curvature.hpp"

namespace kinetics {

namespace {

constexpr double estimate_rtol = 1e-9;
constexpr SearchOptions to_the_end{.least_slope = 1e-6, .max_iterations = 500};

void set_standard_errors(Estimate& estimate, const Eigen::MatrixXd& hessian) {
    std::vector<int> inner;
    for (int i = 0; i < num_unknowns; ++i) {
        if (!estimate.is_at_bound[i]) inner.push_back(i);
    }
    estimate.standard_errors.setConstant(num_unknowns, std::numeric_limits<double>::infinity());
    const Eigen::MatrixXd of_inner = hessian(inner, inner);
    const Eigen::LLT<Eigen::MatrixXd> factors(of_inner);
    if (factors.info() != Eigen::Success) return;  // no minimum that could be told from a valley
    const Eigen::MatrixXd covariance =
        factors.solve(Eigen::MatrixXd::Identity(of_inner.rows(), of_inner.cols()));
    for (std::size_t k = 0; k < inner.size(); ++k) {
        const auto index = static_cast<Eigen::Index>(k);
        estimate.standard_errors[inner[k]] = std::sqrt(covariance(index, index));
    }
}

}  // namespace

Estimate polish(const Measurements& data, const Fit& nearly) {
    Likelihood likelihood(data, 1, estimate_rtol);
    const RatesArray start = nearly.rates.transpose();
    const Rates rates = minimise(likelihood, start, {Box{}}, to_the_end).front().rates;

    Estimate estimate;
    estimate.unknowns.resize(num_unknowns);
    estimate.unknowns << rates, likelihood.deviations(rates).log10().matrix();
    estimate.is_at_bound =
        estimate.unknowns.array() <= lowest || estimate.unknowns.array() >= highest;
    const Curvature at = curvature(data, estimate.unknowns, estimate_rtol);
    estimate.value = at.value;
    estimate.slope = estimate.is_at_bound.select(0., at.gradient.array().abs()).maxCoeff();
    set_standard_errors(estimate, at.hessian);
    return estimate;
}

Eigen::VectorXd published_unknowns() {
    // Benchmark-Models-PEtab (BSD 3-Clause), problem Boehm_JProteomeRes2014.
    Eigen::VectorXd values(num_unknowns);
    values << 0.026982514033029, 1.00067973851508e-5, 0.006170228086381, 0.0163679184468,
        97749.3794024716, 15766.5070195731, 3.85261197844677, 6.59147818673419, 3.15271275648527;
    return values.array().log10();
}

}  // namespace kinetics
