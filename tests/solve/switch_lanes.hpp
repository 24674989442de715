#pragma once
// Lanes of which some are stiff, and what tells whether a lane of an AutoSwitch is that of one method alone.

#include <cmath>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/problems.hpp"
#include "support/stiff_equations.hpp"

namespace switching {

using support::Array;
using First = eddy::Tsit5;
using Second = eddy::Rodas3;
using Both = eddy::AutoSwitch<First, Second>;
using Field = support::VanDerPol;

/// Van der Pol with μ from 1 to 1e4, in an order without pattern.
struct Lanes {
    Array y0, p;

    explicit Lanes(std::ptrdiff_t count) : y0(count, 2), p(count, 1) {
        double fraction = 0.1;
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            y0(lane, 0) = 2;
            p(lane, 0) = std::pow(1e4, fraction);
            fraction = std::fmod(fraction + 0.6180339887498949, 1.);
        }
    }
};

inline const eddy::SolveOptions options{.t1 = 1,
                                        .rtol = 1e-4,
                                        .atol = 1e-7,
                                        .save_at = {0, 0.2, 0.4, 0.7, 1},
                                        .step_to = {0.3, 0.4},
                                        .jump_times = {0.55}};

inline bool same_stats(const eddy::LaneStats& a, const eddy::LaneStats& b) {
    return a.accepted == b.accepted && a.rejected == b.rejected && a.evaluations == b.evaluations &&
           a.jacobians == b.jacobians && a.factorizations == b.factorizations &&
           a.stiff_steps == b.stiff_steps;
}
inline bool same_outcome(const eddy::Outcomes& a, const eddy::Outcomes& b, std::ptrdiff_t lane) {
    return a.result(lane) == b.result(lane) && a.failure(lane).t == b.failure(lane).t &&
           a.failure(lane).component == b.failure(lane).component &&
           same_stats(a.stats(lane), b.stats(lane));
}

/// A field whose parameters all lanes share; stiff where y2 is large.
struct Shared {
    static constexpr int state_size = 3, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * (y[2] * ((1.0 - y[0] * y[0]) * y[1] - y[0])) + p[1],
                         0.0 * y[2]);
    }
};

struct FirstSquared {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

}  // namespace switching
