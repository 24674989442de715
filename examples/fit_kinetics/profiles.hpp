#pragma once
// Profiles: how likely the measurements can still be made when one rate is held at a value of ours and
// all else is fitted again. A profile that stays flat belongs to a rate that they do not determine.

#include <limits>
#include <vector>

#include "estimate.hpp"

namespace kinetics {

struct Profile {
    std::vector<double> logarithm, value;  ///< ascending; the least negative log-likelihood there
    /// Where the profile rises above the least value by what a χ² of one degree of freedom passes in
    /// one case of twenty; infinite where it never does on that side of the range.
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

/// Half the 95 % quantile of χ² with one degree of freedom.
inline constexpr double rise_95 = 1.9207294;

/// One for each rate. Points are followed outwards from the best fit, both ways for all rates at once.
[[nodiscard]] std::vector<Profile> profiles(const Measurements& data, const Estimate& estimate,
                                            int num_threads);

}  // namespace kinetics
