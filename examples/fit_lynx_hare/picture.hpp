#pragma once
// The files that are left: the curves as a CSV, a gnuplot script, and the picture that it makes.

#include <filesystem>
#include <string>

#include "confidence.hpp"
#include "counts.hpp"
#include "estimate.hpp"

namespace lynx_hare {

/// The files, in a folder that exists and can be written to. They must not replace the data.
struct OutputFiles {
    std::filesystem::path folder;

    /// Makes the folder. Throws BadInput where it cannot be used.
    OutputFiles(const std::string& output_folder, const std::string& counts_file);

    [[nodiscard]] std::filesystem::path curves() const { return folder / "lynx_hare.csv"; }
    [[nodiscard]] std::filesystem::path script() const { return folder / "lynx_hare.gp"; }
    [[nodiscard]] std::filesystem::path picture() const { return folder / "lynx_hare.png"; }
};

/// Writes the fit and its band, a row per point of the grid.
void write_curves(const OutputFiles& files, const Band& band);

/// Writes the script and runs gnuplot; says so where there is none.
void draw_picture(const OutputFiles& files, const Counts& counts, const Estimate& estimate);

}  // namespace lynx_hare
