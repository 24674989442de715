#pragma once
// The data: columns of numbers over an ascending first one, from a CSV file that people wrote.
// Whatever is wrong with the file is told as "file:line: what we got; what to do", before any work.

#include <string>
#include <vector>

namespace fitting {

/// What a file must hold, in the words of its complaints.
struct TableForm {
    std::vector<std::string> columns;  ///< the first ascends; they may stand in any order
    std::string contents;              ///< "counts"
    std::string num_unknowns;          ///< "six"
    int fewest_rows = 1;               ///< that the unknowns take
    std::string above_zero{};          ///< why the others must be positive; empty: they need not be
};

/// The columns of the form, in its order. They lie in a CSV whose header names them, in any order and
/// among others. Blank lines and lines that start with # are passed over. Throws BadInput, also for a
/// file that cannot be read to its end, of more than 1 MiB or 1,000 rows.
[[nodiscard]] std::vector<std::vector<double>> read_table(const std::string& file,
                                                          const TableForm& form);

}  // namespace fitting
