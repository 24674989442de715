#pragma once
// The data: counts of hares and lynxes over the years, from a CSV file that people wrote.

#include <string>
#include <vector>

namespace lynx_hare {

/// One row per year. Years ascend; counts are finite and positive.
struct Counts {
    std::vector<double> year, hare, lynx;

    [[nodiscard]] int num_rows() const { return static_cast<int>(year.size()); }
};

/// Reads a CSV whose header names the columns year, hare and lynx: see fitting/table.hpp.
[[nodiscard]] Counts read_counts(const std::string& file);

}  // namespace lynx_hare
