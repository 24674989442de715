// Stochastic equations by steps of adaptive size: one path whatever is rejected, no bias by looking
// ahead, smaller errors for smaller tolerances, gradients of the computed path. Seeds are fixed: a
// failure is a change, never chance. Statistical bounds are five standard errors.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/sosri.hpp>
#include <eddy/solvers/sra1.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::Array;
using Geometric = support::GeometricBrownian;

/// W itself beside an oscillator that wants small steps: damped where W is large.
struct Walk {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto t, const auto& y, const auto&) const {
        using std::sin;
        return eddy::vec(0. * y[0], -8. * y[1] * y[0] * y[0] + sin(20. * t));
    }
    constexpr auto diffusion(auto, const auto&, const auto&) const { return eddy::vec(1., 0.); }
};
/// Two Brownian motions, and one driven by the other.
struct Iterated {
    static constexpr int state_size = 3, parameter_size = 0;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto, const auto& y, const auto&) const { return 0. * y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::columns(eddy::vec(1., 0., 0.), eddy::vec(0., 1., y[0]));
    }
};
struct Cubic {
    static constexpr int state_size = 1, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const {
        return eddy::vec(y[0] * y[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::vec(0.1 * y[0]);
    }
};

const eddy::PIDController controller{.pcoeff = 0.1, .icoeff = 0.3};

struct Mean {
    double n = 0, sum = 0, squares = 0;
    void add(double x) { n += 1, sum += x, squares += x * x; }
    void require(double expected) const {
        const double mean = sum / n, error = std::sqrt((squares / n - mean * mean) / n);
        INFO(mean << " for " << expected << ", standard error " << error);
        CHECK(std::abs(mean - expected) < 5 * error);
    }
};

}  // namespace

TEST_CASE("adaptive noise: the path is that of constant steps, whatever is rejected") {
    const Array y0(20, 2, 0.), p(20, 0);
    const eddy::SolveOptions constant{
        .t1 = 2, .save_at = {0.5, 1, 2}, .dt0 = 1. / 64, .seed = 5, .noise_cell = 0.25};
    const auto fine = eddy::solve(Walk{}, eddy::Heun{}, y0, p, constant);
    for (const double rtol : {1e-1, 1e-2, 1e-4}) {
        const auto found = eddy::solve(
            Walk{}, eddy::Heun{}, y0, p,
            {.t1 = 2, .rtol = rtol, .atol = rtol, .save_at = {0.5, 1, 2}, .dt0 = 0.25, .seed = 5},
            controller);
        std::int64_t rejected = 0;
        for (int lane = 0; lane < 20; ++lane) {
            rejected += found.stats(lane).rejected;
            for (int k = 0; k < 3; ++k)
                CHECK(found.y(k)(lane, 0) == Approx(fine.y(k)(lane, 0)).margin(1e-13));
        }
        if (rtol < 0.05) CHECK(rejected > 20);
    }
}

TEST_CASE("adaptive noise: stops cut cells, and steps still end on them exactly") {
    const Array y0(5, 2, 0.), p(5, 0);
    const auto found = eddy::solve(Walk{}, eddy::Heun{}, y0, p,
                                   {.t0 = 1e3,
                                    .t1 = 1e3 + 1.03,
                                    .rtol = 1e-2,
                                    .atol = 1e-2,
                                    .save_at = {1e3 + 0.3, 1e3 + 1.03},
                                    .save_steps = true,
                                    .dt0 = 0.25,
                                    .seed = 1},
                                   controller);
    for (int lane = 0; lane < 5; ++lane) {
        CHECK(found.result(lane) == eddy::Result::success);
        bool meets_save = false;
        for (std::int64_t k = 0; k < found.num_steps(lane); ++k)
            meets_save = meets_save || found.step_t(lane, k) == 1e3 + 0.3;
        CHECK(meets_save);
        CHECK(found.step_t(lane, found.num_steps(lane) - 1) == 1e3 + 1.03);
    }
}

TEST_CASE("adaptive noise: no bias of W, of W squared, of iterated integrals by looking ahead") {
    constexpr int paths = 20000;
    const Array y0(paths, 3, 0.), p(paths, 0);
    const auto found = eddy::solve(
        Iterated{}, eddy::Heun{}, y0, p,
        {.t1 = 1, .rtol = 1e-12, .atol = {10, 10, 0.05}, .dt0 = 0.25, .seed = 2}, controller);
    Mean w, square, integral, product;
    std::int64_t rejected = 0;
    for (int lane = 0; lane < paths; ++lane) {
        const double w1 = found.y()(lane, 0), w2 = found.y()(lane, 1);
        w.add(w1), square.add(w1 * w1), product.add(w1 * w2);
        integral.add(found.y()(lane, 2));
        rejected += found.stats(lane).rejected;
    }
    CHECK(rejected > paths / 2);  // what is looked at and not stepped to would bias the integral
    w.require(0);
    square.require(1);
    product.require(0);
    integral.require(0);
}

TEST_CASE("adaptive noise: errors follow the tolerance") {
    const Array y0(200, 1, 1.), p(200, 2, 0.5);
    eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 4096, .seed = 3, .noise_cell = 0.25};
    const auto exact = eddy::solve(Geometric{}, eddy::SOSRI{}, y0, p, options);
    double last = 1;
    options.dt0 = 0.25;
    for (const double rtol : {1e-2, 1e-3, 1e-4}) {
        options.rtol = options.atol.values[0] = rtol;
        const auto found = eddy::solve(Geometric{}, eddy::SOSRI{}, y0, p, options, controller);
        double error = 0, steps = 0;
        for (int lane = 0; lane < 200; ++lane) {
            error += std::pow(found.y()(lane, 0) - exact.y()(lane, 0), 2) / 200;
            steps += static_cast<double>(found.stats(lane).accepted) / 200;
        }
        CHECK(std::sqrt(error) < 0.5 * last);
        // A step's estimate is at most rtol (1 + |y|), its error of half an order more than that, and
        // errors of steps are nearly uncorrelated: they add up in squares, to √steps of them. Found are
        // 1.5, 2.1 and 3.4 rtol, by 4, 18 and 81 steps.
        CHECK(std::sqrt(error) < std::fmin(std::sqrt(steps), 5) * rtol);
        last = std::sqrt(error);
    }
}

