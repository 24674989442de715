#pragma once
// Uphill to the next optimum of a smooth function.

#include <Eigen/Core>
#include <functional>

namespace short_rate {

/// A function at a point, with its gradient; not finite where it has none.
struct Height {
    double value = 0;
    Eigen::VectorXd gradient;
};
using Function = std::function<Height(const Eigen::VectorXd&)>;

struct Summit {
    Eigen::VectorXd at;
    double value = 0;
    Eigen::MatrixXd inverse_curvature;  ///< the method's idea of it
    bool is_optimum = false;            ///< else the search gave up
};

/// The method of Broyden, Fletcher, Goldfarb and Shanno (Nocedal & Wright 2006, Numerical
/// Optimization, ch. 6) with steps halved until they rise. `scale` is what a first step may move
/// each coordinate by, and the measure of slopes: at an optimum none is above `least_slope` a scale.
[[nodiscard]] Summit maximise(const Function& function, const Eigen::VectorXd& start,
                              const Eigen::VectorXd& scale, double least_slope,
                              int most_steps = 100);

/// The gradient of `value` by central differences of `step`.
[[nodiscard]] Height with_differences(const std::function<double(const Eigen::VectorXd&)>& value,
                                      const Eigen::VectorXd& at, double step);

}  // namespace short_rate
