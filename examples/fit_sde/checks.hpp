#pragma once
// Likelihoods that are known without simulation, to see what the simulated one is worth.

#include <vector>

#include "cox_ingersoll_ross.hpp"
#include "likelihood.hpp"

namespace short_rate {

struct Checks {
    Summit euler;                   ///< Euler's scheme with one step a quarter
    std::vector<double> gammas;     ///< the same with g fixed,
    std::vector<double> of_gammas;  ///< and its log likelihood
    CoxIngersollRossFit exact;      ///< the law with g = 1/2
    double simulated_at_exact = 0;  ///< log likelihood by simulation at that fit
};

[[nodiscard]] Checks check(const Rates& rates, int num_threads);

}  // namespace short_rate
