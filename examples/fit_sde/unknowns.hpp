#pragma once
// What is fitted: (a, b, log s, g) of dr = (a + b r) dt + s r^g dW.

#include <Eigen/Core>

namespace short_rate {

inline constexpr int num_unknowns = 4;
inline constexpr const char* unknown_names[num_unknowns] = {"a", "b", "sigma", "gamma"};

using Unknowns = Eigen::VectorXd;

/// By how much each may well be off: the search begins with steps of this size.
[[nodiscard]] inline Unknowns typical_errors() {
    Unknowns errors(num_unknowns);
    errors << 1e-3, 2e-2, 0.1, 0.05;
    return errors;
}

}  // namespace short_rate
