// The picture of docs/guide/stiff.md is that of a whole run: `build/release/examples/fit_kinetics/fit_kinetics`, then
// `mv kinetics.png docs/images/kinetics_profiles.png`
#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <string>

#include "model.hpp"

namespace kinetics {

namespace {

constexpr const char* observable_names[num_observables] = {"pSTAT5A_rel", "pSTAT5B_rel",
                                                           "rSTAT5A_rel"};

constexpr const char* settings = R"(# Draws kinetics.png from kinetics.csv, in this folder.
set terminal pngcairo size 1500,1000 font 'sans,12' background '#ffffff'
set output 'kinetics.png'
set encoding utf8
set datafile separator ','
blue = '#1f77b4'
red = '#d62728'
set border 3
set tics nomirror
set grid ytics linecolor '#dddddd'
set multiplot layout 3,4 title 'Dimerization of STAT5 after erythropoietin: data, all starts, profiles'
set key top right
set xlabel 'minutes'
set ylabel 'per cent'
set yrange [0:100]
)";
constexpr const char* of_starts = R"(unset title
set yrange [*:*]
set key off
set xlabel 'start, by likelihood'
set ylabel '−log likelihood'
set title 'all starts'
set xtics 2000
plot $starts using 1:2 with points pointtype 7 pointsize 0.4 linecolor rgb blue
set xtics autofreq
set ylabel 'rise of −log likelihood'
set yrange [-0.2:6]
set xrange [-5:5]
)";

std::vector<double> fine_grid(double last) {
    constexpr int num_points = 481;
    std::vector<double> minutes;
    for (int i = 0; i < num_points; ++i) minutes.push_back(last * i / (num_points - 1));
    return minutes;
}

void write_curves(std::ostream& stream, const Measurements& data, const Estimate& estimate) {
    const std::vector<double> minutes = fine_grid(data.minutes.back());
    const Eigen::ArrayXXd curves = Likelihood(data, 1, 1e-8).curves(estimate.rates(), minutes);
    stream << "# what the best fit says of each observable, in per cent\nminutes";
    for (const char* name : observable_names) stream << ',' << name;
    stream << '\n' << std::setprecision(10);
    for (std::size_t k = 0; k < minutes.size(); ++k) {
        stream << minutes[k];
        for (int i = 0; i < num_observables; ++i)
            stream << ',' << curves(static_cast<Eigen::Index>(k), i);
        stream << '\n';
    }
}

void write_data(std::ostream& script, const Measurements& data) {
    script << "$data << end_of_data\n" << std::setprecision(15);
    for (int k = 0; k < data.num_times(); ++k) {
        script << data.minutes[static_cast<std::size_t>(k)];
        for (int i = 0; i < num_observables; ++i) script << ',' << data.values(k, i);
        script << '\n';
    }
    script << "end_of_data\n";
}

void write_starts(std::ostream& script, const std::vector<Fit>& fits) {
    std::vector<double> values;
    for (const Fit& fit : fits) {
        if (std::isfinite(fit.value)) values.push_back(fit.value);
    }
    std::sort(values.begin(), values.end());
    script << "$starts << end_of_data\n";
    for (std::size_t k = 0; k < values.size(); ++k) script << k + 1 << ',' << values[k] << '\n';
    script << "end_of_data\n";
}

void write_profiles(std::ostream& script, const Estimate& estimate,
                    const std::vector<Profile>& profiles) {
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        script << "$profile" << i << " << end_of_data\n";
        for (std::size_t k = 0; k < profiles[i].value.size(); ++k) {
            script << profiles[i].logarithm[k] << ',' << profiles[i].value[k] - estimate.value
                   << '\n';
        }
        script << "end_of_data\n";
    }
}

void write_script(std::ostream& script, const Measurements& data, const std::vector<Fit>& fits,
                  const Estimate& estimate, const std::vector<Profile>& profiles) {
    write_data(script, data);
    write_starts(script, fits);
    write_profiles(script, estimate, profiles);
    script << settings;
    for (int i = 0; i < num_observables; ++i) {
        const double deviation = std::pow(10, estimate.unknowns[num_rates + i]);
        script << "set title '" << observable_names[i] << "' noenhanced\n"
               << "plot 'kinetics.csv' using 1:" << i + 2
               << " with lines linecolor rgb blue linewidth 2 title 'fitted', $data using 1:"
               << i + 2 << ":(" << deviation
               << ") with yerrorbars pointtype 7 linecolor rgb red title 'measured'\n";
    }
    script << of_starts;
    for (int i = 0; i < num_rates; ++i) {
        script << "set title '" << unknown_names[i] << "' noenhanced\n"
               << "set xlabel 'its decimal logarithm'\n"
               << "plot $profile" << i << " with lines linecolor rgb blue linewidth 2, " << rise_95
               << " with lines linecolor rgb '#888888' dashtype 2, '-' with points pointtype 7 "
               << "linecolor rgb red\n"
               << estimate.unknowns[i] << ",0\ne\n";
    }
    script << "unset multiplot\n";
}

}  // namespace

void write_files(const fitting::OutputFiles& files, const Measurements& data,
                 const std::vector<Fit>& fits, const Estimate& estimate,
                 const std::vector<Profile>& profiles) {
    files.write(
        [&](std::ostream& curves) { write_curves(curves, data, estimate); },
        [&](std::ostream& script) { write_script(script, data, fits, estimate, profiles); });
}

}  // namespace kinetics
