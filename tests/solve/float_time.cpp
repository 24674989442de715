// Lanes of single precision that keep time in pairs of floats (CudaFloatTime), on emulated warps, beside Serial, whose times
// are doubles.
#include <algorithm>
#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using FloatTime = eddy::GridBackend<support::EmulatedRuntime, eddy::FloatFloat>;
using Floats = eddy::EnsembleArray<float>;
static_assert(std::is_same_v<FloatTime::Time<double>, double>);

constexpr std::ptrdiff_t lanes = 67;
constexpr float rounding = 0x1p-23f;

struct Decay {  // dy/dt = −p y
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
struct Growth {  // dy/dt = p y²: ends where it has no end
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0]);
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

Floats filled(int components, float first, float last) {
    Floats array(lanes, components);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < components; ++i)
            array(lane, i) = first + (last - first) * static_cast<float>(lane) / lanes;
    }
    return array;
}
/// The largest difference, as a share of the largest entry.
float difference(const Floats& a, const Floats& b) {
    float most = 0, largest = 0;
    for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
            most = std::max(most, std::abs(a(lane, i) - b(lane, i)));
            largest = std::max(largest, std::abs(b(lane, i)));
        }
    }
    return most / largest;
}

}  // namespace

TEST_CASE("float time: steps, states and gradients are those of double times, but for rounding") {
    const std::vector<double> times{0.5, 2.25, 3};
    const Floats y0 = filled(2, 0.5, 1), p = filled(2, 1, 3);
    for (const double t1 : {4., -4.}) {
        std::vector<double> saves = times;
        for (double& t : saves) t = std::copysign(t, t1);
        const eddy::SolveOptions options{.t1 = t1, .rtol = 1e-4, .atol = 1e-6, .save_at = saves};
        const auto expected = eddy::value_and_gradient(support::Forced{}, eddy::Tsit5{}, Squares{},
                                                       y0, p, options, eddy::Serial{});
        const auto found = eddy::value_and_gradient(support::Forced{}, eddy::Tsit5{}, Squares{}, y0,
                                                    p, options, FloatTime{});

        REQUIRE(found.report.success());
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            CHECK(std::abs(found.report.stats(lane).accepted -
                           expected.report.stats(lane).accepted) <= 1);
        }
        // As far apart as steps of slightly different sizes are: below the tolerance.
        CHECK(difference(found.gradient.y0, expected.gradient.y0) < 1e-4f);
        CHECK(difference(found.gradient.p, expected.gradient.p) < 1e-4f);
        CHECK(found.loss.total == Approx(expected.loss.total).epsilon(1e-4));
    }
}

TEST_CASE("float time: a replay makes the steps of the first time, to the bit") {
    const Floats y0 = filled(2, 0.5, 1), p = filled(2, 1, 3);
    eddy::SolveOptions options{.t1 = 6, .rtol = 1e-5, .atol = 1e-6, .checkpoints = 1000};
    const auto gradient = [&] {
        return eddy::value_and_gradient(support::Forced{}, eddy::Tsit5{}, Squares{}, y0, p, options,
                                        FloatTime{});
    };
    const auto kept = gradient();
    for (const int checkpoints : {1, 3, 16}) {
        options.checkpoints = checkpoints;
        const auto replayed = gradient();
        CHECK(support::same_array(replayed.gradient.y0, kept.gradient.y0));
        CHECK(support::same_array(replayed.gradient.p, kept.gradient.p));
    }
}

TEST_CASE("float time: far from zero, where a float counts in steps of 64") {
    const Floats y0 = filled(1, 1, 2), p = filled(1, 0.1f, 1);
    for (const double t0 : {1e9, -1e9}) {
        const std::vector<double> saves{t0 + 0.75, t0 + 3};
        const eddy::SolveOptions options{
            .t0 = t0, .t1 = t0 + 3, .rtol = 1e-6, .atol = 1e-7, .save_at = saves};
        const auto solution = eddy::solve(Decay{}, eddy::Tsit5{}, y0, p, options, FloatTime{});

        REQUIRE(solution.success());
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            const double rate = p(lane, 0);
            CHECK(solution.y(0)(lane, 0) ==
                  Approx(y0(lane, 0) * std::exp(-0.75 * rate)).epsilon(2e-5));
            CHECK(solution.y(1)(lane, 0) ==
                  Approx(y0(lane, 0) * std::exp(-3 * rate)).epsilon(2e-5));
        }
    }
}

