#include "output_files.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "bad_input.hpp"
#include "shown_text.hpp"

namespace fitting {

namespace {

/// A folder inside the output folder, gone at the end with all that is left in it. Files are written
/// here and renamed into place: that never writes through a link, nor leaves a half of one.
class Workshop {
  public:
    Workshop(const std::filesystem::path& folder, const std::string& name)
        : path_((folder / ("." + name + ".XXXXXX")).string()) {
        if (mkdtemp(path_.data()) == nullptr) throw_unwritable(folder);
    }
    ~Workshop() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    [[nodiscard]] std::filesystem::path path() const { return path_; }

    void write(const std::string& file, const OutputFiles::Writer& writer) const {
        std::ofstream stream(path() / file);
        writer(stream);
        stream.close();
        if (!stream) throw_unwritable(path().parent_path() / file);
    }
    void deliver(const std::string& file) const {
        std::filesystem::rename(path() / file, path().parent_path() / file);
    }

  private:
    [[noreturn]] static void throw_unwritable(const std::filesystem::path& file) {
        throw std::runtime_error(file.string() + ": cannot be written; is there space?");
    }

    std::string path_;
};

/// Runs gnuplot on the files in the workshop.
bool draw_picture(const Workshop& workshop, const std::string& name) {
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(workshop.path());  // no other name passes through the shell
    // By a locale of UTF-8, as the files are: by that of a bare machine it warns.
    const bool is_drawn = std::system(("LC_ALL=C.UTF-8 gnuplot " + name + ".gp").c_str()) == 0;
    std::filesystem::current_path(here);
    return is_drawn && std::filesystem::exists(workshop.path() / (name + ".png"));
}

bool has_gnuplot() { return std::system("command -v gnuplot >/dev/null 2>&1") == 0; }

}  // namespace

OutputFiles::OutputFiles(const std::string& output_folder, const std::string& name,
                         const std::string& data_file)
    : folder_(output_folder), name_(name) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error || access(folder_.c_str(), W_OK) != 0) {
        throw BadInput("--output: the folder '" + shown(output_folder) +
                       "' cannot be written to; name another");
    }
    for (const char* ending : {".csv", ".gp", ".png"}) {
        const std::filesystem::path file = folder_ / (name_ + ending);
        const auto refuse = [&](const char* what) {
            throw BadInput("--output: '" + shown(file.string()) + "' is " + what +
                           " and would be replaced; name another folder");
        };
        const auto status = std::filesystem::symlink_status(file, error);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
            refuse(std::filesystem::is_symlink(status) ? "a link" : "no ordinary file");
        if (std::filesystem::equivalent(file, data_file, error)) refuse("the data");
    }
}

void OutputFiles::write(const Writer& write_csv, const Writer& write_script) const {
    const std::string csv = name_ + ".csv", script = name_ + ".gp", picture = name_ + ".png";
    const std::string folder = shown(folder_.string());
    std::fflush(stdout);
    const Workshop workshop(folder_, name_);
    workshop.write(csv, write_csv);
    workshop.write(script, write_script);
    const bool can_draw = has_gnuplot(), is_drawn = can_draw && draw_picture(workshop, name_);
    workshop.deliver(csv);
    workshop.deliver(script);
    if (is_drawn) workshop.deliver(picture);
    if (!can_draw) {
        std::printf(
            "files: %s and %s in %s\n"
            "  no picture, for there is no gnuplot: install gnuplot-nox, and run\n"
            "  gnuplot %s in that folder\n",
            csv.c_str(), script.c_str(), folder.c_str(), script.c_str());
        return;
    }
    const std::string drawn = is_drawn ? " and " + picture : "; no picture, for gnuplot failed;";
    std::printf("files: %s, %s%s in %s\n", csv.c_str(), script.c_str(), drawn.c_str(),
                folder.c_str());
}

}  // namespace fitting