TEST_CASE("adaptive noise: reverse is forward, is the closed form of a linear equation") {
    const Array y0(6, 1, 1.3), p(6, 2, 0.4);
    const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-3, .atol = 1e-3, .dt0 = 0.5, .seed = 4};
    const auto solution = eddy::solve(Geometric{}, eddy::Heun{}, y0, p, options, controller);
    const auto pulled = eddy::pullback(solution, Array(6, 1, 1.));
    const auto forward = eddy::pushforward(Geometric{}, eddy::Heun{}, y0, p, Array(6, 1, 1.),
                                           Array(6, 2, 0.), options, controller);
    for (int lane = 0; lane < 6; ++lane) {
        CHECK(solution.stats(lane).rejected > 0);
        // A linear equation: y is proportional to y0 as long as the steps are the same.
        CHECK(pulled.y0(lane, 0) == Approx(solution.y()(lane, 0) / 1.3).epsilon(1e-12));
        CHECK(forward.tangent()(lane, 0) == Approx(pulled.y0(lane, 0)).epsilon(1e-12));
    }
}

TEST_CASE("adaptive noise: a path that blows up is a result, and disturbs no other") {
    Array y0(9, 1, 0.1);
    const Array p(9, 0);
    y0(4, 0) = 3;
    const auto found =
        eddy::solve(Cubic{}, eddy::SOSRI{}, y0, p,
                    {.t1 = 1, .rtol = 1e-2, .atol = 1e-4, .dt0 = 0.25, .seed = 1}, controller);
    for (int lane = 0; lane < 9; ++lane) {
        if (lane == 4)
            CHECK(eddy::is_failure(found.result(lane)));
        else
            CHECK(found.result(lane) == eddy::Result::success);
    }
}

TEST_CASE("adaptive noise: bad input is refused before any work") {
    const Array y0(2, 1, 1.), p(2, 2, 0.4);
    const auto refused = [&](const eddy::SolveOptions& options, const char* text) {
        CHECK_THROWS_WITH(eddy::solve(Geometric{}, eddy::Heun{}, y0, p, options, controller),
                          support::contains(text));
    };
    refused({.t1 = 1, .dt0 = std::nan("")},
            "dt0 = nan; give the size of the steps, or, with a controller, of the first");
    refused({.t0 = HUGE_VAL, .t1 = 1, .dt0 = 0.1}, "t0 = inf; give a finite time to begin at");
    refused({.t1 = 1}, "dt0 = 0; give the size of its steps, or, with a controller, of the first");
    refused({.t1 = 1, .dt0 = 0.1, .noise_cell = 0.3}, "the nearest is 0.4");
    refused({.t0 = 1, .t1 = 0, .dt0 = -0.1}, "forward in time");
}
