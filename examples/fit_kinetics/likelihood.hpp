#pragma once
// Many sets of rates at once, a lane each: how likely each makes the measurements, with the best
// standard deviations, and how that changes with every rate.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "measurements.hpp"
#include "unknowns.hpp"

namespace kinetics {

/// The negative log-likelihood of one set of rates, with the best standard deviations; its gradient
/// with respect to the rates' logarithms, and the Hessian of Gauss and Newton.
struct LocalModel {
    double value = 0;
    Rates gradient{};
    Eigen::Matrix<double, num_rates, num_rates> hessian{};
};

class Likelihood {
  public:
    Likelihood(const Measurements& data, int num_threads, double rtol);
    ~Likelihood();

    /// One number a lane; infinite where there is no trajectory.
    [[nodiscard]] Eigen::ArrayXd values(const RatesArray& rates);
    /// By forward mode: six lanes for each set of rates. Values are infinite where one has failed.
    [[nodiscard]] std::vector<LocalModel> models(const RatesArray& rates);

    /// The best standard deviations for one set of rates.
    [[nodiscard]] Eigen::Array3d deviations(const Rates& rates);
    /// The observables over time, (time, observable).
    [[nodiscard]] Eigen::ArrayXXd curves(const Rates& rates,
                                         const std::vector<double>& minutes) const;

    /// Steps of all trajectories so far.
    [[nodiscard]] std::int64_t num_accepted() const;
    [[nodiscard]] std::int64_t num_rejected() const;
    [[nodiscard]] std::int64_t num_trajectories() const;
    [[nodiscard]] std::int64_t num_tangents() const;

  private:
    struct Solvers;
    std::unique_ptr<Solvers> solvers_;
};

}  // namespace kinetics
