#pragma once
// The residuals of one set of unknowns and their Jacobian, in the form that Eigen's
// LevenbergMarquardt asks for. The Jacobian is forward mode: one pushforward of six lanes, each the
// same trajectory with the tangent of another unknown.
//
// A trial step that cannot be integrated is answered with residuals so large that the optimiser
// turns back and takes a shorter one.

#include <Eigen/Core>
#include <cstdint>

#include "counts.hpp"
#include "ensemble.hpp"
#include "model.hpp"

namespace lynx_hare {

/// One lane or six on the calling thread, again and again in the same memory.
inline auto small_solver(const eddy::SolveOptions& options) {
    return eddy::ensemble_solver(LotkaVolterra{}, eddy::Tsit5{}, options, eddy::Cpu{.threads = 1},
                                 eddy::observe(LogCounts{}));
}

class LogResiduals {
  public:
    using Scalar = double;

    LogResiduals(const Counts& counts, double rtol);

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

    using Solver = decltype(small_solver({}));

    Eigen::ArrayXXd log_counts_;  // (year, species)
    Solver trajectory_, tangents_;
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
