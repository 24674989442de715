#include "picture.hpp"

#include <iomanip>
#include <sstream>
#include <string>

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

void write_script(std::ostream& script, const Counts& counts, const Estimate& estimate) {
    script << before_data << std::setprecision(17);
    for (std::size_t row = 0; row < counts.year.size(); ++row)
        script << counts.year[row] << ',' << counts.hare[row] << ',' << counts.lynx[row] << '\n';
    script << "end_of_data\nset title '" << title(estimate) << "' font ',11'\n" << after_data;
}

void write_curves(std::ostream& stream, const Band& band) {
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
}

}  // namespace

void write_files(const fitting::OutputFiles& files, const Counts& counts, const Estimate& estimate,
                 const Band& band) {
    files.write([&](std::ostream& curves) { write_curves(curves, band); },
                [&](std::ostream& script) { write_script(script, counts, estimate); });
}

}  // namespace lynx_hare
