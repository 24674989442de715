// Inputs between knots: what the field reads, the derivatives with respect to the values at knots, and what is refused.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/interpolate.hpp>
#include <limits>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array, support::message_of;

/// dy/dt = u − k y, and z' = u', so that z follows u exactly.
struct Driven {
    static constexpr int state_size = 2, parameter_size = 1, input_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u,
                              const auto& du) const {
        return eddy::vec(u[0] - p[0] * y[0], du[0]);
    }
};
struct SumOfBoth {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + y[1]; }
};
struct Decay {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], 0 * y[1]);
    }
};

const std::vector<double> knots{0, 0.5, 1.25, 2}, values{1, -1, 2, 0.5}, slopes{0, 1, -2, 0.5};
constexpr double k = 0.7, y0 = 0.3, end = 2;

eddy::SolveOptions options_with(const eddy::Inputs& inputs) {
    return {.t1 = end, .rtol = 1e-12, .atol = 1e-14, .inputs = inputs};
}
auto gradient_of(const eddy::SolveOptions& options, const Array& start,
                 const Array& p = Array(1, 1, k)) {
    return eddy::value_and_gradient(Driven{}, eddy::Tsit5{}, SumOfBoth{}, start, p, options,
                                    eddy::Serial{});
}
Array start_of(std::ptrdiff_t lanes) {
    Array start(lanes, 2, 0);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) start(lane, 0) = y0;
    return start;
}
/// y and z at the end of linear pieces, and the derivative of their sum with respect to each value.
struct Exact {
    double y = y0 * std::exp(-k * end), z = values.back() - values.front();
    std::vector<double> slope = std::vector<double>(values.size());
    Exact() {
        for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
            const double h = knots[i + 1] - knots[i], e = std::exp(-k * h),
                         behind = std::exp(-k * (end - knots[i + 1])) / (k * k * h);
            const double of_left = behind * (1 - e * (1 + k * h)),
                         of_right = behind * (k * h - 1 + e);
            y += of_left * values[i] + of_right * values[i + 1];
            slope[i] += of_left;
            slope[i + 1] += of_right;
        }
        slope.front() -= 1;
        slope.back() += 1;
    }
};

TEST_CASE("inputs: linear pieces have the closed form, and so have derivatives of their values") {
    const Exact exact;

    const auto found =
        gradient_of(options_with(eddy::piecewise_linear(knots, values)), start_of(1));

    CHECK(std::abs(found.loss.total - exact.y - exact.z) < 1e-12);
    REQUIRE(found.gradient.inputs.rows() == 4);
    for (std::ptrdiff_t i = 0; i < 4; ++i)
        CHECK(std::abs(found.gradient.inputs(i, 0) - exact.slope[static_cast<std::size_t>(i)]) <
              1e-12);
}

TEST_CASE("inputs: a save point behind an impulse moves along f of the inputs there") {
    auto options = options_with(eddy::piecewise_linear(knots, values));
    options.save_at = options.step_to = {1.5};
    const auto times_of = [&] {
        return eddy::value_and_gradient(Driven{}, eddy::Tsit5{}, SumOfBoth{}, start_of(1),
                                        Array(1, 1, k), options, eddy::Serial{},
                                        eddy::differentiate_times)
            .gradient;
    };
    const auto without = times_of();
    options.impulses = {.times = {1.5}, .amounts = 0.25};

    const auto with = times_of();

    CHECK(std::abs(with.save_at(0, 0) - (without.save_at(0, 0) - k * 0.25)) < 1e-11);
    CHECK(std::abs(with.impulse_times(0, 0) - k * 0.25) < 1e-11);
}

TEST_CASE("inputs: u follows interpolation, between knots and beyond them") {
    const std::vector<double> at{0.2, 0.5, 0.9, 1.25, 1.7, 2};
    eddy::SolveOptions options{.t1 = end, .rtol = 1e-10, .save_at = at, .step_to = at};
    const auto follows = [&](const eddy::Inputs& inputs, const auto& u) {
        options.inputs = inputs;
        const auto solution = eddy::solve(Driven{}, eddy::Tsit5{}, start_of(1), Array(1, 1, k),
                                          options, eddy::Serial{});
        for (std::size_t i = 0; i < at.size(); ++i)
            CHECK(std::abs(solution.y(static_cast<std::ptrdiff_t>(i))(0, 1) - (u(at[i]) - u(0))) <
                  1e-13);
    };

    follows(eddy::piecewise_linear(knots, values),
            [](double t) { return eddy::interpolate(eddy::linear, knots, values, t); });
    follows(eddy::cubic_hermite(knots, values, slopes), [](double t) {
        return eddy::interpolate(eddy::cubic_hermite, knots, values, slopes, t);
    });
    follows(eddy::cubic_hermite(knots, values), [](double t) {
        const std::vector<double> backward{-4, -4, 4, -2};
        return eddy::interpolate(eddy::cubic_hermite, knots, values, backward, t);
    });
    follows(eddy::natural_cubic_spline(knots, values),
            [](double t) { return eddy::interpolate(eddy::natural_spline, knots, values, t); });
    follows(eddy::piecewise_constant(knots, values), [](double) { return 0.; });
    follows(eddy::piecewise_linear({0.5, 1.5}, {1, 3}), [](double t) { return 2 * t; });
}

