// The concept of a step is not explicit Runge–Kutta in disguise: a method that carries a Jacobian and
// whose step can fail, and one that follows a path of noise, go through the same loops.

#include "solve/other_steppers.hpp"

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array;
using support::CarriedJacobian;
using support::HalfSquares;
using support::NoisyEuler;
using support::same_bits;

/// Fast and slow: −60 and −1. The Jacobian is constant.
struct StiffPair {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(-60. * y[0] + 59. * y[1] + p[0], p[1] * t - y[1]);
    }
    template <class State, class Number>
    static void jacobian(const State&, Number (&a)[2][2]) {
        a[0][0] = Number(-60), a[0][1] = Number(59), a[1][0] = Number(0), a[1][1] = Number(-1);
    }
};
/// Not constant: what is carried differs from what would be new.
struct Bent {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0] * y[0] * y[0]) + y[1], p[1] - 2. * y[1] * y[0]);
    }
    template <class State, class Number>
    static void jacobian(const State& y, Number (&a)[2][2]) {
        a[0][0] = Number(-3) * y[0] * y[0], a[0][1] = Number(1);
        a[1][0] = Number(-2) * y[1], a[1][1] = Number(-2) * y[0];
    }
};
struct Wandering {
    static constexpr int state_size = 1, parameter_size = 1;
    using term = support::NoisyTerm<Wandering>;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

Array column(std::ptrdiff_t lanes, int components, double from, double by) {
    Array array(lanes, components);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < components; ++i)
            array(lane, i) = from + by * static_cast<double>(lane) + 0.125 * i;
    }
    return array;
}

template <class Field, class Method, class Controller>
auto gradient(const Array& data, const Array& y0, const Array& p, const eddy::SolveOptions& options,
              const Controller& controller, const auto& backend) {
    return eddy::value_and_gradient(Field{}, Method{}, HalfSquares{}, data, y0, p, options,
                                    controller, backend);
}

template <class Result>
void require_same(const Result& a, const Result& b) {
    for (std::ptrdiff_t lane = 0; lane < a.gradient.y0.rows(); ++lane) {
        CAPTURE(lane);
        REQUIRE(same_bits(a.loss(lane), b.loss(lane)));
        REQUIRE(a.report.stats(lane).accepted == b.report.stats(lane).accepted);
        REQUIRE(a.report.stats(lane).rejected == b.report.stats(lane).rejected);
        for (int i = 0; i < a.gradient.y0.cols(); ++i)
            REQUIRE(same_bits(a.gradient.y0(lane, i), b.gradient.y0(lane, i)));
        for (int i = 0; i < a.gradient.p.cols(); ++i)
            REQUIRE(same_bits(a.gradient.p(lane, i), b.gradient.p(lane, i)));
    }
}

}  // namespace

TEST_CASE("steppers: a linearly implicit step takes few steps where explicit ones take many") {
    const Array y0 = column(1, 2, 1, 0), p = column(1, 2, 0.5, 0);
    const eddy::SolveOptions options{.t1 = 100, .rtol = 1e-2, .atol = 1e-3};

    const auto implicit = eddy::solve(StiffPair{}, CarriedJacobian{}, y0, p, options);

    // y1 → 0.625 (t − 1) and y0 → (59 y1 + 0.5)/60 − y1'·59/60/60, far from the start.
    const double slow = 0.625 * 99;
    CHECK(implicit.result(0) == eddy::Result::success);
    CHECK(implicit.stats(0).accepted < 1000);  // stable explicit steps: 100 · 60 / 3.3 of them
    CHECK(implicit.y()(0, 1) == Approx(slow).epsilon(1e-2));
    CHECK(implicit.y()(0, 0) == Approx((59 * slow + 0.5) / 60 - 59 * 0.625 / 3600).epsilon(1e-2));
}

