#pragma once
// The data: a rate at times a quarter apart.

#include <string>
#include <vector>

namespace short_rate {

struct Rates {
    std::vector<double> year, rate;  ///< the rate as a fraction a year, not per cent

    /// Years from one observation to the next.
    [[nodiscard]] double gap() const { return year[1] - year[0]; }
    [[nodiscard]] int num_transitions() const { return static_cast<int>(rate.size()) - 1; }
};

/// Columns year and rate, in per cent, of rows that are evenly spaced. Throws fitting::BadInput.
[[nodiscard]] Rates read_rates(const std::string& file);

}  // namespace short_rate
