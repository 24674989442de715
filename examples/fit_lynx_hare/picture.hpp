#pragma once
// The files that are left: the curves as a CSV, a gnuplot script, and the picture that it makes.

#include <filesystem>
#include <string>

#include "confidence.hpp"
#include "counts.hpp"
#include "estimate.hpp"

namespace lynx_hare {

/// Where the files go: a folder that exists and can be written to.
struct OutputFiles {
    std::filesystem::path folder;

    /// Makes the folder. Throws BadInput where it cannot be used, and where a file would replace the
    /// data, or something that is not an ordinary file, such as a symbolic link.
    OutputFiles(const std::string& output_folder, const std::string& counts_file);
};

/// Writes the fit and its band, a row per point of the grid, and the script, and runs gnuplot; says
/// so where there is none. Each file is whole before it gets its name.
void write_files(const OutputFiles& files, const Counts& counts, const Estimate& estimate,
                 const Band& band);

}  // namespace lynx_hare
