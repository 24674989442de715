// Gradients that estimate their own error: the estimate is a derivative with respect to what the
// steps' embedded errors add, it covers true errors, and nothing else changes.

#include <cmath>
#include <eddy/eddy.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stability_equations.hpp"

using eddy::SolveOptions, eddy::Tsit5;
using support::Array, support::rows, support::same_row;

namespace {

using Plane = zoo::Linear<2>;

template <class... Extras>
auto lorenz(const SolveOptions& options, const Extras&... extras) {
    return eddy::value_and_gradient(zoo::Lorenz{}, Tsit5{}, zoo::Along{}, rows({{1, 1, 1}}),
                                    rows({{1, 1, 1}}), rows({{10, 28, 8. / 3}}), options,
                                    extras...);
}
template <class... Extras>
auto plane(const Array& y0, const Array& a, const SolveOptions& options, const Extras&... extras) {
    return eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, rows({{1, 1}}), y0, a, options,
                                    extras...);
}
double largest_difference(const Array& x, const Array& y) {
    double largest = 0;
    for (std::ptrdiff_t i = 0; i < x.cols(); ++i)
        largest = std::max(largest, std::abs(x(0, i) - y(0, i)));
    return largest;
}
double largest(const Array& x) { return largest_difference(x, Array(1, x.cols())); }

/// Tsit5 whose steps end a thousandth of their estimated error further, or less far.
template <int sign>
struct Moved {
    static constexpr int order = 4;
    static constexpr auto tableau = [] {
        auto moved = Tsit5::tableau;
        for (int i = 0; i < moved.num_stages; ++i) moved.b[i] += sign * 1e-3 * moved.b_error[i];
        return moved;
    }();
    static constexpr int embedded_order = 4;
};

}  // namespace

TEST_CASE("gradient error: the estimate is the derivative along the errors of the steps") {
    // Steps of one size, which end on save points: the gradient is a smooth function of what is added.
    const SolveOptions options{.t1 = 1, .save_at = {0.5, 1}, .dt0 = 0.0625};
    const auto gradient = [&]<class Method>(Method, const auto&... extras) {
        return eddy::value_and_gradient(zoo::Lorenz{}, Method{}, zoo::Along{},
                                        std::vector<Array>(2, rows({{1, -2, 3}})),
                                        rows({{1, 1, 1}}), rows({{10, 28, 8. / 3}}), options,
                                        eddy::ConstantController{}, extras...);
    };
    const auto estimated = gradient(Tsit5{}, eddy::estimate_gradient_error);
    const auto above = gradient(Moved<1>{}, eddy::Rows{}),
               below = gradient(Moved<-1>{}, eddy::Rows{});

    const auto check = [](const Array& estimate, const Array& high, const Array& low) {
        for (std::ptrdiff_t i = 0; i < estimate.cols(); ++i) {
            const double slope = (high(0, i) - low(0, i)) / 2e-3;  // and an error of 1e-6 of it
            CHECK(std::abs(estimate(0, i) - slope) < 1e-4 * largest(estimate));
        }
    };
    check(estimated.report.error_estimate.y0, above.gradient.y0, below.gradient.y0);
    check(estimated.report.error_estimate.p, above.gradient.p, below.gradient.p);
    CHECK(largest(estimated.report.error_estimate.y0) > 0);
}

TEST_CASE("gradient error: estimates cover true errors and fall with the tolerance") {
    const auto truth = lorenz({.t1 = 3, .rtol = 1e-13, .atol = 1e-14});
    double before = INFINITY;
    for (const double rtol : {1e-5, 1e-7, 1e-9}) {
        const SolveOptions options{.t1 = 3, .rtol = rtol, .atol = rtol / 1000};
        const auto plain = lorenz(options);
        const auto estimated = lorenz(options, eddy::estimate_gradient_error);

        const auto covers = [](const Array& found, const Array& exact, const Array& estimate) {
            const double error = largest_difference(found, exact);
            CHECK(largest(estimate) > error);  // the estimate is that of an order less
            CHECK(largest(estimate) < 1e4 * error + 1e-9);
        };
        covers(plain.gradient.y0, truth.gradient.y0, estimated.report.error_estimate.y0);
        covers(plain.gradient.p, truth.gradient.p, estimated.report.error_estimate.p);
        CHECK(estimated.report.gradient_error(0) < before / 10);
        before = estimated.report.gradient_error(0);

        // And what was computed is what is computed without an estimate.
        CHECK(same_row(estimated.gradient.y0, 0, plain.gradient.y0, 0));
        CHECK(same_row(estimated.gradient.p, 0, plain.gradient.p, 0));
        CHECK(support::same_bits(estimated.loss(0), plain.loss(0)));
        CHECK(estimated.report.stats(0).accepted == plain.report.stats(0).accepted);
        CHECK(estimated.report.stats(0).rejected == plain.report.stats(0).rejected);
    }
}

