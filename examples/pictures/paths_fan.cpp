// The picture of docs/guide/stochastic.md: a fan chart of the paths of a price, beside the quantiles that are known.
// `build/release/examples/pictures/picture_paths_fan | gnuplot > docs/images/paths_fan.svg`

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>
#include <vector>

namespace {

struct Price {  // interest rate p[0], volatility p[1]
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};

}  // namespace

int main() {
    constexpr int paths = 20'000, times = 64;
    constexpr double levels[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    constexpr double normal[] = {-1.644854, -0.674490, 0, 0.674490, 1.644854};  // its quantiles
    const std::vector<double> p{0.05, 0.2};
    std::vector<double> save_at;
    for (int k = 1; k <= times; ++k) save_at.push_back(k / double(times));
    const auto solution =
        eddy::solve(Price{}, eddy::Milstein{}, eddy::EnsembleArray<double>(paths, 1, 100.),
                    eddy::shared(p), {.t1 = 1, .save_at = save_at, .dt0 = 1. / 128, .seed = 7});
    eddy::require_success(solution);

    std::printf("$bands << end\n0 100 100 100 100 100\n");
    for (int k = 0; k < times; ++k) {
        std::vector<double> prices;
        for (int lane = 0; lane < paths; ++lane) prices.push_back(solution.y(k)(lane, 0));
        std::sort(prices.begin(), prices.end());
        std::printf("%.6g", solution.t(k));
        for (const double level : levels) std::printf(" %.6g", prices[std::size_t(level * paths)]);
        std::printf("\n");
    }
    std::printf("end\n$known << end\n");
    for (int k = 0; k <= times; ++k) {
        const double t = k / double(times), drift = (p[0] - p[1] * p[1] / 2) * t;
        std::printf("%.6g", t);
        for (const double z : normal)
            std::printf(" %.6g", 100 * std::exp(drift + p[1] * std::sqrt(t) * z));
        std::printf("\n");
    }
    std::printf("end\n");
    for (int lane = 0; lane < 5; ++lane) {
        std::printf("$path%d << end\n0 100\n", lane);
        for (int k = 0; k < times; ++k)
            std::printf("%.6g %.6g\n", solution.t(k), solution.y(k)(lane, 0));
        std::printf("end\n");
    }
    std::printf(R"(set terminal svg size 900,420 font 'sans,12' background '#ffffff'
set grid linecolor '#dddddd'
set border 3
set tics nomirror
set key top left
set xlabel 't'
set ylabel 'y'
plot $bands using 1:2:6 with filledcurves fillcolor rgb '#dcebfa' title '90 %% of 20,000 paths', \
     $bands using 1:3:5 with filledcurves fillcolor rgb '#a9cdee' title '50 %%', \
     $bands using 1:4 with lines linewidth 2 linecolor rgb '#1f6fb2' title 'median', \
     for [i=2:6] $known using 1:i with lines dashtype 2 linecolor rgb '#222222' title (i == 2 ? 'quantiles, exactly' : ''), \
     $path0 with lines linecolor rgb '#c98a00' title 'five paths', \
     $path1 with lines linecolor rgb '#c98a00' notitle, \
     $path2 with lines linecolor rgb '#c98a00' notitle, \
     $path3 with lines linecolor rgb '#c98a00' notitle, \
     $path4 with lines linecolor rgb '#c98a00' notitle
)");
}
