#include "refine.hpp"

#include <algorithm>
#include <atomic>
#include <eddy/eddy.hpp>
#include <thread>
#include <unsupported/Eigen/NonLinearOptimization>

#include "fitting/stopwatch.hpp"
#include "log_residuals.hpp"

namespace lynx_hare {

namespace {

/// Sums of squares are compared to 1e-6, so the trajectories and the last steps are finer.
constexpr double refine_rtol = 1e-8;
constexpr double least_reduction = 1e-10;
/// Below it, a sum of squares is nothing but the error of the trajectories.
constexpr double exact_fit = 1e-12;

Fit refine(LogResiduals& residuals, const Eigen::VectorXd& start) {
    using namespace Eigen::LevenbergMarquardtSpace;
    Eigen::LevenbergMarquardt<LogResiduals> optimiser(residuals);
    optimiser.parameters.ftol = least_reduction;
    optimiser.parameters.xtol = 1e-10;
    optimiser.parameters.maxfev = 1000;
    Fit fit{start};
    Status status = optimiser.minimize(fit.unknowns);
    // Steps too short to matter may also mean that the optimiser's scales, which only grow, have
    // come to fit a place far behind: it begins again with new ones.
    for (int again = 0; again < 3 && status == RelativeErrorTooSmall; ++again)
        status = optimiser.minimize(fit.unknowns);
    fit.sum_of_squares = optimiser.fnorm * optimiser.fnorm;
    fit.converged = status == RelativeReductionTooSmall ||
                    status == RelativeErrorAndReductionTooSmall || status == CosinusTooSmall ||
                    fit.sum_of_squares < exact_fit;
    return fit;
}

}  // namespace

Refinement refine_all(const Counts& counts, const UnknownsArray& starts, int num_threads) {
    const fitting::Stopwatch stopwatch;
    const int num_starts = static_cast<int>(starts.rows());
    if (num_threads == 0) num_threads = static_cast<int>(std::thread::hardware_concurrency());
    num_threads = std::clamp(num_threads, 1, num_starts);

    Refinement all{.fits = std::vector<Fit>(static_cast<std::size_t>(num_starts)),
                   .num_threads = num_threads};
    eddy::Progress progress(true, {}, num_starts, "refine");
    std::atomic<int> next{0};
    std::atomic<std::int64_t> num_done{0}, num_solves{0}, num_jacobians{0};
    const auto work = [&] {
        LogResiduals residuals(counts, refine_rtol);
        for (int lane; (lane = next++) < num_starts;) {
            if (progress.cancelled().stop_requested()) break;
            const eddy::LaneStats before = residuals.steps();
            all.fits[static_cast<std::size_t>(lane)] = refine(residuals, starts.row(lane));
            const eddy::LaneStats after = residuals.steps();
            progress.add(1, after.accepted - before.accepted, after.rejected - before.rejected);
            ++num_done;
        }
        num_solves += residuals.num_solves();
        num_jacobians += residuals.num_jacobians();
    };
    {
        std::vector<std::jthread> threads;  // joined at the end of this block
        for (int thread = 0; thread < num_threads; ++thread) threads.emplace_back(work);
    }
    all.num_done = static_cast<int>(num_done);
    all.num_solves = num_solves;
    all.num_jacobians = num_jacobians;
    all.seconds = stopwatch.seconds();
    return all;
}

const Fit* best_of(const std::vector<Fit>& fits) {
    const Fit* best = nullptr;
    for (const Fit& fit : fits) {
        if (!fit.converged) continue;
        if (best == nullptr || fit.sum_of_squares < best->sum_of_squares) best = &fit;
    }
    return best;
}

std::vector<Optimum> distinct_optima(const std::vector<Fit>& fits, double relative) {
    std::vector<const Fit*> ranked;
    for (const Fit& fit : fits) {
        if (fit.converged) ranked.push_back(&fit);
    }
    std::sort(ranked.begin(), ranked.end(), [](const Fit* left, const Fit* right) {
        return left->sum_of_squares < right->sum_of_squares;
    });

    std::vector<Optimum> optima;
    double end_of_group = 0;
    for (const Fit* fit : ranked) {
        const bool is_new = optima.empty() || fit->sum_of_squares > end_of_group;
        if (is_new) {
            optima.push_back({*fit});
            end_of_group = (1 + relative) * fit->sum_of_squares + exact_fit;
        }
        ++optima.back().num_starts;
    }
    return optima;
}

}  // namespace lynx_hare
