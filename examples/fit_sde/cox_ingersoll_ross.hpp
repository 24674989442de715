#pragma once
// The model with g = 1/2, whose transitions have a known law: dr = k (m − r) dt + s √r dW.

#include "maximise.hpp"
#include "rates.hpp"
#include "unknowns.hpp"

namespace short_rate {

struct CoxIngersollRoss {
    double speed = 0, mean = 0, sigma = 0;  ///< k, m, s

    [[nodiscard]] Unknowns as_unknowns() const;
};

/// The logarithm of the exact likelihood (Cox, Ingersoll & Ross 1985, Econometrica 53, 385, eq. 18).
[[nodiscard]] double log_likelihood(const Rates& rates, const CoxIngersollRoss& model);

struct CoxIngersollRossFit {
    CoxIngersollRoss model;
    double log_likelihood = 0;
};
[[nodiscard]] CoxIngersollRossFit fit_cox_ingersoll_ross(const Rates& rates);

}  // namespace short_rate
