#pragma once
// Implicit methods on rows beside the oracle: stiff equations, starts and parameters that differ from lane to lane, and what is
// compared.

#include <algorithm>
#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/solve.hpp>
#include "catch.hpp"
#include "stiff_equations.hpp"

namespace support {

/// A fast component that follows a driver: f depends on time, and a root of it has infinite slopes at zero.
struct Driven {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        using eddy::cos, eddy::sin, eddy::sqrt;
        return eddy::vec(-1e4 * p[1] * (y[0] - cos(t)) - sin(t), p[0] * (y[0] - sqrt(y[1])));
    }
};

/// Depends on time, and calls no function.
struct Ramp {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(-50 * p[1] * (y[0] - t), p[0] * (y[0] - t * y[1] * y[1]));
    }
};

template <class Real, class Field>
eddy::EnsembleArray<Real> starts(std::ptrdiff_t lanes) {
    eddy::EnsembleArray<Real> y0(lanes, Field::state_size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int c = 0; c < Field::state_size; ++c)
            y0(lane, c) =
                static_cast<Real>(c == 0 ? 1 + 0.01 * static_cast<double>(lane % 7) : 0.1 * c);
    return y0;
}
template <class Real, class Field>
eddy::EnsembleArray<Real> parameters(std::ptrdiff_t lanes) {
    constexpr bool is_robertson = std::is_same_v<Field, Robertson>;
    eddy::EnsembleArray<Real> p(lanes, Field::parameter_size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int i = 0; i < Field::parameter_size; ++i)
            p(lane, i) = static_cast<Real>((is_robertson ? Robertson::p0[i] : 1) *
                                           (1 + 0.1 * static_cast<double>((lane + i) % 9)));
    return p;
}
template <class Field>
eddy::RuntimeField traced() {
    return eddy::trace_field(Field::state_size, Field::parameter_size, Field{});
}

/// In units of the largest number.
template <class Real>
void check_close(eddy::EnsembleView<const Real> a, eddy::EnsembleView<const Real> b,
                 double tolerance) {
    double difference = 0, largest = 0;
    for (std::ptrdiff_t lane = 0; lane < a.num_lanes; ++lane)
        for (std::ptrdiff_t i = 0; i < a.num_components; ++i) {
            difference =
                std::max(difference, std::abs(static_cast<double>(a(lane, i) - b(lane, i))));
            largest = std::max(largest, std::abs(static_cast<double>(b(lane, i))));
        }
    CAPTURE(difference, largest);
    CHECK(difference <= tolerance * largest);
}
/// The steps of the oracle, and states within a tolerance; 0: its bits.
template <class Field, class Method, class Real = double, class... Extras>
void check(double tolerance, std::ptrdiff_t lanes, const eddy::SolveOptions& options,
           const Extras&... extras) {
    const auto y0 = starts<Real, Field>(lanes), p = parameters<Real, Field>(lanes);

    const auto rows = eddy::solve(traced<Field>(), Method{}, y0, p, options, extras...);
    const auto oracle = eddy::solve(Field{}, Method{}, y0, p, options, extras..., eddy::Serial{});

    REQUIRE(rows.success());
    REQUIRE(rows.num_saves() == oracle.num_saves());
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const eddy::LaneStats a = rows.stats(lane), b = oracle.stats(lane);
        CAPTURE(lane);
        CHECK(a.accepted == b.accepted);
        CHECK(a.rejected == b.rejected);
        CHECK(a.evaluations == b.evaluations);
        CHECK(a.jacobians == b.jacobians);
        CHECK(a.factorizations == b.factorizations);
    }
    for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k)
        check_close<Real>(rows.y(k), oracle.y(k), tolerance);
}

struct SquaredEnd {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return t * eddy::dot(y, y) + p[0] * y[1];
    }
};

}  // namespace support
