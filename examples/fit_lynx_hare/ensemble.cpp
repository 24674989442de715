#include "ensemble.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "machine.hpp"
#include "model.hpp"

namespace lynx_hare {

namespace {

eddy::SolveOptions options_at(const std::vector<double>& years, double rtol) {
    std::vector<double> since_first;
    for (const double year : years) since_first.push_back(year - years.front());
    // Logarithms are compared, so the error counts relative to the count, however small that is.
    // max_steps: an optimiser on its way may try rates that take forever. 5,000 steps at rtol 1e-8
    // are three times what the hardest start for the pelts takes; a method of order 5 needs
    // rtol^(-1/5) of them.
    return {.t0 = 0,
            .t1 = since_first.back(),
            .rtol = rtol,
            .atol = 1e-100,
            .save_at = since_first,
            .max_steps = static_cast<std::int64_t>(125 * std::pow(rtol, -0.2))};
}

Table table(const Eigen::ArrayXXd& array) { return Table(eddy::ensemble_view(array)); }

Lanes lanes_of(const UnknownsArray& unknowns) {
    return {table(first_counts(unknowns)), table(rates(unknowns))};
}

/// The logarithms at each year: one row, shared by all lanes.
std::vector<Eigen::ArrayXXd> shared_data(const Counts& counts) {
    const Eigen::ArrayXXd logs = log_counts(counts);
    std::vector<Eigen::ArrayXXd> data;
    for (int k = 0; k < counts.num_rows(); ++k) data.push_back(logs.row(k));
    return data;
}

/// Derivatives by the unknowns, which are logarithms: d/d(log p) = p d/dp.
template <class Gradient>
UnknownsArray by_logarithms(const Gradient& gradient, const Eigen::ArrayXXd& y0,
                            const Eigen::ArrayXXd& p) {
    const Eigen::ArrayXXd by_rates = gradient.p, by_first_counts = gradient.y0;
    UnknownsArray by_unknowns(p.rows(), num_unknowns);
    by_unknowns << p * by_rates, y0 * by_first_counts;
    return by_unknowns;
}

}  // namespace

Eigen::ArrayXXd log_counts(const Counts& counts) {
    Eigen::ArrayXXd logs(counts.num_rows(), 2);
    for (int k = 0; k < counts.num_rows(); ++k) {
        const auto row = static_cast<std::size_t>(k);
        logs.row(k) << std::log(counts.hare[row]), std::log(counts.lynx[row]);
    }
    return logs;
}

eddy::SolveOptions options_at_years(const Counts& counts, double rtol) {
    return options_at(counts.year, rtol);
}

Eigen::ArrayXd sums_of_squares(const Counts& counts, const UnknownsArray& unknowns, double rtol) {
    const std::vector<Table> at_years =
        machine().log_counts(lanes_of(unknowns), options_at_years(counts, rtol));
    const Eigen::ArrayXXd data = log_counts(counts);
    Eigen::ArrayXd sums = Eigen::ArrayXd::Zero(unknowns.rows());
    for (int k = 0; k < counts.num_rows(); ++k) {
        const Eigen::ArrayXXd logs = at_years[static_cast<std::size_t>(k)];
        sums += (logs.rowwise() - data.row(k)).square().rowwise().sum();
    }
    return sums.isFinite().select(sums, std::numeric_limits<double>::infinity());
}

UnknownsArray gradients(const Counts& counts, const UnknownsArray& unknowns, double rtol) {
    std::vector<Table> data;
    for (const Eigen::ArrayXXd& logs : shared_data(counts)) data.push_back(table(logs));
    const Lanes gradient =
        machine().gradients(data, lanes_of(unknowns), options_at_years(counts, rtol));
    return by_logarithms(gradient, first_counts(unknowns), rates(unknowns));
}

Curvature curvature(const Counts& counts, const Eigen::VectorXd& unknowns, double rtol) {
    const Directions lanes(unknowns);
    const auto result = eddy::hessian_vector_product(
        LotkaVolterra{}, eddy::Tsit5{}, SquaredLogError{}, shared_data(counts), lanes.y0, lanes.p,
        lanes.y0_tangent, lanes.p_tangent, options_at_years(counts, rtol));

    Curvature at;
    at.gradient = by_logarithms(result.gradient, lanes.y0, lanes.p).row(0).matrix().transpose();
    at.hessian = by_logarithms(result.product, lanes.y0, lanes.p).matrix().transpose();
    at.hessian.diagonal() += at.gradient;  // for exp() is curved itself
    if (!result.report.success()) at.hessian.setConstant(std::nan(""));
    return at;
}

std::vector<Eigen::ArrayXXd> trajectories(const std::vector<double>& years,
                                          const UnknownsArray& unknowns, double rtol) {
    const auto solution = eddy::solve(LotkaVolterra{}, eddy::Tsit5{}, first_counts(unknowns),
                                      rates(unknowns), options_at(years, rtol));
    std::vector<Eigen::ArrayXXd> at_years;
    for (int k = 0; k < solution.num_saves(); ++k) at_years.push_back(solution.y(k));
    return at_years;
}

}  // namespace lynx_hare
