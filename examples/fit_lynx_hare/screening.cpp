#include "screening.hpp"

#include <cmath>

#include "ensemble.hpp"
#include "fitting/stopwatch.hpp"
#include "log_residuals.hpp"

namespace lynx_hare {

namespace {

constexpr double screen_rtol = 1e-8;
constexpr int most_compared = 100;

}  // namespace

Screening screen(const Counts& counts, const UnknownsArray& starts) {
    Screening screening;
    const fitting::Stopwatch solving;
    screening.sums_of_squares = sums_of_squares(counts, starts, screen_rtol);
    screening.solve_seconds = solving.seconds();
    const fitting::Stopwatch differentiating;
    const UnknownsArray reverse = gradients(counts, starts, screen_rtol);
    screening.gradient_seconds = differentiating.seconds();

    LogResiduals residuals(counts, screen_rtol);
    for (int lane = 0; lane < starts.rows() && screening.num_compared < most_compared; ++lane) {
        if (!std::isfinite(screening.sums_of_squares[lane])) continue;
        const Eigen::VectorXd forward = Linearised(residuals, starts.row(lane)).gradient();
        if (!forward.allFinite()) continue;  // too far out for the optimiser as well
        const Eigen::VectorXd difference = forward - reverse.row(lane).matrix().transpose();
        const double disagreement = difference.norm() / (1 + forward.norm());
        // A NaN is a disagreement, and stays: nothing is larger.
        if (disagreement > screening.largest_disagreement || std::isnan(disagreement))
            screening.largest_disagreement = disagreement;
        ++screening.num_compared;
    }
    return screening;
}

}  // namespace lynx_hare
