#include "counts.hpp"

#include "fitting/table.hpp"

namespace lynx_hare {

Counts read_counts(const std::string& file) {
    // Two residuals a row against six unknowns, and some left to estimate their variance.
    const auto columns = fitting::read_table(
        file, {.columns = {"year", "hare", "lynx"},
               .contents = "counts",
               .num_unknowns = "six",
               .fewest_rows = 4,
               .above_zero = "counts must be above zero, for their logarithms are fitted"});
    return {columns[0], columns[1], columns[2]};
}

}  // namespace lynx_hare
