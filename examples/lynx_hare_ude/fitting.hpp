#pragma once
// Fits to the years that it is shown: first to short pieces, each from the counts of a year to those of the
// next few, then to the whole trajectory, whose start is an unknown as well. Full batches, L-BFGS.

#include <limits>
#include <optional>
#include <vector>

#include "model.hpp"

using Array = eddy::EnsembleArray<double>;  // (year or lane, species)

struct Fit {
    std::vector<double> x;  // the start, then the parameters of the equation
    eddy::train::Minimum minimum;
};

/// The loss of trajectories that start at a lane's year and are compared with `length` years from there;
/// the unknowns are the parameters, after the start of a single lane. `decay` holds weights small.
template <class Equation>
class Trajectories {
  public:
    Trajectories(const Array& counts, std::ptrdiff_t lanes, std::ptrdiff_t length, double decay)
        : y0_(lanes, 2), data_(static_cast<std::size_t>(length), Array(lanes, 2)), decay_(decay) {
        eddy::SolveOptions options{.t1 = double(length - 1), .rtol = 1e-6, .atol = 1e-8};
        options.max_steps = 1000;
        for (std::ptrdiff_t k = 0; k < length; ++k) {
            options.save_at.values.push_back(double(k));
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
                for (std::ptrdiff_t i = 0; i < 2; ++i)
                    data_[std::size_t(k)](lane, i) = counts(lane + k, i);
        }
        y0_ = data_[0];
        solver_.emplace(make_solver(options));
    }

    double operator()(std::span<const double> x, std::span<double> gradient) {
        if (y0_.rows() == 1) y0_(0, 0) = x[0], y0_(0, 1) = x[1];
        const std::vector<double> p(x.begin() + 2, x.end());
        auto& result = (*solver_)(data_, y0_, eddy::shared(p));
        if (!result.report.success()) return std::numeric_limits<double>::infinity();
        double loss = result.loss.total;
        gradient[0] = y0_.rows() == 1 ? result.gradient.y0(0, 0) : 0;
        gradient[1] = y0_.rows() == 1 ? result.gradient.y0(0, 1) : 0;
        for (std::size_t i = 0; i < p.size(); ++i)
            gradient[i + 2] = result.gradient.p(0, std::ptrdiff_t(i));
        Equation::Interaction::for_weights([&](int i) {
            const double weight = p[std::size_t(i) + 2];
            loss += decay_ * weight * weight;
            gradient[std::size_t(i) + 4] += 2 * decay_ * weight;
        });
        return loss;
    }

  private:
    static auto make_solver(const eddy::SolveOptions& options) {
        return eddy::gradient_solver(Equation{}, eddy::Tsit5{}, SquaredError{}, options,
                                     eddy::Rows{.threads = 1});
    }

    Array y0_;
    std::vector<Array> data_;
    double decay_;
    std::optional<decltype(make_solver({}))> solver_;
};

/// A fit to the first `years` of the counts, from rates of the usual size.
template <class Equation>
Fit fit(const Array& counts, std::ptrdiff_t years, double decay) {
    constexpr eddy::train::Lbfgs lbfgs{.max_steps = 300, .gradient_tolerance = 1e-6};
    eddy::train::TrainingBar bar(3 * lbfgs.max_steps);
    std::int64_t done = 0;
    Fit fit{{counts(0, 0), counts(0, 1), -0.7, -0.2}, {}};
    const auto weights = Equation::Interaction::first_weights();
    fit.x.insert(fit.x.end(), weights.begin(), weights.end());
    for (const std::ptrdiff_t length : {std::ptrdiff_t{3}, std::ptrdiff_t{6}, years}) {
        Trajectories<Equation> loss(counts, years - length + 1, length, decay);
        fit.minimum = eddy::train::minimize(lbfgs, std::span(fit.x), loss,
                                            [&](const eddy::train::Minimum& now) {
                                                bar(done + now.steps, now.loss);
                                                return true;
                                            });
        done += lbfgs.max_steps;
    }
    return fit;
}
