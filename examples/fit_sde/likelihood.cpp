#include "likelihood.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

namespace short_rate {

namespace {

eddy::SolveOptions options_of(const Rates& rates, const Simulation& simulation) {
    const double step = rates.gap() / simulation.steps;
    eddy::SolveOptions options{.t1 = (simulation.steps - 1) * step, .dt0 = step, .seed = 1};
    options.paths = simulation.steps > 1 ? simulation.paths : 1;
    options.antithetic = true;
    return options;
}

}  // namespace

Likelihood::Likelihood(const Rates& rates, const Simulation& simulation)
    : start_(rates.num_transitions(), Bridge::state_size),
      parameters_(rates.num_transitions(), Bridge::parameter_size),
      solver_(options_of(rates, simulation), {}, eddy::Cpu{.threads = simulation.num_threads}),
      gradient_solver_(options_of(rates, simulation),
                       eddy::Cpu{.threads = simulation.num_threads}) {
    for (int k = 0; k < rates.num_transitions(); ++k) {
        const auto row = static_cast<std::size_t>(k);
        start_(k, 0) = rates.rate[row];
        parameters_(k, 4) = rates.rate[row + 1];
        parameters_(k, 5) = rates.gap();
        parameters_(k, 6) = rates.gap() / simulation.steps;
    }
}

void Likelihood::set(const Unknowns& unknowns) {
    for (int i = 0; i < num_unknowns; ++i) {
        for (std::ptrdiff_t k = 0; k < parameters_.rows(); ++k) parameters_(k, i) = unknowns[i];
    }
}

double Likelihood::operator()(const Unknowns& unknowns) {
    set(unknowns);
    const auto& solution = solver_(start_, parameters_);
    double sum = 0;
    for (std::ptrdiff_t k = 0; k < start_.rows(); ++k)
        sum += std::log(solution.num_paths() > 1 ? solution.mean()(k, 0) : solution.y()(k, 0));
    return std::isnan(sum) ? -std::numeric_limits<double>::infinity() : sum;
}

Height Likelihood::with_gradient(const Unknowns& unknowns) {
    set(unknowns);
    const auto& found = gradient_solver_(start_, parameters_);
    Height height{0, Eigen::VectorXd::Zero(num_unknowns)};
    for (std::ptrdiff_t k = 0; k < start_.rows(); ++k) {
        const double density = found.loss(k);
        height.value += std::log(density);
        for (int i = 0; i < num_unknowns; ++i)
            height.gradient[i] += found.gradient.p(k, i) / density;
    }
    return height;
}

Eigen::VectorXd standard_errors(Likelihood& likelihood, const Unknowns& at) {
    const Unknowns scale = typical_errors();
    Eigen::MatrixXd hessian(num_unknowns, num_unknowns);
    for (int i = 0; i < num_unknowns; ++i) {
        Unknowns up = at, down = at;
        const double step = 1e-3 * scale[i];
        up[i] += step;
        down[i] -= step;
        hessian.col(i) =
            (likelihood.with_gradient(up).gradient - likelihood.with_gradient(down).gradient) /
            (2 * step);
    }
    const Eigen::MatrixXd symmetric = (hessian + hessian.transpose()) / 2;
    return (-symmetric).inverse().diagonal().array().sqrt();
}

}  // namespace short_rate
