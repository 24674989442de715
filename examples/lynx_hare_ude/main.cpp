// The pelts of the Hudson's Bay Company once more, with the rates at which hares are eaten and lynxes fed left to
// a small network: fitted to the first fifteen years and continued to the six that follow, beside the law of
// Lotka and Volterra. The smaller its weights are held, the nearer the network is to the law. Prints residuals,
// draws a picture, and returns 0 where the freest network explains the years that it was shown better than the
// law does, and one that is held close foretells the others nearly as well.
//
//   example_lynx_hare_ude [picture.svg]

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "fitting.hpp"
#include "picture_file.hpp"

namespace {

constexpr std::ptrdiff_t shown_years = 15, all_years = 21;
// Shorter fits, all within the shown years, and how many of the years that follow they are asked for.
constexpr std::ptrdiff_t first_years[] = {8, 9, 10, 11, 12}, next_years = 3;
const char* const counts_file = LYNX_HARE_COUNTS;

/// (year, species): the logarithms of hares and lynxes from 1900 on.
Array read_log_counts() {
    std::vector<std::array<double, 2>> rows;
    std::ifstream file(counts_file);
    for (std::string line; std::getline(file, line);) {
        double year = 0, lynx = 0, hare = 0;
        if (std::sscanf(line.c_str(), "%lf,%lf,%lf", &year, &lynx, &hare) == 3)
            rows.push_back({std::log(hare), std::log(lynx)});
    }
    if (rows.size() != all_years)
        throw std::runtime_error(std::string("no counts in ") + counts_file);
    Array logs(all_years, 2);
    for (std::ptrdiff_t k = 0; k < all_years; ++k)
        for (std::ptrdiff_t i = 0; i < 2; ++i) logs(k, i) = rows[std::size_t(k)][std::size_t(i)];
    return logs;
}

/// The fitted trajectory, `per_year` points a year.
template <class Equation>
Array curve(const Fit& fit, std::ptrdiff_t years, int per_year) {
    Array y0(1, 2), points((years - 1) * per_year + 1, 2);
    eddy::SolveOptions options{.t1 = double(years - 1), .rtol = 1e-6, .atol = 1e-8};
    for (std::ptrdiff_t k = 0; k < points.rows(); ++k)
        options.save_at.values.push_back(double(k) / per_year);
    y0(0, 0) = fit.x[0];
    y0(0, 1) = fit.x[1];
    const std::vector<double> p(fit.x.begin() + 2, fit.x.end());
    const auto solution =
        eddy::solve(Equation{}, eddy::Tsit5{}, y0, eddy::shared(p), options, eddy::Rows{});
    for (std::ptrdiff_t k = 0; k < points.rows(); ++k)
        for (std::ptrdiff_t i = 0; i < 2; ++i) points(k, i) = solution.y(k)(0, i);
    return points;
}

/// The root of the mean square residual of a logarithm, over years [first, last).
double residual(const Array& at_years, const Array& counts, std::ptrdiff_t first,
                std::ptrdiff_t last) {
    double sum = 0;
    for (std::ptrdiff_t k = first; k < last; ++k)
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            sum += std::pow(at_years(k, i) - counts(k, i), 2) / double(2 * (last - first));
    return std::sqrt(sum);
}

/// A fit to the shown years, and what it is worth.
struct Trial {
    double shown = 0, later = 0;
    double next = 0;  // of the years that follow those of shorter fits
    Fit fit;
};
template <class Equation>
Trial try_out(const Array& counts, double decay) {
    Trial trial;
    double squares = 0;
    for (const std::ptrdiff_t years : first_years) {
        const Array continued =
            curve<Equation>(fit<Equation>(counts, years, decay), years + next_years, 1);
        squares += std::pow(residual(continued, counts, years, years + next_years), 2);
    }
    trial.next = std::sqrt(squares / double(std::size(first_years)));
    trial.fit = fit<Equation>(counts, shown_years, decay);
    const Array at_years = curve<Equation>(trial.fit, all_years, 1);
    trial.shown = residual(at_years, counts, 0, shown_years);
    trial.later = residual(at_years, counts, shown_years, all_years);
    return trial;
}
void print(const char* name, const Trial& trial) {
    std::printf("  %-22s %10.3f %14.3f %12.3f\n", name, trial.shown, trial.next, trial.later);
}

struct Picture {
    std::ofstream& svg;
    explicit Picture(std::ofstream& file) : svg(file) {
        svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-40 -20 900 640' width='900' "
               "font-family='sans-serif' font-size='14'><rect x='-40' y='-20' width='900' "
               "height='640' fill='white'/><rect x='"
            << 40 * (double(shown_years) - 0.5) << "' width='"
            << 40 * double(all_years - shown_years)
            << "' height='580' fill='#eef2f5'/>"
               "<text x='605' y='16' fill='#667'>not shown to the fits</text>"
               "<text x='250' y='16' fill='#999'>dashed: Lotka and Volterra</text>"
               "<text x='250' y='36' fill='#c33'>line: rates by a network</text>"
               "<text x='250' y='56' fill='#36c'>line: by one that is held close to the "
               "law</text>\n";
        for (int year = 0; year <= 20; year += 5)
            svg << "<text y='600' text-anchor='middle' x='" << 40 * year << "'>" << 1900 + year
                << "</text>\n";
        for (const char* label : {"290hares", "580lynxes"})
            svg << "<text x='-34' y='" << std::string(label, 3) << "'>" << label + 3 << "</text>\n";
    }
    ~Picture() { svg << "</svg>\n"; }
    static double height(double log_count, std::ptrdiff_t species) {
        return (species == 0 ? 270 : 560) - 2.6 * std::exp(log_count);
    }
    void line(const Array& points, int per_year, const char* style) {
        for (std::ptrdiff_t i = 0; i < 2; ++i) {
            svg << "<polyline fill='none' " << style << " points='";
            for (std::ptrdiff_t k = 0; k < points.rows(); ++k)
                svg << 40. * double(k) / per_year << ',' << height(points(k, i), i) << ' ';
            svg << "'/>\n";
        }
    }
    void dots(const Array& counts) {
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            for (std::ptrdiff_t k = 0; k < counts.rows(); ++k)
                svg << "<circle r='4' fill='#345' cx='" << 40 * k << "' cy='"
                    << height(counts(k, i), i) << "'/>\n";
    }
};

}  // namespace

