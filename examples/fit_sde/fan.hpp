#pragma once
// Where the fitted model leads from the last observation: quantiles of many paths, and a few of them.

#include <Eigen/Core>
#include <vector>

#include "rates.hpp"
#include "unknowns.hpp"

namespace short_rate {

inline constexpr double fan_parts[] = {0.05, 0.25, 0.5, 0.75, 0.95};
inline constexpr int num_shown_paths = 5;

struct Fan {
    std::vector<double> year;
    Eigen::ArrayXXd quantiles;  ///< (year, part)
    Eigen::ArrayXXd paths;      ///< (year, path)
};

[[nodiscard]] Fan fan_of(const Rates& rates, const Unknowns& unknowns, double years);

}  // namespace short_rate
