// Jumps of f: on either side f is asked strictly on that side, whether it changes before t < jump or
// t <= jump, in both directions, at both ends, far from t = 0 and in float. A wrong side in one
// stage of one step would show: with rates that are constant on either side, all methods are exact.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <type_traits>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using eddy::SolveOptions;
using support::rows;

/// p = (jump, rate below, rate above), in both conventions.
struct Rates {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(eddy::select(t < p[0], p[1], p[2]) + 0 * y[0],
                         eddy::select(t <= p[0], p[1], p[2]) + 0 * y[1]);
    }
};
/// The components count once and twice, so that their errors cannot cancel.
struct WeightedSum {
    static constexpr int data_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& weight) const {
        return weight[0] * (y[0] + 2 * y[1]);
    }
};

constexpr double below = 1, above = 3;
struct Problem {
    double t0, t1, jump;

    [[nodiscard]] double rate(double t, bool before) const {
        const bool is_below = t < jump || (t == jump && before == (t1 > t0));
        return is_below ? below : above;
    }
    // Signed times spent below and above the jump until t.
    [[nodiscard]] double time_below(double t) const {
        return std::min(t, jump) - std::min(t0, jump);
    }
    [[nodiscard]] double time_above(double t) const {
        return std::max(t, jump) - std::max(t0, jump);
    }
    [[nodiscard]] double value(double t) const {
        return below * time_below(t) + above * time_above(t);
    }
};

bool close(double got, double wanted, double tolerance) {
    return std::fabs(got - wanted) <= tolerance * std::max(1., std::fabs(wanted));
}

template <class Real, class... Extras>
auto differentiate(const Problem& problem, const SolveOptions& options, const Extras&... extras) {
    const auto y0 = rows<Real>({{0, 0}}), p = rows<Real>({{problem.jump, below, above}});
    std::vector<eddy::EnsembleArray<Real>> weights;
    for (std::size_t k = 0; k < options.save_at.values.size(); ++k)
        weights.push_back(rows<Real>({{static_cast<double>(k + 1)}}));
    return eddy::value_and_gradient(Rates{}, eddy::Bosh3{}, WeightedSum{}, weights, y0, p, options,
                                    eddy::differentiate_times, extras...);
}

template <class Real, class... Extras>
void check(const Problem& problem, double tolerance, const Extras&... extras) {
    const auto [t0, t1, jump] = problem;
    CAPTURE(t0, t1, jump);
    SolveOptions options{.t0 = t0,
                         .t1 = t1,
                         .rtol = 1e-6,
                         .atol = 1e-9,
                         .save_at = {t0, t0 + (t1 - t0) / 4, t0 + (t1 - t0) / 2, t1},
                         .jump_times = {jump},
                         .dt0 = (t1 - t0) / 7};
    const auto result = differentiate<Real>(problem, options, extras...);
    REQUIRE(result.report.success());
    double loss = 0, of_below = 0, of_above = 0, of_t0 = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        const double weight = 3 * static_cast<double>(k + 1), t = options.save_at.values[k];
        loss += weight * problem.value(t);
        of_below += weight * problem.time_below(t);
        of_above += weight * problem.time_above(t);
        of_t0 -= weight * problem.rate(t0, false);
        const double slope = problem.rate(t, t != t0);  // at the start there is no other side
        CHECK(close(result.gradient.save_at(0, static_cast<std::ptrdiff_t>(k)), weight * slope,
                    tolerance));
    }
    CHECK(close(result.loss(0), loss, tolerance));
    CHECK(close(result.gradient.p(0, 1), of_below, tolerance));
    CHECK(close(result.gradient.p(0, 2), of_above, tolerance));
    CHECK(result.gradient.p(0, 0) == 0);
    if (jump == t0 || jump == t1) CHECK(close(result.gradient.t0(0), of_t0, tolerance));

    options.checkpoints = 1;
    const auto again = differentiate<Real>(problem, options, extras...);
    options.memory_budget = 1;  // no log: attempts are made again
    const auto without_log = differentiate<Real>(problem, options, extras...);
    CHECK(support::same_array(result.gradient.p, again.gradient.p));
    CHECK(support::same_array(result.gradient.p, without_log.gradient.p));
    CHECK(support::same_array(result.gradient.save_at, again.gradient.save_at));
    CHECK(support::same_array(result.gradient.save_at, without_log.gradient.save_at));
}

/// All places of the jump, in both directions.
template <class Real, class... Extras>
void check_all(double t0, double span, double tolerance, const Extras&... extras) {
    const double t1 = t0 + span, middle = t0 + span / 2;
    for (const double jump : {t0, middle, t1, std::nextafter(t0, t1), std::nextafter(t1, t0)}) {
        if (std::fabs(jump) > 0 && std::fabs(jump) < 1e-300) continue;  // seen from t1, it is t0
        check<Real>({t0, t1, jump}, tolerance, extras...);
        check<Real>({t1, t0, jump}, tolerance, extras...);
    }
}

}  // namespace

TEST_CASE("jumps: f is asked strictly on either side of one, with adaptive steps") {
    for (const double t0 : {0., -0.3, 1e9, -1e9}) check_all<double>(t0, 1, 1e-14);
    check_all<double>(1e9, 0x1p-22, 1e-14);  // two units in the last place of t
}

TEST_CASE("jumps: f is asked strictly on either side of one, with steps of constant size") {
    for (const double t0 : {0., -0.3, 1e9, -1e9})
        check_all<double>(t0, 1, 1e-14, eddy::Serial{}, eddy::ConstantController{});
}

TEST_CASE("jumps: where the state is float, so is the time that f sees") {
    for (const double jump : {0.25, 1., 1.625, 1.8}) {
        const double far = jump == 1.8 ? 2.625 : 1.625;
        check<float>({0.25, far, jump}, 2e-6, eddy::Serial{});
        check<float>({far, 0.25, jump}, 2e-6, eddy::Serial{});
    }
}

TEST_CASE("jumps: behind each stop a method that carries f from step to step asks it once more") {
    const auto evaluations_besides_steps = [](const auto& result) {
        const eddy::LaneStats stats = result.report.stats(0);
        return stats.evaluations - 3 * (stats.accepted + stats.rejected);
    };
    const Problem problem{0, 1, 0.5};
    SolveOptions options{.t1 = 1, .save_at = {1.}, .dt0 = 1. / 7};
    CHECK(evaluations_besides_steps(differentiate<double>(problem, options)) == 1);
    options.jump_times = {0.5, 0.75};
    CHECK(evaluations_besides_steps(differentiate<double>(problem, options)) == 3);
    CHECK(evaluations_besides_steps(differentiate<float>(problem, options, eddy::Serial{})) == 3);
    options.dt0 = 0;  // two more for the size of the first step
    CHECK(evaluations_besides_steps(differentiate<double>(problem, options)) == 5);
}
