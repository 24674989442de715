#pragma once
// The files that a fit leaves: NAME.csv, a gnuplot script NAME.gp, and the picture NAME.png that it
// draws from the first.

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

namespace fitting {

class OutputFiles {
  public:
    /// Makes the folder. Throws BadInput where it cannot be used, and where a file would replace the
    /// data, or something that is not an ordinary file, such as a symbolic link.
    OutputFiles(const std::string& output_folder, const std::string& name,
                const std::string& data_file);

    using Writer = std::function<void(std::ostream&)>;
    /// Writes both files and runs gnuplot; says so where there is none. Each file is whole before it
    /// gets its name.
    void write(const Writer& write_csv, const Writer& write_script) const;

  private:
    std::filesystem::path folder_;
    std::string name_;  // a plain word: it passes through the shell
};

}  // namespace fitting
