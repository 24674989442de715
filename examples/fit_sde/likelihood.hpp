#pragma once
// The likelihood of the data by simulation. Each transition from one observation to the next is a
// lane of many paths, by Euler's steps, which end one step before the next observation; the mean of
// the weighted density over the paths is that of the transition. With one step it is exactly that of
// Euler's scheme, which takes no path. The same paths serve all unknowns, so the function is smooth.

#include <eddy/eddy.hpp>

#include "maximise.hpp"
#include "model.hpp"
#include "rates.hpp"
#include "unknowns.hpp"

namespace short_rate {

struct Simulation {
    int steps = 8;   ///< from one observation to the next
    int paths = 64;  ///< to a transition; an even number
    int num_threads = 0;
};

class Likelihood {
  public:
    Likelihood(const Rates& rates, const Simulation& simulation);

    /// The logarithm of the likelihood; −∞ where no path comes near some observation.
    [[nodiscard]] double operator()(const Unknowns& unknowns);
    /// With its gradient, by reverse mode.
    [[nodiscard]] Height with_gradient(const Unknowns& unknowns);

  private:
    using Array = eddy::EnsembleArray<double>;
    void set(const Unknowns& unknowns);

    Array start_, parameters_;  // (transition, component)
    eddy::EnsembleSolver<Bridge, eddy::EulerMaruyama, eddy::Observed<WeightedDensity>, eddy::Cpu>
        solver_;
    eddy::GradientSolver<Bridge, eddy::EulerMaruyama, WeightedDensity, eddy::Cpu> gradient_solver_;
};

/// Standard errors of the unknowns at an optimum: minus the inverse of the Hessian, by central
/// differences of the gradient. NaN where it is none.
[[nodiscard]] Eigen::VectorXd standard_errors(Likelihood& likelihood, const Unknowns& at);

}  // namespace short_rate
