#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace kinetics {

/// What was measured, and when: (time, observable), in per cent.
struct Measurements {
    std::vector<double> minutes;
    Eigen::ArrayXXd values{};

    [[nodiscard]] int num_times() const { return static_cast<int>(minutes.size()); }
};

/// Reads a CSV with the columns minutes, pSTAT5A_rel, pSTAT5B_rel and rSTAT5A_rel: see
/// fitting/table.hpp.
[[nodiscard]] Measurements read_measurements(const std::string& file);

}  // namespace kinetics
