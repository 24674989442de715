// Langevin's equation: without a force the method is exact, with one it is of order two; laws,
// gradients, and what is refused.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/sampled_path.hpp>
#include <eddy/solvers/align.hpp>
#include <eddy/solvers/quicsort.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array;
using support::HalfSquares;

/// No force; p = (friction, temperature).
struct Free {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto force(auto, const auto& x, const auto&) const { return 0. * x; }
    constexpr auto friction(const auto& p) const { return p[0]; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};
/// Two pendulums that pull at each other, pushed in time.
struct Pendulums {
    static constexpr int state_size = 4, parameter_size = 3;
    constexpr auto force(auto t, const auto& x, const auto& p) const {
        using std::sin;
        return eddy::vec(-1. * sin(x[0]) + p[2] * (x[1] - x[0]) + 0.3 * sin(2. * t),
                         -2. * sin(x[1]) + p[2] * (x[0] - x[1]));
    }
    constexpr auto friction(const auto& p) const { return p[0]; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};
/// A spring of stiffness 2, friction 1, at temperature 1/2.
struct Spring {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto force(auto, const auto& x, const auto&) const { return -2. * x; }
    constexpr auto friction(const auto&) const { return 1.; }
    constexpr auto temperature(const auto&) const { return 0.5; }
};

const eddy::ALIGN align;
const eddy::QUICSORT quicsort;

double largest_difference(const auto& a, const auto& b) {
    double largest = 0;
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
        for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane)
            largest = std::fmax(largest, std::abs(a(lane, i) - b(lane, i)));
    }
    return largest;
}

/// A spring in heat has its law, within five standard errors and what the method's steps leave.
void check_law_of_spring(const auto& method, double size) {
    const std::int64_t paths = 100'000;
    Array start(1, 2, 0.);
    start(0, 0) = 1;
    const eddy::SolveOptions options{.t1 = 1, .dt0 = size, .seed = 4, .paths = paths};
    const auto found = eddy::solve(Spring{}, method, start, Array(1, 0), options);
    const double means[] = {0.3710735514697344, -0.8889510322667147};
    const double variances[] = {0.1167968626289024, 0.2997475913497457};
    for (int i = 0; i < 2; ++i) {
        const double n = static_cast<double>(paths);
        CHECK(std::abs(found.mean()(0, i) - means[i]) < 5 * std::sqrt(variances[i] / n) + 2e-4);
        CHECK(std::abs(found.variance()(0, i) - variances[i]) <
              5 * variances[i] * std::sqrt(2 / n) + 2e-4);
    }
}

/// Of two pendulums in heat: the slope of log2 of the error over three halvings of the step, on one path, against
/// steps of size `finest`.
double strong_slope(const auto& method, double finest) {
    const Array start(100, 4, 0.5), p(100, 3, 0.6);
    eddy::SolveOptions options{.t1 = 1, .dt0 = finest, .seed = 6, .noise_cell = 0.125};
    const auto exact = eddy::solve(Pendulums{}, method, start, p, options);
    double errors[4];
    for (int level = 0; level < 4; ++level) {
        options.dt0 = std::ldexp(0.125, -level);
        const auto found = eddy::solve(Pendulums{}, method, start, p, options);
        errors[level] = largest_difference(found.y(), exact.y());
    }
    UNSCOPED_INFO("from " << errors[0] << " to " << errors[3]);
    return std::log2(errors[0] / errors[3]) / 3;
}

}  // namespace

TEST_CASE("Langevin: without force and heat the steps are exact, with any friction") {
    for (const double friction : {0., 1e-9, 1e-3, 0.7, 3., 40.}) {
        CAPTURE(friction);
        Array p(1, 2, 0.);
        p(0, 0) = friction;
        const auto found =
            eddy::solve(Free{}, align, Array(1, 2, 0.3), p, {.t1 = 2, .dt0 = 0.5, .seed = 3});
        const double path = friction > 0 ? -std::expm1(-2 * friction) / friction : 2;
        CHECK(found.y()(0, 0) == Approx(0.3 + 0.3 * path).epsilon(1e-13));
        CHECK(found.y()(0, 1) ==
              Approx(0.3 * std::exp(-2 * friction)).epsilon(1e-12).margin(1e-30));
    }
}

TEST_CASE("Langevin: with heat coarse steps miss what W and H do not tell of the noise") {
    for (const double friction : {1e-9, 1e-3, 0.7, 3.}) {
        CAPTURE(friction);
        Array start(5, 2, 0.3), p(5, 2, 0.8);
        for (int lane = 0; lane < 5; ++lane) p(lane, 0) = friction;
        eddy::SolveOptions options{.t1 = 2, .dt0 = 0.5, .seed = 3, .noise_cell = 0.5};
        const auto coarse = eddy::solve(Free{}, align, start, p, options);
        options.dt0 = 1. / 64;
        const auto fine = eddy::solve(Free{}, align, start, p, options);
        // Positions weigh the noise by (1 − e^−γs)/γ, velocities by e^−γs: of both the steps know the
        // part that is linear in s, and leave one of the order of z = γh.
        const double kick = std::sqrt(2 * friction * 0.8), z = friction * 0.5;
        CHECK(largest_difference(coarse.y(), fine.y()) < 1e-13 + 0.2 * kick * std::fmin(z, 1));
    }
}

