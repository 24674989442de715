#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "curvature.hpp"
#include "fitting/shown_text.hpp"

namespace kinetics {

namespace {

/// Values this close are the same optimum; on the flanks of a flat valley they differ by less.
constexpr double same_optimum = 0.01;
constexpr std::size_t most_optima = 8;

struct Optimum {
    const Fit* fit;
    int num_starts;
};

std::vector<Optimum> distinct_optima(const std::vector<Fit>& fits) {
    std::vector<const Fit*> ranked;
    for (const Fit& fit : fits) {
        if (fit.converged) ranked.push_back(&fit);
    }
    std::sort(ranked.begin(), ranked.end(),
              [](const Fit* left, const Fit* right) { return left->value < right->value; });
    std::vector<Optimum> optima;
    for (const Fit* fit : ranked) {
        if (optima.empty() || fit->value > optima.back().fit->value + same_optimum)
            optima.push_back({fit, 0});
        ++optima.back().num_starts;
    }
    return optima;
}

void print_optimum(const Optimum& optimum) {
    std::printf("  %14.6f %7d ", optimum.fit->value, optimum.num_starts);
    for (const double logarithm : optimum.fit->rates)
        std::printf(" %12.4g", std::pow(10, logarithm));
    std::printf("\n");
}

/// "2.1e-05 to 0.004", with the bounds of the range where the profile never rises.
std::string interval(const Profile& profile) {
    char text[64];
    const auto end = [](double logarithm, const char* beyond, char(&word)[24]) {
        if (std::isfinite(logarithm))
            std::snprintf(word, sizeof word, "%.4g", std::pow(10, logarithm));
        else
            std::snprintf(word, sizeof word, "%s", beyond);
    };
    char low[24], high[24];
    end(profile.low, "any", low);
    end(profile.high, "any", high);
    std::snprintf(text, sizeof text, "%s to %s", low, high);
    return text;
}

}  // namespace

void print_data(const Measurements& data, const std::string& file) {
    std::printf(
        "data: %s\n"
        "  %d measurements at %d times, %g to %g minutes\n"
        "model: dimerization of STAT5, 8 species; %d unknowns, each within ten decades\n",
        fitting::shown(file).c_str(), 3 * data.num_times(), data.num_times(), data.minutes.front(),
        data.minutes.back(), num_unknowns);
}

void print_search(const std::vector<Fit>& fits, const SearchCost& cost) {
    const auto trajectories = static_cast<double>(cost.num_trajectories),
               tangents = static_cast<double>(cost.num_tangents);
    std::printf(
        "search: %zu starts in %.2f s: %.3g trajectories and %.3g tangents by Rodas5P, "
        "%.3g steps, %.3g steps/s\n",
        fits.size(), cost.seconds, trajectories, tangents, static_cast<double>(cost.num_accepted),
        static_cast<double>(cost.num_accepted) / cost.seconds);
    const auto num_left =
        std::count_if(fits.begin(), fits.end(), [](const Fit& fit) { return !fit.has_ended; });
    if (num_left > 0) std::printf("  stopped before %td of them had ended\n", num_left);
    const auto optima = distinct_optima(fits);
    int num_converged = 0;
    for (const Optimum& optimum : optima) num_converged += optimum.num_starts;
    std::printf("optima: %d starts converged, to %zu distinct likelihoods\n", num_converged,
                optima.size());
    if (optima.empty()) return;
    std::printf("  %14s %7s ", "-log likelihood", "starts");
    for (int i = 0; i < num_rates; ++i) std::printf(" %12.12s", unknown_names[i]);
    std::printf("\n");
    for (std::size_t i = 0; i < std::min(optima.size(), most_optima); ++i) print_optimum(optima[i]);
    if (optima.size() > most_optima)
        std::printf("  and %zu more, up to %.6g\n", optima.size() - most_optima,
                    optima.back().fit->value);
}

void print_estimate(const Estimate& estimate, const std::vector<Profile>& profiles) {
    std::printf("fit:\n  %-16s %14s %16s   %s\n", "", "value", "standard error",
                "95 % by its profile");
    for (int i = 0; i < num_unknowns; ++i) {
        const double value = std::pow(10, estimate.unknowns[i]);
        std::printf("  %-16s %14.8g", unknown_names[i], value);
        if (std::isfinite(estimate.standard_errors[i]))
            std::printf(" %16.3g", value * std::log(10) * estimate.standard_errors[i]);
        else
            std::printf(" %16s", estimate.is_at_bound[i] ? "at its bound" : "none");
        if (i < num_rates)
            std::printf("   %s", interval(profiles[static_cast<std::size_t>(i)]).c_str());
        std::printf("\n");
    }
    std::printf(
        "  negative log-likelihood: %.8f\n"
        "  its gradient by reverse mode, in all nine that are not at a bound: at most %.1e\n",
        estimate.value, estimate.slope);
}

void print_published(const Measurements& data, const Estimate& estimate) {
    const double published = curvature(data, published_unknowns(), 1e-9).value;
    std::printf("  at the published unknowns: %.8f, %s by %.1e\n", published,
                published > estimate.value ? "worse" : "better",
                std::abs(published - estimate.value));
}

}  // namespace kinetics
