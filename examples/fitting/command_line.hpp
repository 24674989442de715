#pragma once
// What the user asks for on the command line.

#include <string>
#include <vector>

namespace fitting {

struct Request {
    std::string data_file{};
    std::string output_folder = ".";
    int num_starts = 4096;
    int num_threads = 0;  ///< 0: one per core
    bool help = false;
};

/// The data file, --output, --starts, --quick, --threads and --help. Throws BadInput for what it does
/// not know. `default_file` is read where no file is named.
[[nodiscard]] Request parse(const std::vector<std::string>& arguments,
                            const std::string& default_file);

}  // namespace fitting
