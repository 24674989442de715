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
struct Drop {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return Ball{}(t, y, p);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
/// sin and cos of t: crossings of zero that change nothing, of one direction or of both.
template <eddy::Crossing direction>
struct Wave {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(y[1], -y[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
    static constexpr auto event_direction = direction;
    constexpr auto at_event(auto, const auto& y, const auto&) const { return y; }
};

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

inline double relative(double got, double wanted) {
    return std::fabs(got - wanted) / std::max(1., std::fabs(wanted));
}

}  // namespace events
