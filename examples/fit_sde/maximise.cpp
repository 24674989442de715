#include "maximise.hpp"

#include <algorithm>
#include <cmath>

namespace short_rate {

namespace {

/// A step along `direction` that rises enough; of length 0 where there is none.
double rising_step(const Function& function, const Eigen::VectorXd& at, const Height& here,
                   const Eigen::VectorXd& direction, Height& there) {
    const double slope = here.gradient.dot(direction);
    double length = 1;
    for (int halving = 0; halving < 30; ++halving, length /= 2) {
        there = function(at + length * direction);
        if (std::isfinite(there.value) && there.gradient.allFinite() &&
            there.value >= here.value + 1e-4 * length * slope)
            return length;
    }
    return 0;
}

/// No coordinate moves by more than some of its scales.
Eigen::VectorXd bounded(const Eigen::VectorXd& step, const Eigen::VectorXd& scale) {
    constexpr double most_scales = 5;
    const double scales = (step.array() / scale.array()).abs().maxCoeff();
    return scales > most_scales ? Eigen::VectorXd(step * (most_scales / scales)) : step;
}

}  // namespace

Summit maximise(const Function& function, const Eigen::VectorXd& start,
                const Eigen::VectorXd& scale, double least_slope, int most_steps) {
    Summit summit{start, 0, scale.array().square().matrix().asDiagonal(), false};
    Eigen::MatrixXd& inverse = summit.inverse_curvature;
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(start.size(), start.size());
    Height here = function(start);
    for (int step = 0; step < most_steps && here.gradient.allFinite(); ++step) {
        summit.is_optimum = (here.gradient.array() * scale.array()).abs().maxCoeff() < least_slope;
        if (summit.is_optimum) break;
        const Eigen::VectorXd direction = bounded(inverse * here.gradient, scale);
        Height there;
        const double length = rising_step(function, summit.at, here, direction, there);
        if (length == 0) break;
        const Eigen::VectorXd moved = length * direction, fell = here.gradient - there.gradient;
        const double curvature = moved.dot(fell);
        if (curvature > 1e-12 * moved.norm() * fell.norm()) {
            const Eigen::MatrixXd turn = identity - moved * fell.transpose() / curvature;
            inverse = turn * inverse * turn.transpose() + moved * moved.transpose() / curvature;
        }
        summit.at += moved;
        here = there;
    }
    summit.value = here.value;
    return summit;
}

Height with_differences(const std::function<double(const Eigen::VectorXd&)>& value,
                        const Eigen::VectorXd& at, double step) {
    Height height{value(at), Eigen::VectorXd(at.size())};
    for (Eigen::Index i = 0; i < at.size(); ++i) {
        Eigen::VectorXd up = at, down = at;
        up[i] += step;
        down[i] -= step;
        height.gradient[i] = (value(up) - value(down)) / (2 * step);
    }
    return height;
}

}  // namespace short_rate
