#include "profiles.hpp"

#include <algorithm>
#include <cmath>
#include <eddy/eddy.hpp>

namespace kinetics {

namespace {

constexpr double profile_rtol = 1e-7;
constexpr double fine = 0.05, coarse = 0.25;  // decades
constexpr int num_fine = 20;
constexpr SearchOptions at_each_point{.least_slope = 1e-3, .max_iterations = 60};

/// One rate in one direction from the best fit.
struct Branch {
    int rate;
    double direction;
    Rates at;
    std::vector<double> logarithm{}, value{};

    [[nodiscard]] bool is_at_end() const {
        return direction > 0 ? at[rate] >= highest : at[rate] <= lowest;
    }
    /// Holds the rate a step further out.
    void advance() {
        const double step = logarithm.size() < num_fine ? fine : coarse;
        at[rate] = std::clamp(at[rate] + direction * step, lowest, highest);
    }
    [[nodiscard]] Box box() const {
        Box box;
        box.low[rate] = box.high[rate] = at[rate];
        return box;
    }
};

void follow(Likelihood& likelihood, const std::vector<Branch*>& branches) {
    RatesArray starts(static_cast<Eigen::Index>(branches.size()), num_rates);
    std::vector<Box> boxes;
    for (std::size_t k = 0; k < branches.size(); ++k) {
        branches[k]->advance();
        starts.row(static_cast<Eigen::Index>(k)) = branches[k]->at.transpose();
        boxes.push_back(branches[k]->box());
    }
    const std::vector<Fit> fits = minimise(likelihood, starts, boxes, at_each_point);
    for (std::size_t k = 0; k < branches.size(); ++k) {
        Branch& branch = *branches[k];
        if (std::isfinite(fits[k].value)) branch.at = fits[k].rates;
        branch.logarithm.push_back(branch.at[branch.rate]);
        branch.value.push_back(fits[k].value);
    }
}

/// Where a branch first passes `level`, between its points.
double crossing(const Branch& branch, double from, double value, double level) {
    double at = from;
    for (std::size_t k = 0; k < branch.value.size(); ++k) {
        if (branch.value[k] > level) {
            const double part = (level - value) / (branch.value[k] - value);
            return at + part * (branch.logarithm[k] - at);
        }
        at = branch.logarithm[k];
        value = branch.value[k];
    }
    return branch.direction * std::numeric_limits<double>::infinity();
}

Profile joined(const Branch& down, const Branch& up, const Estimate& estimate) {
    const double best = estimate.unknowns[down.rate], level = estimate.value + rise_95;
    Profile profile{.logarithm = {down.logarithm.rbegin(), down.logarithm.rend()},
                    .value = {down.value.rbegin(), down.value.rend()},
                    .low = crossing(down, best, estimate.value, level),
                    .high = crossing(up, best, estimate.value, level)};
    profile.logarithm.push_back(best);
    profile.value.push_back(estimate.value);
    profile.logarithm.insert(profile.logarithm.end(), up.logarithm.begin(), up.logarithm.end());
    profile.value.insert(profile.value.end(), up.value.begin(), up.value.end());
    return profile;
}

}  // namespace

std::vector<Profile> profiles(const Measurements& data, const Estimate& estimate, int num_threads) {
    Likelihood likelihood(data, num_threads, profile_rtol);
    std::vector<Branch> all;
    for (int rate = 0; rate < num_rates; ++rate) {
        for (const double direction : {-1., 1.}) all.push_back({rate, direction, estimate.rates()});
    }
    std::vector<Branch*> going;
    for (Branch& branch : all) going.push_back(&branch);
    const auto is_at_end = [](const Branch* branch) { return branch->is_at_end(); };
    for (;;) {
        std::erase_if(going, is_at_end);
        if (going.empty()) break;
        follow(likelihood, going);
    }
    std::vector<Profile> profiles;
    for (std::size_t k = 0; k < all.size(); k += 2)
        profiles.push_back(joined(all[k], all[k + 1], estimate));
    return profiles;
}

}  // namespace kinetics