TEST_CASE("steppers: a step that fails is taken again, smaller") {
    const Array y0 = column(1, 2, 1, 0), p = column(1, 2, 0.5, 0);
    // |60 dt| > 20 fails at first, then the controller's least factor: 5, 1, 0.2.
    const auto solution = eddy::solve(StiffPair{}, CarriedJacobian{}, y0, p,
                                      {.t1 = 10, .rtol = 1, .atol = 100, .dt0 = 5});

    CHECK(solution.result(0) == eddy::Result::success);
    CHECK(solution.stats(0).rejected >= 2);

    const auto constant = eddy::solve(StiffPair{}, CarriedJacobian{}, y0, p, {.t1 = 10, .dt0 = 1},
                                      eddy::ConstantController{});
    CHECK(eddy::is_failure(constant.result(0)));
}

TEST_CASE("steppers: what is carried is the same in every replay, whatever is kept") {
    const Array y0 = column(37, 2, 0.4, 0.03), p = column(37, 2, 0.7, 0.02), data(1, 2, 0.1);
    eddy::SolveOptions options{.t1 = 4, .rtol = 1e-4, .atol = 1e-6, .dt0 = 2};
    const auto kept = gradient<Bent, CarriedJacobian>(data, y0, p, options, eddy::PIDController{},
                                                      eddy::Serial{});
    REQUIRE(kept.report.counters.recomputed == 0);
    REQUIRE(kept.report.total_stats().rejected > 0);
    for (const std::int64_t checkpoints : {1, 3, 10}) {
        for (const std::size_t budget : {std::size_t{256} << 20, std::size_t{4000}}) {
            options.checkpoints = checkpoints;
            options.memory_budget = budget;
            CAPTURE(checkpoints, budget);
            require_same(kept, gradient<Bent, CarriedJacobian>(
                                   data, y0, p, options, eddy::PIDController{}, eddy::Serial{}));
            require_same(
                kept, gradient<Bent, CarriedJacobian>(data, y0, p, options, eddy::PIDController{},
                                                      eddy::Cpu{.threads = 1}));
        }
    }
}

TEST_CASE("steppers: the gradient through an implicit method is that of its numbers") {
    const Array y0 = column(1, 2, 1, 0), data(1, 2, 0.1);
    Array p = column(1, 2, 0.5, 0);
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.05};
    const auto result = gradient<StiffPair, CarriedJacobian>(
        data, y0, p, options, eddy::ConstantController{}, eddy::Serial{});
    for (int i = 0; i < 2; ++i) {
        const auto loss_at = [&](double shift) {
            Array shifted = p;
            shifted(0, i) += shift;
            return gradient<StiffPair, CarriedJacobian>(data, y0, shifted, options,
                                                        eddy::ConstantController{}, eddy::Serial{})
                .loss.total;
        };
        // The loss is quadratic in p: central differences are exact but for rounding.
        const double difference = (loss_at(0.5) - loss_at(-0.5)) / 1;
        CHECK(result.gradient.p(0, i) == Approx(difference).epsilon(1e-12));
    }
}

TEST_CASE("steppers: a path of noise is a function of lane and interval") {
    const std::ptrdiff_t lanes = 400;
    const Array y0(lanes, 1, 1.0), p(lanes, 1, 0.5), data(1, 1, 0.0);
    eddy::SolveOptions options{.t1 = 2, .dt0 = 1. / 64};
    const auto solution = eddy::solve(Wandering{}, NoisyEuler{}, y0, p, options, eddy::Serial{});

    double mean = 0, square = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        mean += solution.y()(lane, 0) / static_cast<double>(lanes);
        square += std::pow(solution.y()(lane, 0), 2) / static_cast<double>(lanes);
    }
    // dy = −y/2 dt + dW/4: mean e⁻¹, variance (1 − e⁻²)/16; within 4 standard errors and O(dt).
    const double variance = (1 - std::exp(-2.)) / 16;
    CHECK(std::abs(mean - std::exp(-1.)) < 4 * std::sqrt(variance / 400) + 0.005);
    CHECK(std::abs(square - mean * mean - variance) < 4 * variance * std::sqrt(2. / 400) + 0.002);

    const auto kept = gradient<Wandering, NoisyEuler>(data, y0, p, options,
                                                      eddy::ConstantController{}, eddy::Serial{});
    options.checkpoints = 4;
    require_same(kept,
                 gradient<Wandering, NoisyEuler>(data, y0, p, options, eddy::ConstantController{},
                                                 eddy::Cpu{.threads = 1}));
}
