#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "fitting/shown_text.hpp"
#include "machine.hpp"

namespace lynx_hare {

namespace {

/// Sums of squares this close, relative to each other, are the same optimum.
constexpr double same_optimum = 1e-6;
constexpr std::size_t most_optima = 10;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void print_optimum(const Optimum& optimum) {
    std::printf("  %16.8f %7d ", optimum.fit.sum_of_squares, optimum.num_starts);
    for (const double unknown : optimum.fit.unknowns) std::printf(" %10.4g", std::exp(unknown));
    std::printf("\n");
}

void print_optima(const std::vector<Optimum>& optima) {
    std::printf("  %16s %7s ", "sum of squares", "starts");
    for (const char* name : unknown_names) std::printf(" %10s", name);
    std::printf("\n");
    const std::size_t num_shown = std::min(optima.size(), most_optima);
    for (std::size_t i = 0; i < num_shown; ++i) print_optimum(optima[i]);
    if (num_shown == optima.size()) return;
    int rest = 0;
    for (std::size_t i = num_shown; i < optima.size(); ++i) rest += optima[i].num_starts;
    std::printf("  and %zu more, of %d starts, with sums up to %.8g\n", optima.size() - num_shown,
                rest, optima.back().fit.sum_of_squares);
}

}  // namespace

void print_data(const Counts& counts, const std::string& file) {
    std::printf(
        "data: %s\n"
        "  %d rows, %g to %g\n"
        "model: hare' = a hare - b hare lynx,  lynx' = -c lynx + d hare lynx\n"
        "  least squares on the logarithms of both: %d residuals, %d unknowns\n"
        "ensembles of trajectories: on %s\n",
        fitting::shown(file).c_str(), counts.num_rows(), counts.year.front(), counts.year.back(),
        2 * counts.num_rows(), num_unknowns, machine().name.c_str());
}

void print_screening(const Screening& screening) {
    std::vector<double> finite;
    for (const double sum : screening.sums_of_squares) {
        if (std::isfinite(sum)) finite.push_back(sum);
    }
    const auto num_starts = static_cast<double>(screening.sums_of_squares.size());
    std::printf("starts: %.0f, solved as one ensemble in %.3f s: %.3g solves/s\n", num_starts,
                screening.solve_seconds, num_starts / screening.solve_seconds);
    std::printf("  their gradients by reverse mode in %.3f s: %.3g gradients/s\n",
                screening.gradient_seconds, num_starts / screening.gradient_seconds);
    if (finite.empty()) return;
    if (screening.num_compared > 0) {
        std::printf("  reverse mode is forward mode within %.1e at %d of them\n",
                    screening.largest_disagreement, screening.num_compared);
    }
    std::printf("  sums of squares: least %.4g, median %.4g; %.0f without a trajectory\n",
                *std::min_element(finite.begin(), finite.end()), median(finite),
                num_starts - static_cast<double>(finite.size()));
}

void print_refinement(const Refinement& refinement) {
    const auto solves = static_cast<double>(refinement.num_solves);
    const auto jacobians = static_cast<double>(refinement.num_jacobians);
    std::printf(
        "refined: %d by Levenberg and Marquardt's method on %d thread%s in %.2f s\n"
        "  %.0f solves and %.0f Jacobians of %d tangents: %.3g solves/s and %.3g gradients/s\n",
        refinement.num_done, refinement.num_threads, refinement.num_threads == 1 ? "" : "s",
        refinement.seconds, solves, jacobians, num_unknowns, solves / refinement.seconds,
        jacobians / refinement.seconds);

    const int num_left = static_cast<int>(refinement.fits.size()) - refinement.num_done;
    if (num_left > 0) std::printf("  stopped before the other %d\n", num_left);

    const auto optima = distinct_optima(refinement.fits, same_optimum);
    int num_converged = 0;
    for (const Optimum& optimum : optima) num_converged += optimum.num_starts;
    std::printf("optima: %zu distinct; %d starts failed", optima.size(),
                refinement.num_done - num_converged);
    if (optima.empty()) {
        std::printf("\n");
        return;
    }
    std::printf("; %d of %d ended within %.0e of the best\n", optima.front().num_starts,
                refinement.num_done, same_optimum);
    print_optima(optima);
}

void print_estimate(const Estimate& estimate) {
    const Eigen::ArrayXd values = estimate.values(), errors = estimate.standard_errors();
    std::printf("fit:\n  %-6s %14s %16s\n", "", "value", "standard error");
    for (int i = 0; i < num_unknowns; ++i) {
        std::printf("  %-6s %14.8g", unknown_names[i], values[i]);
        if (estimate.is_determined) std::printf(" %16.3g", errors[i]);
        std::printf("\n");
    }
    if (!estimate.is_determined)
        std::printf("  no standard errors: the data do not determine all six\n");
    std::printf("  sum of squares: %.8g, %.4g per degree of freedom (%d)\n",
                estimate.sum_of_squares, estimate.sum_of_squares / estimate.degrees_of_freedom(),
                estimate.degrees_of_freedom());
    std::printf("  its gradient: norm %.1e by forward mode, %.1e by reverse mode\n",
                estimate.forward_gradient.norm(), estimate.reverse_gradient.norm());
    if (!estimate.is_optimum())
        std::printf("  this is not zero: the data may have their best fit at infinite rates\n");
}

void print_band(const Band& band, const Estimate& estimate) {
    if (band.num_fits == 1) return;  // the best alone
    std::printf("band: %d fits with sums up to %.4g, the 95 %% region of all unknowns\n",
                band.num_fits, largest_near_optimal_sum(estimate));
}

}  // namespace lynx_hare
