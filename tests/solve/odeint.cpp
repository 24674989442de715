// Boost.Odeint as an oracle: the same method on the same grid, and the same tolerance.

#include <array>
#include <boost/numeric/odeint/integrate/integrate_adaptive.hpp>
#include <boost/numeric/odeint/integrate/integrate_n_steps.hpp>
#include <boost/numeric/odeint/stepper/generation.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/dopri5.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

namespace odeint = boost::numeric::odeint;
using State = std::array<double, 2>;
using Dopri5 = odeint::runge_kutta_dopri5<State>;
using support::Forced;
using support::rows;

constexpr State start{1, 0.5};
constexpr std::array<double, 2> parameters{1.5, 2};
constexpr double t0 = 0.25, t1 = 3.25;

/// The field as odeint calls it.
const auto forced = [](const State& y, State& dy, double t) {
    const auto f = Forced{}(t, y, parameters);
    dy = {f[0], f[1]};
};

template <class... Extras>
State end_of(const eddy::SolveOptions& options, const Extras&... extras) {
    const auto solution = eddy::solve(Forced{}, eddy::Dopri5{}, rows({{start[0], start[1]}}),
                                      rows({{parameters[0], parameters[1]}}), options, extras...);
    eddy::require_success(solution);
    return {solution.y()(0, 0), solution.y()(0, 1)};
}

double distance(const State& a, const State& b) {
    return std::max(std::fabs(a[0] - b[0]), std::fabs(a[1] - b[1]));
}

}  // namespace

TEST_CASE("odeint: 192 steps of dopri5 on the same grid agree to a few units in the last place") {
    constexpr int steps = 192;  // of 1/64
    State by_odeint = start;
    odeint::integrate_n_steps(Dopri5{}, forced, by_odeint, t0, 1. / 64, steps);
    const eddy::SolveOptions options{.t0 = t0, .t1 = t1, .dt0 = 1. / 64};

    const State serial = end_of(options, eddy::Serial{}, eddy::ConstantController{});
    const State packed = end_of(options, eddy::Cpu{}, eddy::ConstantController{});

    // Each step rounds a dozen sums of numbers of size 1, and no two are ordered alike.
    CHECK(distance(by_odeint, start) > 0.1);
    CHECK(distance(serial, by_odeint) < 4 * 0x1p-53 * steps);
    CHECK(distance(packed, by_odeint) < 4 * 0x1p-53 * steps);
}

TEST_CASE("odeint: dopri5 controlled at the same tolerance has errors of the same size") {
    const State wanted = end_of({.t0 = t0, .t1 = t1, .rtol = 1e-12, .atol = 1e-13});
    for (const double tolerance : {1e-5, 1e-7, 1e-9}) {
        State by_odeint = start;
        const auto steps =
            odeint::integrate_adaptive(odeint::make_controlled(tolerance, tolerance, Dopri5{}),
                                       forced, by_odeint, t0, t1, 0.01);
        const auto solution =
            eddy::solve(Forced{}, eddy::Dopri5{}, rows({{start[0], start[1]}}),
                        rows({{parameters[0], parameters[1]}}),
                        {.t0 = t0, .t1 = t1, .rtol = tolerance, .atol = tolerance, .dt0 = 0.01});
        const double error = distance({solution.y()(0, 0), solution.y()(0, 1)}, wanted);
        const double error_of_odeint = distance(by_odeint, wanted);

        const auto accepted = static_cast<double>(solution.stats(0).accepted);
        CAPTURE(tolerance, error, error_of_odeint, accepted, steps);
        // odeint scales the error with |y| + dt |f| and takes its maximum, eddy with max |y| and
        // takes the root mean square.
        CHECK(error < 20 * error_of_odeint);
        CHECK(error > error_of_odeint / 20);
        CHECK(accepted < 2.5 * static_cast<double>(steps));
        CHECK(accepted > 0.4 * static_cast<double>(steps));
    }
}
