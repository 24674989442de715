#include "curvature.hpp"

#include <cmath>
#include <numbers>

#include "trajectories.hpp"
#include "unknowns.hpp"

namespace kinetics {

Curvature curvature(const Measurements& measured, const Eigen::VectorXd& unknowns, double rtol) {
    const Eigen::ArrayXXd lanes = unknowns.transpose().replicate<num_unknowns, 1>();
    const Eigen::ArrayXXd p = (std::numbers::ln10 * lanes).exp();
    const Eigen::ArrayXXd each = Eigen::MatrixXd::Identity(num_unknowns, num_unknowns);
    const Eigen::ArrayXXd by_logarithm = std::numbers::ln10 * p, y0 = first_state(num_unknowns);
    std::vector<Eigen::ArrayXXd> data;
    for (int k = 0; k < measured.num_times(); ++k) data.push_back(measured.values.row(k));

    const auto result = eddy::hessian_vector_product(
        Stat5Dimerization{}, eddy::Rodas5P{}, NegativeLogLikelihood{}, data, y0, p,
        Eigen::ArrayXXd::Zero(y0.rows(), y0.cols()).eval(), (by_logarithm * each).eval(),
        options_at(measured.minutes, rtol), eddy::Cpu{.threads = 1});
    const Eigen::ArrayXXd gradient = result.gradient.p, product = result.product.p;

    Curvature at;
    at.value = result.loss(0);
    at.gradient = (by_logarithm * gradient).row(0).matrix().transpose();
    at.hessian = (by_logarithm * product).matrix().transpose();
    at.hessian.diagonal() += std::numbers::ln10 * at.gradient;  // for 10^x is curved itself
    if (!result.report.success()) at.hessian.setConstant(std::nan(""));
    return at;
}

}  // namespace kinetics
