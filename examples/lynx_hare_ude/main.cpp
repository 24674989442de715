// The pelts of the Hudson's Bay Company once more, with the law of who eats whom left to a small network:
// fitted to the first years, against the fit of Lotka and Volterra's equations to the same, and both
// continued to the years that they were not shown. Prints residuals, draws a picture, and returns 0 where
// the network explains the years that it was shown better.
//
//   example_lynx_hare_ude [picture.svg]

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fitting.hpp"

namespace {

constexpr std::ptrdiff_t shown_years = 15, all_years = 21;
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
        eddy::solve(Equation{}, eddy::Tsit5{}, y0, eddy::shared(p), options, eddy::Tiles{});
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

struct Picture {
    std::ofstream svg;
    explicit Picture(const std::string& path) : svg(path) {
        svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-40 -20 900 640' width='900' "
               "font-family='sans-serif' font-size='14'><rect x='-40' y='-20' width='900' "
               "height='640' fill='white'/><rect x='"
            << 40 * (double(shown_years) - 0.5) << "' width='"
            << 40 * double(all_years - shown_years)
            << "' height='580' fill='#eef2f5'/>"
               "<text x='605' y='16' fill='#667'>not shown to the fits</text>"
               "<text x='250' y='16' fill='#999'>dashed: Lotka and Volterra</text>"
               "<text x='250' y='36' fill='#c33'>line: the interaction is a network</text>\n";
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
    const Array counts = read_log_counts();
    using Law = Populations<MassAction>;
    using Learned = Populations<Unknown>;

    // Rates of the usual size; and, for the network, weights that are drawn.
    std::vector<double> law{counts(0, 0), counts(0, 1), -0.7, -0.2, -3.5, -3.5};
    std::vector<double> learned{counts(0, 0), counts(0, 1), -0.7, -0.2};
    const auto weights = eddy::nn::glorot_normal<double>(Unknown::network, 2);
    learned.insert(learned.end(), weights.begin(), weights.end());

    const Fit of_law = fit<Law>(counts, shown_years, law, 0, 300);
    const Fit of_network = fit<Learned>(counts, shown_years, learned, 0.1, 500);

    const Array by_law = curve<Law>(of_law, all_years, 1),
                by_network = curve<Learned>(of_network, all_years, 1);
    const double shown[] = {residual(by_law, counts, 0, shown_years),
                            residual(by_network, counts, 0, shown_years)};
    const double later[] = {residual(by_law, counts, shown_years, all_years),
                            residual(by_network, counts, shown_years, all_years)};
    std::printf("residuals of log counts       1900-%td  %td-1920 (not shown)\n",
                1899 + shown_years, 1900 + shown_years);
    std::printf("  Lotka-Volterra              %9.3f  %9.3f\n", shown[0], later[0]);
    std::printf("  network for who eats whom   %9.3f  %9.3f\n", shown[1], later[1]);
    if (argc > 1) {
        Picture picture(argv[1]);
        picture.line(curve<Law>(of_law, all_years, 20), 20,
                     "stroke='#999' stroke-width='2' stroke-dasharray='6 4'");
        picture.line(curve<Learned>(of_network, all_years, 20), 20,
                     "stroke='#c33' stroke-width='2.5'");
        picture.dots(counts);
    }
    return shown[1] < shown[0] ? 0 : 1;
}
