#include "likelihood.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "model.hpp"
#include "trajectories.hpp"

namespace kinetics {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// A sum of squares below it is no better: the likelihood of a perfect fit is infinite.
constexpr double least_square = 1e-12;

auto ensemble(const Measurements& data, int num_threads, double rtol) {
    return eddy::ensemble_solver(Stat5Dimerization{}, eddy::Rodas5P{},
                                 options_at(data.minutes, rtol), eddy::Cpu{.threads = num_threads},
                                 eddy::observe(MassSpectrometry{}));
}

/// The parameters of the model; standard deviations, which trajectories do not know, are 1.
Eigen::ArrayXXd parameters_of(const RatesArray& rates) {
    Eigen::ArrayXXd p = Eigen::ArrayXXd::Ones(rates.rows(), num_unknowns);
    p.leftCols<num_rates>() = (std::numbers::ln10 * rates).exp();
    return p;
}

/// The likelihood of residuals with the best standard deviations, and what it asks of each: the
/// derivative by a square, for each observable.
struct Weighed {
    double value = infinity;
    Eigen::Array3d weight = Eigen::Array3d::Zero();

    Weighed(const Eigen::Array3d& squares, int num_times) {
        if (!squares.allFinite()) return;
        const Eigen::Array3d variance = squares.max(least_square) / num_times;
        value = num_times * (0.5 * variance.log().sum() +
                             num_observables * (NegativeLogLikelihood::half_log_two_pi + 0.5));
        weight = 1 / variance;
    }
};

}  // namespace

struct Likelihood::Solvers {
    Measurements data;
    int num_threads;
    double rtol;
    decltype(ensemble({}, 0, 0)) trajectories, tangents;
    eddy::LaneStats steps{};
    std::int64_t num_trajectories = 0, num_tangents = 0;

    void count(const eddy::Outcomes& outcomes) {
        const eddy::LaneStats total = outcomes.total_stats();
        steps.accepted += total.accepted;
        steps.rejected += total.rejected;
    }
    /// (lane, time) of one observable, from what was saved.
    template <class Saved>
    [[nodiscard]] Eigen::ArrayXXd residuals(const Saved& solution, int observable) const {
        Eigen::ArrayXXd all(solution.num_lanes(), data.num_times());
        for (int k = 0; k < data.num_times(); ++k) {
            const auto saved = solution.y(k);
            for (Eigen::Index lane = 0; lane < all.rows(); ++lane)
                all(lane, k) = saved(lane, observable) - data.values(k, observable);
        }
        return all;
    }
};

Likelihood::Likelihood(const Measurements& data, int num_threads, double rtol)
    : solvers_(new Solvers{data, num_threads, rtol, ensemble(data, num_threads, rtol),
                           ensemble(data, num_threads, rtol)}) {}
Likelihood::~Likelihood() = default;

Eigen::ArrayXd Likelihood::values(const RatesArray& rates) {
    Solvers& my = *solvers_;
    const auto& solution = my.trajectories(first_state(rates.rows()), parameters_of(rates));
    my.count(solution);
    my.num_trajectories += rates.rows();
    Eigen::ArrayXXd squares(rates.rows(), num_observables);
    for (int i = 0; i < num_observables; ++i)
        squares.col(i) = my.residuals(solution, i).square().rowwise().sum();
    Eigen::ArrayXd values(rates.rows());
    for (Eigen::Index lane = 0; lane < rates.rows(); ++lane)
        values[lane] = Weighed(squares.row(lane).transpose(), my.data.num_times()).value;
    return values;
}

std::vector<LocalModel> Likelihood::models(const RatesArray& rates) {
    Solvers& my = *solvers_;
    const Eigen::Index num_lanes = rates.rows();
    // Lane num_rates * k + j is the k-th set, and moves in the direction of rate j.
    RatesArray repeated(num_rates * num_lanes, num_rates);
    Eigen::ArrayXXd directions = Eigen::ArrayXXd::Zero(repeated.rows(), num_unknowns);
    for (Eigen::Index lane = 0; lane < repeated.rows(); ++lane) {
        repeated.row(lane) = rates.row(lane / num_rates);
        directions(lane, lane % num_rates) = std::numbers::ln10;
    }
    const Eigen::ArrayXXd y0 = first_state(repeated.rows()), p = parameters_of(repeated);
    const auto& pushed = my.tangents(y0, p, Eigen::ArrayXXd::Zero(y0.rows(), y0.cols()).eval(),
                                     (p * directions).eval());
    my.count(pushed);
    my.num_tangents += repeated.rows();

    Eigen::ArrayXXd residuals[num_observables];
    for (int i = 0; i < num_observables; ++i) residuals[i] = my.residuals(pushed, i);
    std::vector<LocalModel> models(static_cast<std::size_t>(num_lanes));
    const int num_times = my.data.num_times();
    Eigen::MatrixXd jacobian(num_times, num_rates);  // of one observable
    for (Eigen::Index lane = 0; lane < num_lanes; ++lane) {
        LocalModel& model = models[static_cast<std::size_t>(lane)];
        model.gradient.setZero();
        model.hessian.setZero();
        Eigen::Array3d squares;
        for (int i = 0; i < num_observables; ++i)
            squares[i] = residuals[i].row(num_rates * lane).square().sum();
        const Weighed weighed(squares, num_times);
        model.value = weighed.value;
        for (int i = 0; i < num_observables; ++i) {
            for (int k = 0; k < num_times; ++k) {
                for (int j = 0; j < num_rates; ++j)
                    jacobian(k, j) = pushed.tangent(k)(num_rates * lane + j, i);
            }
            const Eigen::VectorXd of_lane = residuals[i].row(num_rates * lane).matrix();
            model.gradient += weighed.weight[i] * jacobian.transpose() * of_lane;
            model.hessian += weighed.weight[i] * jacobian.transpose() * jacobian;
        }
        if (!model.hessian.allFinite()) model.value = infinity;
    }
    return models;
}

Eigen::Array3d Likelihood::deviations(const Rates& rates) {
    const RatesArray lane = rates.transpose();
    const auto& solution = solvers_->trajectories(first_state(1), parameters_of(lane));
    Eigen::Array3d deviations;
    for (int i = 0; i < num_observables; ++i) {
        deviations[i] =
            std::sqrt(std::max(solvers_->residuals(solution, i).square().mean(), least_square));
    }
    return deviations;
}

Eigen::ArrayXXd Likelihood::curves(const Rates& rates, const std::vector<double>& minutes) const {
    const RatesArray lane = rates.transpose();
    const auto solution = eddy::solve(Stat5Dimerization{}, eddy::Rodas5P{}, first_state(1),
                                      parameters_of(lane), options_at(minutes, solvers_->rtol),
                                      eddy::Cpu{.threads = 1}, eddy::observe(MassSpectrometry{}));
    Eigen::ArrayXXd curves(static_cast<Eigen::Index>(minutes.size()), num_observables);
    for (int k = 0; k < solution.num_saves(); ++k) {
        for (int i = 0; i < num_observables; ++i) curves(k, i) = solution.y(k)(0, i);
    }
    return curves;
}

std::int64_t Likelihood::num_accepted() const { return solvers_->steps.accepted; }
std::int64_t Likelihood::num_rejected() const { return solvers_->steps.rejected; }
std::int64_t Likelihood::num_trajectories() const { return solvers_->num_trajectories; }
std::int64_t Likelihood::num_tangents() const { return solvers_->num_tangents; }

}  // namespace kinetics