int main(int argc, char** argv) {
    std::ofstream file = picture_file(argc, argv);
    const Array counts = read_log_counts();
    using Law = Populations<MassAction>;
    using Learned = Populations<Unknown>;

    std::printf(
        "residuals of log counts   1900-1914   the next 3 of   1915-1920\n"
        "                              shown    fits to 8-12   not shown\n");
    const Trial law = try_out<Law>(counts, 0);
    print("Lotka-Volterra", law);
    std::vector<Trial> trials;
    for (const double decay : {0.1, 0.3, 1., 3.}) {
        trials.push_back(try_out<Learned>(counts, decay));
        char name[40];
        std::snprintf(name, sizeof name, "network, decay %g", decay);
        print(name, trials.back());
    }
    const Trial &free = trials.front(), &held = trials.back();
    if (file.is_open()) {
        Picture picture(file);
        picture.line(curve<Learned>(free.fit, all_years, 20), 20, "stroke='#c33' stroke-width='2'");
        picture.line(curve<Learned>(held.fit, all_years, 20), 20, "stroke='#36c' stroke-width='2'");
        picture.line(curve<Law>(law.fit, all_years, 20), 20,
                     "stroke='#999' stroke-width='2' stroke-dasharray='6 4'");
        picture.dots(counts);
    }
    const bool learns = free.shown < 0.75 * law.shown && held.shown < law.shown;
    return learns && held.later < 1.25 * law.later ? 0 : 1;
}
