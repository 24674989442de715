#pragma once
// The data: counts of hares and lynxes over the years, from a CSV file that people wrote. Whatever
// is wrong with the file is told as "file:line: what we got; what to do", before any work.

#include <stdexcept>
#include <string>
#include <vector>

namespace lynx_hare {

/// What the user gave cannot be used. The message says what it is and what to do.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One row per year. Years ascend; counts are finite and positive.
struct Counts {
    std::vector<double> year, hare, lynx;

    [[nodiscard]] int num_rows() const { return static_cast<int>(year.size()); }
};

/// Reads a CSV whose header names the columns year, hare and lynx, in any order and among others.
/// Blank lines and lines that start with # are passed over. Throws BadInput, also for a file that
/// cannot be read to its end, of more than 1 MiB or 1,000 rows.
[[nodiscard]] Counts read_counts(const std::string& file);

}  // namespace lynx_hare
