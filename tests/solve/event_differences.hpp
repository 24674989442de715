#pragma once
// Gradients through events against differences of the losses.

#include <vector>

#include "solve/event_fields.hpp"
#include "support/catch.hpp"

namespace events {

/// With respect to y0 and p of a lane.
template <class Gradient>
double part(const Gradient& gradient, std::ptrdiff_t lane, int k) {
    return k < 2 ? gradient.y0(lane, k) : gradient.p(lane, k - 2);
}

/// Differences of fourth order: around a point, or on one side of it, the point included.
enum class Side { nowhere, both, below, above };
struct Term {
    double at, weight;
};
inline std::vector<Term> terms_of(Side side) {
    if (side == Side::both) {
        const double h = 1e-4, w = 1 / (12 * h);
        return {{h, 8 * w}, {-h, -8 * w}, {2 * h, -w}, {-2 * h, w}};
    }
    const double h = side == Side::above ? 1e-3 : -1e-3, w = 1 / (12 * h);
    return {{0, -25 * w}, {h, 48 * w}, {2 * h, -36 * w}, {3 * h, 16 * w}, {4 * h, -3 * w}};
}
/// solve(k, by): with the k-th of y0 and p moved in all lanes. Steps of constant size are those of all lanes
/// nearby. The derivative by a clock is one-sided where the event is at another time that counts.
template <class Solve>
void check_differences(double tolerance, Side of_clock, const Solve& solve) {
    const auto result = solve(0, 0);
    require_success(result.report);
    CHECK(result.report.total_stats().events >= 3);
    const std::ptrdiff_t num_lanes = result.report.num_lanes();
    for (int k = 0; k < (of_clock == Side::nowhere ? 5 : 6); ++k) {
        const bool is_sum = k >= 2 && result.gradient.p.rows() == 1;  // of shared parameters
        std::vector<double> wanted(static_cast<std::size_t>(is_sum ? 1 : num_lanes));
        for (const Term& term : terms_of(k == 5 ? of_clock : Side::both)) {
            const auto loss = solve(k, term.at).loss;
            for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
                wanted[is_sum ? 0 : static_cast<std::size_t>(lane)] += term.weight * loss(lane);
        }
        for (std::size_t lane = 0; lane < wanted.size(); ++lane) {
            CAPTURE(lane, k);
            const double got = part(result.gradient, static_cast<std::ptrdiff_t>(lane), k);
            CHECK(relative(got, wanted[lane]) <= tolerance);
        }
    }
}

}  // namespace events
