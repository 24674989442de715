#include "confidence.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <random>

#include "ensemble.hpp"

namespace lynx_hare {

namespace {

constexpr double band_rtol = 1e-8;
constexpr int num_draws = 4096;
constexpr double outside = 0.05;  // probability

std::vector<double> fine_grid(const Counts& counts) {
    const double first = counts.year.front(), span = counts.year.back() - first;
    constexpr int num_points = 401;
    std::vector<double> years;
    for (int i = 0; i < num_points; ++i) years.push_back(first + span * i / (num_points - 1));
    return years;
}

/// Unknowns in all directions from the best ones, from half way to the edge of the region, as it
/// would be if the model were linear, to a quarter beyond it. The first row is the best fit itself.
UnknownsArray draws_around(const Estimate& estimate) {
    UnknownsArray draws = estimate.unknowns.transpose().replicate(num_draws, 1);
    const Eigen::MatrixXd root = estimate.covariance.llt().matrixL();
    const double edge =
        std::sqrt(num_unknowns * f_quantile_6(estimate.degrees_of_freedom(), outside));
    std::mt19937_64 generator(1900);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> part_of_edge(0.5, 1.25);
    for (int lane = 1; lane < num_draws; ++lane) {
        Eigen::VectorXd direction(num_unknowns);
        for (double& component : direction) component = normal(generator);
        direction *= edge * part_of_edge(generator) / direction.norm();
        draws.row(lane) += (root * direction).transpose().array();
    }
    return draws.max(-largest_unknown).min(largest_unknown);
}

UnknownsArray near_optimal_fits(const Counts& counts, const Estimate& estimate) {
    UnknownsArray fits = estimate.unknowns.transpose();
    if (!estimate.is_determined) return fits;
    const UnknownsArray draws = draws_around(estimate);
    const Eigen::ArrayXd sums = sums_of_squares(counts, draws, band_rtol);
    const double largest = largest_near_optimal_sum(estimate);
    const auto num_found = (sums.tail(num_draws - 1) <= largest).count();
    fits.conservativeResize(1 + num_found, num_unknowns);
    Eigen::Index next = 1;
    for (int lane = 1; lane < num_draws; ++lane) {
        if (sums[lane] <= largest) fits.row(next++) = draws.row(lane);
    }
    return fits;
}

}  // namespace

double f_quantile_6(double degrees_of_freedom, double probability) {
    // Where the first number of degrees is even, the tail of F is a finite sum (Abramowitz & Stegun
    // 1964, 26.6.4), here in w = f / (f + 6 x) and m = f / 2.
    static_assert(num_unknowns == 6);
    const double m = degrees_of_freedom / 2;
    const auto tail = [&](double x) {
        const double w = degrees_of_freedom / (degrees_of_freedom + 6 * x), v = 1 - w;
        return std::pow(w, m) * (1 + m * v + m * (m + 1) / 2 * v * v);
    };
    double low = 0, high = 1;
    while (tail(high) > probability) high *= 2;
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = (low + high) / 2;
        (tail(middle) > probability ? low : high) = middle;
    }
    return high;
}

double largest_near_optimal_sum(const Estimate& estimate) {
    const double f = estimate.degrees_of_freedom();
    return estimate.sum_of_squares * (1 + num_unknowns / f * f_quantile_6(f, outside));
}

Band near_optimal_band(const Counts& counts, const Estimate& estimate) {
    Band band{.year = fine_grid(counts)};
    const UnknownsArray fits = near_optimal_fits(counts, estimate);
    const std::vector<Eigen::ArrayXXd> at_years = trajectories(band.year, fits, band_rtol);
    const auto num_years = static_cast<Eigen::Index>(band.year.size());
    band.best.resize(num_years, 2);
    band.low.resize(num_years, 2);
    band.high.resize(num_years, 2);
    for (Eigen::Index k = 0; k < num_years; ++k) {
        const Eigen::ArrayXXd& counts_of_fits = at_years[static_cast<std::size_t>(k)];
        band.best.row(k) = counts_of_fits.row(0);
        band.low.row(k) = counts_of_fits.colwise().minCoeff();
        band.high.row(k) = counts_of_fits.colwise().maxCoeff();
    }
    band.num_fits = static_cast<int>(fits.rows());
    return band;
}

}  // namespace lynx_hare