TEST_CASE("float time: steps of constant size gather no error of time") {
    const Floats y0 = filled(1, 1, 2), p = filled(1, 0.1f, 1);
    const eddy::SolveOptions options{.t0 = 1e9, .t1 = 1e9 + 4, .dt0 = 0.0009765625};
    const auto at = [&](const auto& backend) {
        return eddy::value_and_gradient(Decay{}, eddy::Tsit5{}, Squares{}, y0, p, options,
                                        eddy::ConstantController{}, backend);
    };
    const auto found = at(FloatTime{}), expected = at(eddy::Serial{});

    REQUIRE(found.report.success());
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        CHECK(found.report.stats(lane).accepted == 4096);
    // Sizes are powers of two: f of t, y and p has the same arguments.
    CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(support::same_array(found.gradient.p, expected.gradient.p));
}

TEST_CASE("float time: the noise of a path is that of double times") {
    const Floats y0 = filled(1, 1, 2), p = filled(2, 0.1f, 0.3f);
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 256, .seed = 5};
    const auto at = [&](const auto& backend) {
        return eddy::solve(support::GeometricBrownian{}, eddy::EulerMaruyama{}, y0, p, options,
                           eddy::ConstantController{}, backend);
    };
    CHECK(difference(at(FloatTime{}).y(0), at(eddy::Serial{}).y(0)) < 256 * rounding);
}

TEST_CASE("float time: tangents") {
    const Floats y0 = filled(1, 1, 2), p = filled(1, 0.1f, 1);
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .atol = 1e-6};
    const Floats ones = filled(1, 1, 1), none = filled(1, 0, 0);
    const auto pushed =
        eddy::pushforward(Decay{}, eddy::Tsit5{}, y0, p, none, ones, options, FloatTime{});
    const auto products = eddy::hessian_vector_product(Decay{}, eddy::Tsit5{}, Squares{}, y0, p,
                                                       none, ones, options, FloatTime{});

    REQUIRE(pushed.success());
    REQUIRE(products.report.success());
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const double start = y0(lane, 0), rate = p(lane, 0), end = start * std::exp(-2 * rate);
        CHECK(pushed.tangent()(lane, 0) == Approx(-2 * end).epsilon(1e-4));
        CHECK(products.product.p(lane, 0) == Approx(16 * end * end).epsilon(1e-3));  // of y(2)²
    }
}

TEST_CASE("float time: stiff methods") {
    const Floats y0 = filled(1, 1, 2), p = filled(1, 1, 1e4f);
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-4, .atol = 1e-6};
    const auto at = [&](const auto& backend) {
        return eddy::value_and_gradient(Decay{}, eddy::Rodas4{}, Squares{}, y0, p, options,
                                        backend);
    };
    const auto found = at(FloatTime{}), expected = at(eddy::Serial{});

    REQUIRE(found.report.success());
    CHECK(difference(found.gradient.y0, expected.gradient.y0) < 1e-4f);
}

TEST_CASE("float time: a lane that cannot go on ends, with its time") {
    const Floats y0 = filled(1, 1, 1), p = filled(1, 0.1f, 2);  // y grows beyond bounds at 1 / p
    const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-4, .atol = 1e-6};
    const auto found = eddy::solve(Growth{}, eddy::Tsit5{}, y0, p, options, FloatTime{});
    const auto expected = eddy::solve(Growth{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});

    int failures = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        INFO("lane " << lane);
        CHECK(eddy::is_failure(found.result(lane)) == eddy::is_failure(expected.result(lane)));
        if (!eddy::is_failure(found.result(lane))) continue;
        ++failures;
        CHECK(found.failure(lane).t == Approx(1. / p(lane, 0)).epsilon(1e-3));
    }
    CHECK(failures > 10);
    CHECK(failures < lanes - 10);
}

TEST_CASE("float time: what is no pair of floats is refused") {
    const Floats y0 = filled(1, 1, 2), p = filled(1, 0.1f, 1);
    const auto message = [&](const eddy::SolveOptions& options) {
        return support::message_of([&] {
            static_cast<void>(eddy::solve(Decay{}, eddy::Tsit5{}, y0, p, options, FloatTime{}));
        });
    };
    CHECK_THAT(message({.t1 = 1e39}),
               support::contains("solve: times from 0 to 1e+39 are kept as sums of two floats"));
    CHECK_THAT(message({.t1 = 1, .dt0 = 1e-50}),
               support::contains("solve: a step of size 1e-50 where times are sums of two floats"));
    CHECK(message({.t1 = 1, .dt_min = 1e-30}).empty());
}
