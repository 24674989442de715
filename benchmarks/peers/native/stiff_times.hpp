#pragma once
// When the stiff cases end; arms/kinetics.py has the same for Python.

#include <string>

namespace peers {

[[nodiscard]] inline bool is_stiff(const std::string& problem) {
    return problem == "robertson" || problem == "hires" || problem == "pollution";
}

/// A gradient of Robertson's reactions ends while the adjoint of others still has digits.
[[nodiscard]] inline double stiff_end_time(const std::string& problem, const std::string& task) {
    if (problem == "robertson") return task == "gradient" ? 40 : 1e11;
    return problem == "hires" ? 321.8122 : 60;
}

}  // namespace peers
