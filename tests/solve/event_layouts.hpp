#pragma once
// What is known of events is put into memory that the host sets aside for a device. Both compilers must lay it out alike: number
// by number, without gaps.

#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include "solve/event_fields.hpp"

namespace event_layouts {

/// A dose at the time p[0], beside the ground of a ball.
struct Dosed {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return events::Ball{}(t, y, p);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0], t - p[0]);
    }
    constexpr auto at_event(auto, const auto& y, const auto&, auto) const { return y; }
};
/// The dose alone.
struct Dose : Dosed {
    constexpr auto event(auto t, const auto&, const auto& p) const { return t - p[0]; }
    constexpr auto at_event(auto, const auto& y, const auto&) const { return y; }
};

template <class Field, class Number = double>
inline constexpr auto numbers =
    sizeof(eddy::detail::EventSearch<
           eddy::detail::SolveSpec<Field, eddy::Tsit5, eddy::PIDController, Number, false>>) /
    sizeof(double);
using Dual = eddy::Dual<double>;

// nvcc 13.0 fails an assertion of its own where it reads these for the host, which g++ has checked elsewhere.
#if !defined(__CUDACC__) || defined(__CUDA_ARCH__)
// A bracket has seven numbers, each function a side, an event of time when it is due, and one for the soonest; several have a
// leader and those met; a clock that moves has a tangent.
static_assert(numbers<events::Ball> == 7 + 1);
static_assert(numbers<events::Ball, Dual> == 7 + 1 + 1);
static_assert(numbers<Dose> == 7 + 1 + 2);
static_assert(numbers<Dosed> == 7 + 2 + 3 + 2);
static_assert(numbers<Dosed, Dual> == 7 + 2 + 3 + 2 + 1);
#endif

}  // namespace event_layouts