TEST_CASE("Langevin: a spring in heat has its law") { check_law_of_spring(align, 1. / 32); }

TEST_CASE("Langevin: strong order two") { CHECK(strong_slope(align, 1. / 1024) > 1.9); }

TEST_CASE("Langevin: gradients are those of the computed path") {
    const Array start(3, 4, 0.4), target(1, 4, 0.1);
    const std::vector<double> p{0.6, 0.8, 0.5};
    const eddy::SolveOptions options{.t1 = 2, .dt0 = 0.125, .seed = 5};
    const auto loss = [&](const Array& from, const std::vector<double>& parameters) {
        return eddy::value_and_gradient(Pendulums{}, align, HalfSquares{}, target, from,
                                        eddy::shared(parameters), options);
    };
    const auto found = loss(start, p);
    for (std::size_t i = 0; i < 3; ++i) {
        auto up = p, down = p;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        const double slope = (loss(start, up).loss.total - loss(start, down).loss.total) / 2e-5;
        CHECK(found.gradient.p(0, static_cast<std::ptrdiff_t>(i)) == Approx(slope).epsilon(1e-7));
    }
    Array up = start, down = start;
    up(1, 3) += 1e-5;
    down(1, 3) -= 1e-5;
    CHECK(found.gradient.y0(1, 3) ==
          Approx((loss(up, p).loss.total - loss(down, p).loss.total) / 2e-5).epsilon(1e-7));
}

TEST_CASE("Langevin: the path is there to be looked at") {
    auto path = eddy::brownian_path(Pendulums{}, {.t1 = 1, .dt0 = 0.25}, 0);
    CHECK(path(0.5).size() == 2);
}

TEST_CASE("Langevin: QUICSORT is exact without force and heat, with any friction") {
    for (const double friction : {0., 1e-9, 1e-3, 0.7, 1.9, 3., 40.}) {
        CAPTURE(friction);
        Array p(1, 2, 0.);
        p(0, 0) = friction;
        const auto found =
            eddy::solve(Free{}, quicsort, Array(1, 2, 0.3), p, {.t1 = 2, .dt0 = 0.5, .seed = 3});
        const double path = friction > 0 ? -std::expm1(-2 * friction) / friction : 2;
        CHECK(found.y()(0, 0) == Approx(0.3 + 0.3 * path).epsilon(1e-13));
        CHECK(found.y()(0, 1) ==
              Approx(0.3 * std::exp(-2 * friction)).epsilon(1e-12).margin(1e-30));
    }
}

TEST_CASE("Langevin: QUICSORT knows of the noise what is quadratic in time as well") {
    for (const double friction : {1e-9, 1e-3, 0.7, 3.}) {
        CAPTURE(friction);
        Array start(5, 2, 0.3), p(5, 2, 0.8);
        for (int lane = 0; lane < 5; ++lane) p(lane, 0) = friction;
        eddy::SolveOptions options{.t1 = 2, .dt0 = 0.5, .seed = 3, .noise_cell = 0.5};
        const auto coarse = eddy::solve(Free{}, quicsort, start, p, options);
        options.dt0 = 1. / 64;
        const auto fine = eddy::solve(Free{}, quicsort, start, p, options);
        const double kick = std::sqrt(2 * friction * 0.8), z = friction * 0.5;
        CHECK(largest_difference(coarse.y(), fine.y()) < 1e-13 + 0.05 * kick * std::fmin(z * z, 1));
    }
}

TEST_CASE("Langevin: QUICSORT has the law of a spring in heat") {
    check_law_of_spring(quicsort, 1. / 8);
}

TEST_CASE("Langevin: QUICSORT has strong order three, and the gradients of its path") {
    CHECK(strong_slope(quicsort, 1. / 512) > 2.9);

    const Array start(100, 4, 0.5), p(100, 3, 0.6);
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 64, .seed = 6, .noise_cell = 0.125};
    const Array target(1, 4, 0.1);
    const auto loss = [&](const Array& parameters) {
        return eddy::value_and_gradient(Pendulums{}, quicsort, HalfSquares{}, target, start,
                                        parameters, options);
    };
    const auto found = loss(p);
    for (int i = 0; i < 3; ++i) {
        Array up = p, down = p;
        up(7, i) += 1e-5;
        down(7, i) -= 1e-5;
        const double difference = (loss(up).loss(7) - loss(down).loss(7)) / 2e-5;
        CHECK(found.gradient.p(7, i) == Approx(difference).epsilon(1e-6).margin(1e-9));
    }
}