TEST_CASE("inputs: derivatives of all kinds of pieces are those of differences") {
    const auto agree = [](const auto& make) {
        const auto found = gradient_of(options_with(make(values)), start_of(1));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto at = [&](double change) {
                std::vector<double> changed = values;
                changed[i] += change;
                return gradient_of(options_with(make(changed)), start_of(1)).loss.total;
            };
            const double difference = at(0.5) - at(-0.5);  // the loss is linear in the values
            CHECK(std::abs(found.gradient.inputs(static_cast<std::ptrdiff_t>(i), 0) - difference) <
                  1e-11);
        }
    };

    agree([](const auto& x) { return eddy::piecewise_constant(knots, x); });
    agree([](const auto& x) { return eddy::cubic_hermite(knots, x, slopes); });
    agree([](const auto& x) { return eddy::cubic_hermite(knots, x); });
    agree([](const auto& x) { return eddy::natural_cubic_spline(knots, x); });
}

TEST_CASE("inputs: trajectories with knots of their own are as alone, forward and backward") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Array of_knots(2, 4, nan), of_values(2, 4, nan);
    for (std::ptrdiff_t i = 0; i < 4; ++i) {
        of_knots(0, i) = knots[static_cast<std::size_t>(i)];
        of_values(0, i) = values[static_cast<std::size_t>(i)];
    }
    of_knots(1, 0) = 0.1, of_knots(1, 1) = 1.9;
    of_values(1, 0) = 3, of_values(1, 1) = -2;
    eddy::SolveOptions both =
        options_with(eddy::piecewise_linear(eddy::each(of_knots), eddy::each(of_values)));
    const bool backward = GENERATE(false, true);
    const auto turn = [&](eddy::SolveOptions options) {
        if (backward) options.t0 = end, options.t1 = 0;
        return options;
    };

    const auto found = gradient_of(turn(both), start_of(2), Array(2, 1, k));
    const auto first =
        gradient_of(turn(options_with(eddy::piecewise_linear(knots, values))), start_of(1));
    const auto second =
        gradient_of(turn(options_with(eddy::piecewise_linear({0.1, 1.9}, {3, -2}))), start_of(1));

    CHECK(found.loss(0) == first.loss(0));
    CHECK(found.loss(1) == second.loss(0));
    for (std::ptrdiff_t i = 0; i < 4; ++i)
        CHECK(found.gradient.inputs(0, i) == first.gradient.inputs(i, 0));
    for (std::ptrdiff_t i = 0; i < 2; ++i)
        CHECK(found.gradient.inputs(1, i) == second.gradient.inputs(i, 0));
    CHECK(found.gradient.inputs(1, 3) == 0);
}

TEST_CASE("inputs: what does not fit is said before any work") {
    const auto said = [](const eddy::Inputs& inputs) {
        return message_of([&] { (void)gradient_of(options_with(inputs), start_of(1)); });
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();

    CHECK(support::mentions(said({}), "the equation reads 1 inputs, but there are none"));
    CHECK(support::mentions(said(eddy::piecewise_linear({0, 0}, {1, 2})),
                            "give knots that increase"));
    CHECK(support::mentions(said(eddy::piecewise_linear({0, nan}, {1, 2})),
                            "is nan; give finite times"));
    CHECK(support::mentions(said(eddy::piecewise_linear({0, 1}, {1, nan})),
                            "fill what is missing before"));
    CHECK(support::mentions(said(eddy::piecewise_linear({0, 1}, {1, 2, 3})),
                            "there are 2 knots of 1 components"));
    CHECK(support::mentions(said(eddy::piecewise_linear({0}, {1})),
                            "inputs of 1 knots; give at least 2"));
    CHECK(support::mentions(said(eddy::piecewise_linear({0, 1}, eddy::each(Array(3, 2, 1.)))),
                            "values of the inputs have a row for each of 3"));
    CHECK(support::mentions(
        message_of([] {
            (void)eddy::solve(Decay{}, eddy::Tsit5{}, start_of(1), Array(1, 1, k),
                              options_with(eddy::piecewise_linear(knots, values)), eddy::Serial{});
        }),
        "inputs, but the equation reads none"));
}

}  // namespace