TEST_CASE("gradient error: a worthless gradient says so, and the second solve's is small") {
    const Array y0 = rows({{1, 0}}), a = rows({{-1, 0, 0, -50}});
    SolveOptions options{.t1 = 10, .stable_gradients = false};
    const auto plain = plane(y0, a, options, eddy::estimate_gradient_error);
    options.stable_gradients = true;
    const auto stable = plane(y0, a, options, eddy::estimate_gradient_error);
    const auto without = plane(y0, a, options);

    CHECK(plain.report.gradient_error(0) > 1);
    CHECK(stable.report.redone(0));
    CHECK(stable.report.gradient_error(0) < 1e-2);
    CHECK(same_row(stable.gradient.y0, 0, without.gradient.y0, 0));
    CHECK(same_row(stable.gradient.p, 0, without.gradient.p, 0));
}

TEST_CASE("gradient error: an oscillator below the threshold of the rule is seen") {
    const Array rest = rows({{0, 0}}), a = rows({{0, 1, -4, 0}});
    const SolveOptions options{.t1 = 10, .dt_max = 0.5};
    const auto estimated = plane(rest, a, options, eddy::estimate_gradient_error);
    const double truth = std::cos(20.) - 2 * std::sin(20.);

    const double error = std::abs(estimated.gradient.y0(0, 0) - truth);
    CHECK_FALSE(estimated.report.redone(0));
    CHECK(error > 100 * options.rtol);
    CHECK(std::abs(estimated.report.error_estimate.y0(0, 0)) > error);
    CHECK(estimated.report.gradient_error(0) > 100 * options.rtol);
}

TEST_CASE("gradient error: Serial, packs, few checkpoints and save points within steps agree") {
    constexpr std::ptrdiff_t num_lanes = 11;
    Array y0(num_lanes, 2), a(num_lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        y0(lane, 0) = 1;
        y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
        a(lane, 0) = -1;
        a(lane, 3) = -2 * static_cast<double>(lane + 1);
    }
    SolveOptions options{.t1 = 3, .save_at = {0.1, 0.77, 3}};
    const std::vector<Array> data(3, rows({{1, 1}}));
    const auto gradient = [&](const auto&... extras) {
        return eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, data, y0, a, options,
                                        extras..., eddy::estimate_gradient_error);
    };
    const auto packs = gradient(), serial = gradient(eddy::Serial{});
    options.checkpoints = 2;
    options.memory_budget = 1;
    const auto sparse = gradient();
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (const auto* other : {&serial, &sparse}) {
            CHECK(same_row(packs.gradient.p, lane, other->gradient.p, lane));
            CHECK(same_row(packs.report.error_estimate.y0, lane, other->report.error_estimate.y0,
                           lane));
            CHECK(same_row(packs.report.error_estimate.p, lane, other->report.error_estimate.p,
                           lane));
            CHECK(packs.report.gradient_error(lane) == other->report.gradient_error(lane));
        }
    }
}

TEST_CASE(
    "gradient error: of a sum over lanes, of cotangents that are given, of a lane that failed") {
    const SolveOptions options{.t1 = 1};
    const std::vector<double> a{-1, 0, 0, -2};
    const Array y0 = rows({{1, 1}, {2, 1}}), one = rows({{1, 1}});
    const auto together =
        eddy::value_and_gradient(Plane{}, Tsit5{}, zoo::Along{}, one, y0, eddy::shared(a), options,
                                 eddy::estimate_gradient_error);
    const Array own = rows({{-1, 0, 0, -2}, {-1, 0, 0, -2}});
    const auto apart = plane(y0, own, options, eddy::estimate_gradient_error);
    auto solver = eddy::pullback_solver(Plane{}, Tsit5{}, options, eddy::estimate_gradient_error);
    const auto pulled = solver(one, y0, own);

    REQUIRE(together.report.error_estimate.p.rows() == 1);
    for (int i = 0; i < 4; ++i) {
        const Array& each = apart.report.error_estimate.p;
        CHECK(together.report.error_estimate.p(0, i) == each(0, i) + each(1, i));
        CHECK(pulled.report.error_estimate.p(1, i) == each(1, i));
    }

    SolveOptions short_of_steps = options;
    short_of_steps.max_steps = 2;
    const auto failed = plane(y0, own, short_of_steps, eddy::estimate_gradient_error);
    CHECK(std::isnan(failed.report.gradient_error(0)));
    CHECK_THROWS_WITH(plane(y0, own, options).report.gradient_error(0),
                      "report: an error of the gradient was asked for, but none was estimated; put "
                      "eddy::estimate_gradient_error after the options of the call");
}
