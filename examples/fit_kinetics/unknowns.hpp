#pragma once
// The nine unknowns, as decimal logarithms: they may lie anywhere within ten decades.

#include <Eigen/Core>

namespace kinetics {

inline constexpr int num_unknowns = 9, num_rates = 6;
inline constexpr const char* unknown_names[num_unknowns] = {
    "epo_degradation", "k_exp_hetero", "k_exp_homo", "k_imp_hetero", "k_imp_homo",
    "k_phos",          "sd_pSTAT5A",   "sd_pSTAT5B", "sd_rSTAT5A"};

/// Bounds of every logarithm.
inline constexpr double lowest = -5, highest = 5;

/// Logarithms of the rates alone, of one lane and of many, (lane, rate). For given rates the best
/// standard deviations are the root mean squares of the residuals, so that no search is needed for
/// them.
using Rates = Eigen::Matrix<double, num_rates, 1>;
using RatesArray = Eigen::Array<double, Eigen::Dynamic, num_rates>;

}  // namespace kinetics
