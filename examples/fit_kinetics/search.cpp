#include "search.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <eddy/eddy.hpp>
#include <limits>

#include "fitting/halton.hpp"

namespace kinetics {

namespace {

constexpr double first_damping = 1e-2, largest_damping = 1e12;
constexpr double longest_step = 2;  // decades

/// The search of one lane.
class Search {
  public:
    Search(const Rates& start, const Box& box) : rates_(start), box_(box) {}

    [[nodiscard]] const Rates& rates() const { return rates_; }
    [[nodiscard]] const Rates& trial() const { return trial_; }
    [[nodiscard]] bool wants_model() const { return wants_model_; }
    [[nodiscard]] bool has_ended() const { return has_ended_; }
    [[nodiscard]] Fit fit() const { return {rates_, model_.value, converged_, has_ended_}; }

    /// The model at `rates()`.
    void take(const LocalModel& model, double least_slope) {
        model_ = model;
        wants_model_ = false;
        has_ended_ = !std::isfinite(model.value);
        if (has_ended_) return;
        for (int i = 0; i < num_rates; ++i) is_free_[i] = is_free(i);
        converged_ = is_free_.select(model_.gradient.array().abs(), 0.).maxCoeff() <= least_slope;
        has_ended_ = converged_;
    }

    /// Makes `trial()` ready.
    void propose() {
        Rates step = damped_step();
        const double length = step.cwiseAbs().maxCoeff();
        if (length > longest_step) step *= longest_step / length;
        trial_ = (rates_ + step).cwiseMax(box_.low).cwiseMin(box_.high);
    }

    /// What the trial was worth.
    void judge(double value) {
        const Rates step = trial_ - rates_;
        const double foreseen = -(model_.gradient + 0.5 * model_.hessian * step).dot(step);
        const double gain = (model_.value - value) / foreseen;
        if (foreseen > 0 && gain > 0) {  // not where either is NaN
            rates_ = trial_;
            model_.value = value;
            wants_model_ = true;
            damping_ *= std::max(1. / 3, 1 - std::pow(2 * gain - 1, 3));
            growth_ = 2;
        } else {
            damping_ *= growth_;
            growth_ *= 2;
            has_ended_ = damping_ > largest_damping;
        }
    }

  private:
    [[nodiscard]] bool is_free(int i) const {
        if (box_.low[i] == box_.high[i]) return false;
        if (rates_[i] <= box_.low[i]) return model_.gradient[i] < 0;
        if (rates_[i] >= box_.high[i]) return model_.gradient[i] > 0;
        return true;
    }
    /// Of the free rates; zero for the others. Logarithms are of one scale, so none is scaled.
    [[nodiscard]] Rates damped_step() const {
        auto matrix = model_.hessian;
        Rates right = -model_.gradient;
        for (int i = 0; i < num_rates; ++i) {
            matrix(i, i) += damping_;
            if (is_free_[i]) continue;
            matrix.row(i).setZero();
            matrix.col(i).setZero();
            matrix(i, i) = 1;
            right[i] = 0;
        }
        return matrix.ldlt().solve(right);
    }

    Rates rates_, trial_{};
    Box box_;
    LocalModel model_{std::numeric_limits<double>::infinity()};
    Eigen::Array<bool, num_rates, 1> is_free_{};
    double damping_ = first_damping, growth_ = 2;
    bool wants_model_ = true, converged_ = false, has_ended_ = false;
};

using Searches = std::vector<Search*>;

template <class Point>
RatesArray points_of(const Searches& searches, Point&& point) {
    RatesArray points(static_cast<Eigen::Index>(searches.size()), num_rates);
    for (std::size_t k = 0; k < searches.size(); ++k)
        points.row(static_cast<Eigen::Index>(k)) = point(*searches[k]).transpose();
    return points;
}

void renew_models(Likelihood& likelihood, const Searches& active, double least_slope) {
    Searches moved;
    for (Search* search : active) {
        if (search->wants_model()) moved.push_back(search);
    }
    if (moved.empty()) return;
    const auto models =
        likelihood.models(points_of(moved, [](const Search& at) { return at.rates(); }));
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k]->take(models[k], least_slope);
}

void try_steps(Likelihood& likelihood, const Searches& active) {
    for (Search* search : active) search->propose();
    const Eigen::ArrayXd values =
        likelihood.values(points_of(active, [](const Search& at) { return at.trial(); }));
    for (std::size_t k = 0; k < active.size(); ++k)
        active[k]->judge(values[static_cast<Eigen::Index>(k)]);
}

}  // namespace

std::vector<Fit> minimise(Likelihood& likelihood, const RatesArray& starts,
                          const std::vector<Box>& boxes, const SearchOptions& options) {
    std::vector<Search> searches;
    for (Eigen::Index lane = 0; lane < starts.rows(); ++lane) {
        searches.emplace_back(starts.row(lane).transpose().matrix(),
                              boxes[static_cast<std::size_t>(lane)]);
    }
    Searches active;
    for (Search& search : searches) active.push_back(&search);

    eddy::Progress progress(options.title != nullptr, {}, starts.rows(),
                            options.title != nullptr ? options.title : "");
    std::int64_t accepted = likelihood.num_accepted(), rejected = likelihood.num_rejected();
    for (int iteration = 0; iteration < options.max_iterations && !active.empty(); ++iteration) {
        if (progress.cancelled().stop_requested()) break;
        const std::size_t num_before = active.size();
        const auto has_ended = [](const Search* search) { return search->has_ended(); };
        renew_models(likelihood, active, options.least_slope);
        std::erase_if(active, has_ended);
        if (!active.empty()) try_steps(likelihood, active);
        std::erase_if(active, has_ended);
        progress.add(static_cast<std::int64_t>(num_before - active.size()),
                     likelihood.num_accepted() - accepted, likelihood.num_rejected() - rejected);
        accepted = likelihood.num_accepted();
        rejected = likelihood.num_rejected();
    }
    std::vector<Fit> fits;
    for (const Search& search : searches) fits.push_back(search.fit());
    return fits;
}

const Fit* best_of(const std::vector<Fit>& fits) {
    const Fit* best = nullptr;
    for (const Fit& fit : fits) {
        if (fit.converged && (best == nullptr || fit.value < best->value)) best = &fit;
    }
    return best;
}

RatesArray starting_points(int num_starts) {
    constexpr int bases[num_rates] = {2, 3, 5, 7, 11, 13};
    RatesArray starts(num_starts, num_rates);
    for (int lane = 0; lane < num_starts; ++lane) {
        for (int i = 0; i < num_rates; ++i) {
            const double part = fitting::radical_inverse(lane + 1, bases[i]);
            starts(lane, i) = lowest + part * (highest - lowest);
        }
    }
    return starts;
}

}  // namespace kinetics
