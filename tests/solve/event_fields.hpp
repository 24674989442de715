#pragma once
// Equations with events whose times and derivatives are known, and what is compared of them.

#include <cmath>
#include <eddy/core/vec.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <limits>

#include "solve/problems.hpp"

namespace events {

using eddy::SolveOptions;
using support::Array;
using support::rows;

/// A ball that falls, and is thrown back with p[1] of its speed. p = (gravity, restitution).
struct Ball {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(0 * y[0], -p[1] * y[1]);
    }
};
/// The same without an end to its fall but the ground.
using Drop = support::ToFirstEvent<Ball>;
/// The same ball, and more: p = (gravity, restitution, tangle, clock). With a tangle everything depends on
/// everything, time, state and parameters, in f, in the event and in the jump. With a clock the event is at
/// that time, and the ball is pushed from t = 1 on. Thrown down faster than 50, it meets the ground by a function
/// that steps over zero, so that nothing says how its time depends on anything.
struct Tangled {
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto push = eddy::select(p[3] > 0, eddy::select(t < 1, 0 * t, 1.5 + 0 * t), 0 * t);
        return eddy::vec(y[1] + 0.1 * p[2] * t,
                         -p[0] + p[2] * (0.2 * t - 0.3 * y[1] * y[0]) + push * y[0]);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        const auto ground = y[0] - p[2] * (0.14 * p[1] * t + 0.05 * y[1] * y[1] - 0.028);
        const auto steps = eddy::select(y[0] > 0, 2 + p[1], -2 + p[1]);
        return eddy::select(p[3] > 0, p[3] - t, eddy::select(y[1] < -50, steps, ground));
    }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[2] * (y[0] + 0.4 + 0.14 * t * p[1]),
                         -p[1] * y[1] + 0.7 * p[2] * y[0] * t);
    }
};
/// The same to its first event.
using Ended = support::ToFirstEvent<Tangled>;

/// Where the ball is at `end`, and how often it has bounced: in any type of number.
template <class Real>
struct Flight {
    Real y, v, last;
    int bounces = 0;

    Flight(Real height, Real speed, const Real& gravity, const Real& restitution, double end,
           int most = std::numeric_limits<int>::max())
        : y(height), v(speed), last(Real(0)) {
        using std::sqrt;
        for (;;) {
            const Real time = (v + sqrt(v * v + Real(2) * gravity * y)) / gravity;
            const Real hit = last + time;
            if (bounces == most || Real(end) < hit) break;
            v = restitution * (gravity * time - v);
            y = Real(0);
            last = hit;
            ++bounces;
        }
        const Real rest = Real(end) - last;
        y = y + v * rest - gravity * rest * rest / Real(2);
        v = v - gravity * rest;
    }
};

/// Steps of a controller that never objects: of constant size.
inline SolveOptions by_steps_of(double dt, double t1) {
    return {.t1 = t1, .rtol = 1, .atol = 1e9, .dt0 = dt, .dt_max = dt};
}
inline double relative(double got, double wanted) {
    return std::fabs(got - wanted) / std::max(1., std::fabs(wanted));
}

}  // namespace events
