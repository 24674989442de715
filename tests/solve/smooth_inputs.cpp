// Inputs over whose knots steps pass: what f reads is the same, steps are fewer, and derivatives go to the pieces in which
// the stages of a step lie.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/constant.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array, support::message_of;

struct Stopping {
    static constexpr int state_size = 2, parameter_size = 1, input_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u,
                              const auto& du) const {
        return eddy::vec(u[0] - p[0] * y[0], du[0] - 0.1 * y[1] * y[0]);
    }
};
struct Passing : Stopping {
    static constexpr bool input_is_smooth = true;
};
/// The same with u = t³ − t, by hand.
struct ByHand {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(t * t * t - t - p[0] * y[0], 3 * t * t - 1 - 0.1 * y[1] * y[0]);
    }
};
/// u is read alone.
struct Level {
    static constexpr int state_size = 1, parameter_size = 0, input_size = 1;
    static constexpr bool input_is_smooth = true;
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& u) const {
        return eddy::vec(u[0] - y[0]);
    }
};
struct SumOfBoth {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + y[1]; }
};

constexpr int num_knots = 81;
/// From −2 to 2.
std::vector<double> at_knots(double (*function)(double)) {
    std::vector<double> values;
    for (int k = 0; k < num_knots; ++k) values.push_back(function(-2 + 0.05 * k));
    return values;
}
const std::vector<double> knots = at_knots([](double t) { return t; });
const Array start(1, 2, 0.3), p(1, 1, 0.7);

eddy::SolveOptions options_with(const eddy::Inputs& inputs, double rtol = 1e-12) {
    return {.t0 = -2, .t1 = 2, .rtol = rtol, .atol = rtol / 100, .inputs = inputs};
}
template <class Field>
auto solution_of(const eddy::SolveOptions& options) {
    return eddy::solve(Field{}, eddy::Tsit5{}, start, p, options, eddy::Serial{});
}
template <class Field>
auto gradient_of(const eddy::SolveOptions& options) {
    return eddy::value_and_gradient(Field{}, eddy::Tsit5{}, SumOfBoth{}, start, p, options,
                                    eddy::Serial{});
}
std::vector<double> wave() {
    return at_knots([](double t) { return std::sin(2 * t); });
}

TEST_CASE("smooth inputs: pieces of one cubic are that cubic, forward and backward") {
    auto options =
        options_with(eddy::cubic_hermite(knots, at_knots([](double t) { return t * t * t - t; }),
                                         at_knots([](double t) { return 3 * t * t - 1; })));
    auto plain = options_with({});
    for (auto* wider : {&options, &plain}) wider->t0 = -2.1, wider->t1 = 2.1;
    if (GENERATE(false, true)) {
        for (auto* turned : {&options, &plain}) turned->t0 = 2.1, turned->t1 = -2.1;
    }

    const auto found = solution_of<Passing>(options);
    const auto wanted = solution_of<ByHand>(plain);

    for (std::ptrdiff_t i = 0; i < 2; ++i)
        CHECK(std::abs(found.y(0)(0, i) - wanted.y(0)(0, i)) < 1e-12);
    CHECK(found.stats(0).accepted == wanted.stats(0).accepted);
}

TEST_CASE("smooth inputs: fewer steps than knots find the same, and the same derivatives") {
    const auto options = options_with(eddy::natural_cubic_spline(knots, wave()), 1e-6);
    const auto exact = options_with(eddy::natural_cubic_spline(knots, wave()));

    CHECK(solution_of<Stopping>(options).stats(0).accepted >= num_knots - 1);
    CHECK(solution_of<Passing>(options).stats(0).accepted < 2 * num_knots / 3);
    const auto found = gradient_of<Passing>(exact), wanted = gradient_of<Stopping>(exact);
    CHECK(std::abs(found.loss.total - wanted.loss.total) < 1e-9);
    CHECK(std::abs(found.gradient.p(0, 0) - wanted.gradient.p(0, 0)) < 1e-9);
    double along = 0, wanted_along = 0;  // a smooth change of the values, as steps resolve it
    for (std::ptrdiff_t k = 0; k < num_knots; ++k) {
        const double change = std::cos(knots[static_cast<std::size_t>(k)]);
        along += found.gradient.inputs(k, 0) * change;
        wanted_along += wanted.gradient.inputs(k, 0) * change;
    }
    CHECK(std::abs(along - wanted_along) < 1e-9);
}

/// Steps of a constant size, most of which pass over knots.
template <class Method>
void check_differences(const Method& method) {
    const auto at = [&](int k, double change) {
        std::vector<double> values = wave();
        values[static_cast<std::size_t>(k)] += change;
        auto options = options_with(eddy::natural_cubic_spline(knots, values));
        options.dt0 = 0.07;
        return eddy::value_and_gradient(Passing{}, method, SumOfBoth{}, start, p, options,
                                        eddy::Serial{}, eddy::ConstantController{});
    };
    const auto found = at(0, 0);

    for (int k = 0; k < num_knots; ++k) {
        const double difference = (at(k, 1e-3).loss.total - at(k, -1e-3).loss.total) / 2e-3;
        // What is not linear in the values is far below 1, and the change is squared.
        CHECK(std::abs(found.gradient.inputs(k, 0) - difference) < 1e-7);
    }
}

TEST_CASE("smooth inputs: derivatives of constant steps are those of differences") {
    check_differences(eddy::Tsit5{});
}
TEST_CASE("smooth inputs: so are those of a method that reads their change with time") {
    check_differences(eddy::Rodas5P{});
}

TEST_CASE("smooth inputs: what jumps at knots is refused") {
    const auto said = [](const eddy::Inputs& inputs) {
        return message_of([&] { (void)solution_of<Passing>(options_with(inputs)); });
    };

    CHECK(said(eddy::piecewise_constant(knots, wave())) ==
          "solve: inputs that jump at knots, but the equation says that they are smooth; leave its "
          "member input_is_smooth out, or give continuous inputs");
    CHECK(said(eddy::piecewise_linear(knots, wave())) ==
          "solve: inputs whose slopes jump at knots, but the equation, which reads these, says "
          "that they are smooth; leave its member input_is_smooth out, or give cubic inputs");
    const auto level =
        eddy::solve(Level{}, eddy::Tsit5{}, Array(1, 1, 0.3), Array(1, 0),
                    options_with(eddy::piecewise_linear(knots, wave()), 1e-3), eddy::Serial{});
    CHECK(level.stats(0).accepted < num_knots);
}

}  // namespace
