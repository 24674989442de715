// How many evaluations of f a solve takes, against counts that another program takes with the same
// method, tolerances and norm of errors.

#include <eddy/backends/rows.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/dopri8.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::rows;

/// The three-body problem of Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations
/// I, II.0.
struct Arenstorf {
    static constexpr int state_size = 4, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto moon = p[0], earth = 1 - p[0];
        const auto to_earth = y[0] + moon, to_moon = y[0] - earth;
        const auto a = to_earth * to_earth + y[1] * y[1], b = to_moon * to_moon + y[1] * y[1];
        const auto to_a = earth / (a * eddy::sqrt(a)), to_b = moon / (b * eddy::sqrt(b));
        return eddy::vec(y[2], y[3], y[0] + 2 * y[3] - to_a * to_earth - to_b * to_moon,
                         y[1] - 2 * y[2] - (to_a + to_b) * y[1]);
    }
};

constexpr double tolerances[] = {1e-6, 1e-8, 1e-10, 1e-12};

/// Evaluations of Dopri8 over those of DOP853 at the same tolerances.
struct Ratios {
    double least, most;
};

template <class Field>
Ratios ratios_to(const int (&counts)[4], const Field& field, const support::Array& y0,
                 const support::Array& p, double t1, const eddy::PIDController& controller) {
    Ratios ratios{1e300, 0};
    for (int i = 0; i < 4; ++i) {
        const auto solution = eddy::solve(field, eddy::Dopri8{}, y0, p,
                                          {.t1 = t1, .rtol = tolerances[i], .atol = tolerances[i]},
                                          eddy::Rows{}, controller);
        eddy::require_success(solution);
        const double ratio = static_cast<double>(solution.stats(0).evaluations) / counts[i];
        CAPTURE(tolerances[i], ratio);
        ratios = {std::min(ratios.least, ratio), std::max(ratios.most, ratio)};
    }
    return ratios;
}

template <class Field>
void check_counts(const int (&counts)[4], const Field& field, const support::Array& y0,
                  const support::Array& p, double t1) {
    // Integral control is that of DOP853.
    const Ratios same = ratios_to(counts, field, y0, p, t1, eddy::i_controller());
    CHECK(same.least > 0.95);
    CHECK(same.most < 1.05);
    // The default aims at smaller errors: fewer steps are rejected, and all are a little smaller.
    CHECK(ratios_to(counts, field, y0, p, t1, eddy::pi_controller()).most < 1.3);
}

}  // namespace

// The counts are `nfev` of solve_ivp(method="DOP853", rtol=tolerance, atol=tolerance) of SciPy
// 1.17.1. Both programs spend two evaluations on the size of the first step and twelve on every
// attempt.

TEST_CASE("evaluations: Dopri8 takes as many as DOP853") {
    check_counts({842, 1454, 2342, 3770}, support::Lorenz{}, rows({{1, 1, 1}}),
                 rows({{10, 28, 8. / 3}}), 5);
    check_counts({518, 998, 1526, 2438}, support::LotkaVolterra{}, rows({{1, 1}}),
                 rows({{1.5, 1, 3, 1}}), 10);
    check_counts({1070, 1778, 2870, 4286}, Arenstorf{},
                 rows({{0.994, 0, 0, -2.00158510637908252240537862224}}), rows({{0.012277471}}),
                 17.0652165601579625588917206249);
}
