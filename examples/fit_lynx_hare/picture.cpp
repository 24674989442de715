#include "picture.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "shown_text.hpp"

namespace lynx_hare {

namespace {

/// Everything but the data: what stands above and below it in the script.
constexpr const char* before_data = R"(# Draws lynx_hare.png from lynx_hare.csv, in this folder.
set terminal pngcairo size 1200,600 font 'sans,13' background '#ffffff'
set output 'lynx_hare.png'
set encoding utf8
set datafile separator ','
hare = '#1f77b4'
lynx = '#d62728'
$data << end_of_data
)";
constexpr const char* after_data = R"(set xlabel 'year'
set ylabel 'count'
set format y '%g'
set yrange [0:*]
set key top right
set grid ytics linecolor '#dddddd'
set border 3
set tics nomirror
plot 'lynx_hare.csv' using 'year':'hare_low':'hare_high' with filledcurves \
         fillcolor rgb hare fillstyle transparent solid 0.2 noborder notitle, \
     '' using 'year':'lynx_low':'lynx_high' with filledcurves \
         fillcolor rgb lynx fillstyle transparent solid 0.2 noborder notitle, \
     '' using 'year':'hare' with lines linecolor rgb hare linewidth 2.5 title 'hares, fitted', \
     $data using 1:2 with points pointtype 7 pointsize 1.2 linecolor rgb hare title 'hares', \
     'lynx_hare.csv' using 'year':'lynx' with lines linecolor rgb lynx linewidth 2.5 \
         title 'lynxes, fitted', \
     $data using 1:3 with points pointtype 5 pointsize 1.2 linecolor rgb lynx title 'lynxes'
)";

std::string title(const Estimate& estimate) {
    const Eigen::ArrayXd value = estimate.values();
    std::ostringstream text;
    text << std::setprecision(3) << std::showpoint << "hare'' = " << value[0] << " hare − "
         << value[1] << " hare·lynx,   lynx'' = −" << value[2] << " lynx + " << value[3]
         << " hare·lynx;   band: fits in the 95 % region of the sum of squares";
    return text.str();
}

constexpr const char *curves_name = "lynx_hare.csv", *script_name = "lynx_hare.gp",
                     *picture_name = "lynx_hare.png";

/// A folder inside the output folder, gone at the end with all that is left in it. Files are written
/// here and renamed into place: that never writes through a link, nor leaves a half of one.
class Workshop {
  public:
    explicit Workshop(const std::filesystem::path& folder)
        : name_((folder / ".lynx_hare.XXXXXX").string()) {
        if (mkdtemp(name_.data()) == nullptr) throw_unwritable(folder);
    }
    ~Workshop() {
        std::error_code ignored;
        std::filesystem::remove_all(name_, ignored);
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    [[nodiscard]] std::filesystem::path path() const { return name_; }
    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path() / name; }

    void deliver(const char* name) const {
        std::filesystem::rename(path() / name, path().parent_path() / name);
    }
    [[noreturn]] static void throw_unwritable(const std::filesystem::path& file) {
        throw std::runtime_error(file.string() + ": cannot be written; is there space?");
    }

  private:
    std::string name_;
};

void close_whole(std::ofstream& stream, const std::filesystem::path& file) {
    stream.close();
    if (!stream) Workshop::throw_unwritable(file.parent_path().parent_path() / file.filename());
}

void write_script(const Workshop& workshop, const Counts& counts, const Estimate& estimate) {
    std::ofstream script(workshop / script_name);
    script << before_data << std::setprecision(17);
    for (std::size_t row = 0; row < counts.year.size(); ++row)
        script << counts.year[row] << ',' << counts.hare[row] << ',' << counts.lynx[row] << '\n';
    script << "end_of_data\nset title '" << title(estimate) << "' font ',11'\n" << after_data;
    close_whole(script, workshop / script_name);
}

void write_curves(const Workshop& workshop, const Band& band) {
    std::ofstream stream(workshop / curves_name);
    stream << "# the best fit, and the least and the largest of the fits found in the 95 % region\n"
           << "year,hare,hare_low,hare_high,lynx,lynx_low,lynx_high\n"
           << std::setprecision(10);
    for (std::size_t i = 0; i < band.year.size(); ++i) {
        stream << band.year[i];
        const auto k = static_cast<Eigen::Index>(i);
        for (const int species : {0, 1}) {
            stream << ',' << band.best(k, species) << ',' << band.low(k, species) << ','
                   << band.high(k, species);
        }
        stream << '\n';
    }
    close_whole(stream, workshop / curves_name);
}

/// Runs gnuplot on the files in the workshop.
bool draw_picture(const Workshop& workshop) {
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(workshop.path());  // no name passes through the shell
    const bool is_drawn = std::system("gnuplot lynx_hare.gp") == 0;
    std::filesystem::current_path(here);
    return is_drawn && std::filesystem::exists(workshop / picture_name);
}

bool has_gnuplot() { return std::system("command -v gnuplot >/dev/null 2>&1") == 0; }

}  // namespace

OutputFiles::OutputFiles(const std::string& output_folder, const std::string& counts_file)
    : folder(output_folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || access(folder.c_str(), W_OK) != 0) {
        throw BadInput("--output: the folder '" + shown(output_folder) +
                       "' cannot be written to; name another");
    }
    for (const char* name : {curves_name, script_name, picture_name}) {
        const std::filesystem::path file = folder / name;
        const auto refuse = [&](const char* what) {
            throw BadInput("--output: '" + shown(file.string()) + "' is " + what +
                           " and would be replaced; name another folder");
        };
        const auto status = std::filesystem::symlink_status(file, error);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
            refuse(std::filesystem::is_symlink(status) ? "a link" : "no ordinary file");
        if (std::filesystem::equivalent(file, counts_file, error)) refuse("the data");
    }
}

void write_files(const OutputFiles& files, const Counts& counts, const Estimate& estimate,
                 const Band& band) {
    const std::string folder = shown(files.folder.string());
    std::fflush(stdout);
    const Workshop workshop(files.folder);
    write_curves(workshop, band);
    write_script(workshop, counts, estimate);
    const bool can_draw = has_gnuplot(), is_drawn = can_draw && draw_picture(workshop);
    workshop.deliver(curves_name);
    workshop.deliver(script_name);
    if (is_drawn) workshop.deliver(picture_name);
    if (!can_draw) {
        std::printf(
            "files: lynx_hare.csv and lynx_hare.gp in %s\n"
            "  no picture, for there is no gnuplot: install gnuplot-nox, and run\n"
            "  gnuplot lynx_hare.gp in that folder\n",
            folder.c_str());
        return;
    }
    std::printf("files: lynx_hare.csv, lynx_hare.gp%s in %s\n",
                is_drawn ? " and lynx_hare.png" : "; no picture, for gnuplot failed;",
                folder.c_str());
}

}  // namespace lynx_hare
