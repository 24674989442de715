#include "picture.hpp"

#include <cmath>
#include <iomanip>
#include <numbers>
#include <ostream>
#include <string>

namespace short_rate {

namespace {

constexpr const char* before_data = R"(# Draws short_rate.png from short_rate.csv, in this folder.
set terminal pngcairo size 1400,600 font 'sans,13' background '#ffffff'
set output 'short_rate.png'
set encoding utf8
set datafile separator ','
ink = '#222222'
fan = '#1f77b4'
other = '#d62728'
$data << end_of_data
)";
constexpr const char* after_data = R"(set multiplot layout 1,2
set grid linecolor '#dddddd'
set border 3
set tics nomirror
set xlabel 'year'
set ylabel 'rate, per cent a year'
set yrange [0:*]
set key top right
plot 'short_rate.csv' using 'year':'q05':'q95' with filledcurves fillcolor rgb fan \
         fillstyle transparent solid 0.15 noborder title '90 % of paths', \
     '' using 'year':'q25':'q75' with filledcurves fillcolor rgb fan \
         fillstyle transparent solid 0.25 noborder title 'half of them', \
     for [k=1:5] '' using 'year':(column(sprintf('path%d', k))) with lines linecolor rgb fan \
         linewidth 0.6 notitle, \
     '' using 'year':'q50' with lines linecolor rgb fan linewidth 2 title 'median', \
     $data using 1:2 with lines linecolor rgb ink linewidth 1.5 title '3-month Treasury bill'
set xlabel 'rate, per cent a year'
set ylabel 'change in a quarter, per cent'
set key top left
plot $data using 2:3 with points pointtype 7 pointsize 0.6 linecolor rgb ink \
         title 'change to the next quarter, its size', \
     simulated(x) with lines linecolor rgb fan linewidth 2.5 title 'fitted by simulation', \
     euler(x) with lines linecolor rgb fan linewidth 2 dashtype 2 title "by Euler's scheme", \
     exact(x) with lines linecolor rgb other linewidth 2 title 'power 1/2, exact likelihood'
unset multiplot
)";

/// The mean size of a quarter's change at a rate in per cent: a normal variable's is √(2/π) of its
/// deviation.
void write_curve(std::ostream& script, const char* name, double log_sigma, double gamma,
                 double gap) {
    script << name << "(x) = x > 0 ? 100 * "
           << std::exp(log_sigma) * std::sqrt(gap * 2 / std::numbers::pi) << " * (x / 100)**"
           << gamma << " : 0\n";
}

void write_script(std::ostream& script, const Rates& rates, const Fits& fits) {
    script << before_data << std::setprecision(17);
    for (std::size_t k = 0; k < rates.rate.size(); ++k) {
        script << rates.year[k] << ',' << 100 * rates.rate[k];
        if (k + 1 < rates.rate.size())
            script << ',' << 100 * std::fabs(rates.rate[k + 1] - rates.rate[k]);
        script << '\n';
    }
    script << "end_of_data\n";
    write_curve(script, "simulated", fits.simulated[2], fits.simulated[3], rates.gap());
    write_curve(script, "euler", fits.euler[2], fits.euler[3], rates.gap());
    write_curve(script, "exact", std::log(fits.cox_ingersoll_ross.sigma), 0.5, rates.gap());
    script << after_data;
}

void write_fan(std::ostream& csv, const Fan& fan) {
    csv << "# per cent a year: quantiles of the paths of the fitted model, and some of them\nyear";
    for (const char* part : {"q05", "q25", "q50", "q75", "q95"}) csv << ',' << part;
    for (int path = 1; path <= num_shown_paths; ++path) csv << ",path" << path;
    csv << '\n' << std::setprecision(8);
    for (std::size_t k = 0; k < fan.year.size(); ++k) {
        csv << fan.year[k];
        const auto row = static_cast<Eigen::Index>(k);
        for (const double value : fan.quantiles.row(row)) csv << ',' << 100 * value;
        for (const double value : fan.paths.row(row)) csv << ',' << 100 * value;
        csv << '\n';
    }
}

}  // namespace

void write_files(const fitting::OutputFiles& files, const Rates& rates, const Fits& fits,
                 const Fan& fan) {
    files.write([&](std::ostream& csv) { write_fan(csv, fan); },
                [&](std::ostream& script) { write_script(script, rates, fits); });
}

}  // namespace short_rate
