#pragma once
// The residuals of one set of unknowns and their Jacobian, in the form that Eigen's
// LevenbergMarquardt asks for. The Jacobian is forward mode: one pushforward of six lanes, each the
// same trajectory with the tangent of another unknown.
//
// A trial step that cannot be integrated is answered with residuals so large that the optimiser
// turns back and takes a shorter one.

#include <Eigen/Core>
#include <cstdint>
#include <memory>

#include "counts.hpp"
#include "ensemble.hpp"

namespace lynx_hare {

class LogResiduals {
  public:
    using Scalar = double;

    LogResiduals(const Counts& counts, double rtol);
    ~LogResiduals();

    [[nodiscard]] int values() const { return static_cast<int>(log_counts_.size()); }

    /// The residuals: hare and lynx of the first year, of the second, and so on.
    int operator()(const Eigen::VectorXd& unknowns, Eigen::VectorXd& residuals);

    /// jacobian(residual, unknown). Negative where there is no trajectory to differentiate.
    int df(const Eigen::VectorXd& unknowns, Eigen::MatrixXd& jacobian);

    [[nodiscard]] std::int64_t num_solves() const { return num_solves_; }
    [[nodiscard]] std::int64_t num_jacobians() const { return num_jacobians_; }
    /// Of all solves so far, summed over their lanes.
    [[nodiscard]] eddy::LaneStats steps() const { return steps_; }

  private:
    void count_steps(const eddy::Outcomes& outcomes);

    struct Solvers;  // compiled in one source, of all that ask for residuals

    Eigen::ArrayXXd log_counts_;  // (year, species)
    std::unique_ptr<Solvers> solvers_;
    std::int64_t num_solves_ = 0, num_jacobians_ = 0;
    eddy::LaneStats steps_;
};

/// Residuals and Jacobian at one place; the Jacobian is NaN where there is no trajectory.
struct Linearised {
    Eigen::VectorXd residuals;
    Eigen::MatrixXd jacobian;

    Linearised(LogResiduals& function, const Eigen::VectorXd& unknowns);

    /// Of the sum of squares.
    [[nodiscard]] Eigen::VectorXd gradient() const { return 2 * jacobian.transpose() * residuals; }
};

}  // namespace lynx_hare
