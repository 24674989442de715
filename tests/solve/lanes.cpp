// A lane is a trajectory of its own: neighbours, places, threads change nothing, bit for bit; and
// the packs of Cpu compute what Serial does.

#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <numeric>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::SolveOptions;
using support::Forced;
using support::HalfSquares;
using support::rows;
using support::same_row;

const eddy::Cpu one_thread{.threads = 1}, two_threads{.threads = 2};

template <class Real>
struct Ensemble {
    eddy::EnsembleArray<Real> y0, p;
};

/// Lanes from slow to fast, ordered by chance.
template <class Real>
Ensemble<Real> mixed_lanes(std::ptrdiff_t lanes) {
    support::Random random(3);
    Ensemble<Real> ensemble{eddy::EnsembleArray<Real>(lanes, 2),
                            eddy::EnsembleArray<Real>(lanes, 2)};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const double speed = std::exp(random.uniform(0, std::log(20)));
        for (int i = 0; i < 2; ++i) {
            ensemble.y0(lane, i) = static_cast<Real>(random.uniform(-1, 1));
            ensemble.p(lane, i) = static_cast<Real>(speed * random.uniform(0.8, 1.2));
        }
    }
    return ensemble;
}

/// The lanes of `all` named by `picked`, in that order.
template <class Real>
Ensemble<Real> pick(const Ensemble<Real>& all, const std::vector<std::ptrdiff_t>& picked) {
    const auto lanes = static_cast<std::ptrdiff_t>(picked.size());
    Ensemble<Real> some{eddy::EnsembleArray<Real>(lanes, 2), eddy::EnsembleArray<Real>(lanes, 2)};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 2; ++i) {
            some.y0(lane, i) = all.y0(picked[static_cast<std::size_t>(lane)], i);
            some.p(lane, i) = all.p(picked[static_cast<std::size_t>(lane)], i);
        }
    }
    return some;
}

/// Some of `lanes`, in any order, in ensembles of many sizes.
std::vector<std::vector<std::ptrdiff_t>> selections(std::ptrdiff_t lanes) {
    std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(lanes));
    std::iota(order.begin(), order.end(), std::ptrdiff_t{0});
    support::Random random(9);
    for (std::size_t i = order.size() - 1; i > 0; --i)
        std::swap(
            order[i],
            order[static_cast<std::size_t>(random.uniform(0, static_cast<double>(i) + 0.999))]);
    std::vector<std::vector<std::ptrdiff_t>> all{order};
    for (const std::ptrdiff_t size : {1, 2, 3, 7, 25, 60})
        all.emplace_back(order.begin() + size, order.begin() + 2 * size);
    return all;
}

/// Compares all lanes of `solve_lanes(ensemble)` with those of selections;
/// same(all, lane, some, lane of some) says whether a lane is the same.
template <class Real, class Solve, class Same>
void check_selections(std::ptrdiff_t lanes, Solve solve_lanes, Same same) {
    const auto ensemble = mixed_lanes<Real>(lanes);
    const auto all = solve_lanes(ensemble);
    for (const auto& picked : selections(lanes)) {
        const auto some = solve_lanes(pick(ensemble, picked));
        INFO(picked.size() << " lanes");
        for (std::size_t lane = 0; lane < picked.size(); ++lane)
            CHECK(same(all, picked[lane], some, static_cast<std::ptrdiff_t>(lane)));
    }
}

bool same_stats(const eddy::Outcomes& a, std::ptrdiff_t lane_of_a, const eddy::Outcomes& b,
                std::ptrdiff_t lane_of_b) {
    const auto left = a.stats(lane_of_a), right = b.stats(lane_of_b);
    return left.accepted == right.accepted && left.rejected == right.rejected &&
           left.evaluations == right.evaluations && a.result(lane_of_a) == b.result(lane_of_b);
}

template <class Real>
const std::vector<eddy::EnsembleArray<Real>> two_points(2, rows<Real>({{0.5, -0.25}}));

const auto same_solution = [](const auto& a, std::ptrdiff_t lane_of_a, const auto& b,
                              std::ptrdiff_t lane_of_b) {
    return same_row(a.y(0), lane_of_a, b.y(0), lane_of_b) &&
           same_row(a.y(1), lane_of_a, b.y(1), lane_of_b) && same_stats(a, lane_of_a, b, lane_of_b);
};
const auto same_gradient = [](const auto& a, std::ptrdiff_t lane_of_a, const auto& b,
                              std::ptrdiff_t lane_of_b) {
    return same_row(a.gradient.y0, lane_of_a, b.gradient.y0, lane_of_b) &&
           same_row(a.gradient.p, lane_of_a, b.gradient.p, lane_of_b) &&
           support::same_bits(a.loss(lane_of_a), b.loss(lane_of_b)) &&
           same_stats(a.report, lane_of_a, b.report, lane_of_b);
};

const SolveOptions adaptive{
    .t1 = 3, .rtol = 1e-3, .save_at = {1.1, 3}, .step_to = {0.8}, .jump_times = {2.1}};
const SolveOptions constant{.t1 = 3, .save_at = {1.1, 3}, .step_to = {0.8}, .dt0 = 0.01};

/// Every operation that is not a polynomial rounds in its own way.
struct Pendulum {
    static constexpr int state_size = 3, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1], eddy::cos(3 * t) - p[0] * eddy::sin(y[0]) - p[1] * y[1],
                         eddy::exp(-y[2]) + eddy::sqrt(1 + y[0] * y[0]));
    }
};

/// The largest distance of any component, in units in its last place.
template <class Real, class A, class B>
double ulps_between(const A& a, const B& b) {
    double worst = 0;
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
        for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) {
            const Real x = a(lane, i), y = b(lane, i);
            const Real size = std::max(std::fabs(x), std::fabs(y));
            const Real ulp = std::nextafter(size, 2 * size) - size;
            worst = std::max(worst, static_cast<double>(std::fabs(x - y) / ulp));
        }
    }
    return worst;
}

/// The distance between Cpu and Serial after `steps` steps of one size.
template <class Real>
double backends_apart(int steps) {
    constexpr std::ptrdiff_t lanes = 500;
    support::Random random(21);
    eddy::EnsembleArray<Real> y0(lanes, 3), p(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 3; ++i) y0(lane, i) = static_cast<Real>(random.uniform(1, 2));
        for (int i = 0; i < 2; ++i) p(lane, i) = static_cast<Real>(random.uniform(0, 1));
    }
    const SolveOptions options{.t0 = 0.3, .t1 = 0.3 + 0.01 * steps, .dt0 = 0.01};
    const eddy::ConstantController controller;
    const auto solve_by = [&](const auto& backend) {
        return eddy::solve(Pendulum{}, eddy::Bosh3{}, y0, p, options, controller, backend);
    };
    return ulps_between<Real>(solve_by(two_threads).y(), solve_by(eddy::Serial{}).y());
}

}  // namespace

TEST_CASE("lanes: a solution does not depend on neighbours, places and their number") {
    check_selections<double>(
        1000,
        [](const auto& lanes) {
            return eddy::solve(Forced{}, eddy::Bosh3{}, lanes.y0, lanes.p, adaptive, one_thread);
        },
        same_solution);
}

TEST_CASE("lanes: a gradient does not depend on neighbours, places and their number") {
    check_selections<double>(
        1000,
        [](const auto& lanes) {
            return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{},
                                            two_points<double>, lanes.y0, lanes.p, adaptive,
                                            one_thread);
        },
        same_gradient);
}

TEST_CASE("lanes: neither does one in single precision by steps of constant size") {
    check_selections<float>(
        1000,
        [](const auto& lanes) {
            return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{},
                                            two_points<float>, lanes.y0, lanes.p, constant,
                                            one_thread, eddy::ConstantController{});
        },
        same_gradient);
}

TEST_CASE("lanes: gradients in single precision are those in double, to single precision") {
    const auto in_double = mixed_lanes<double>(50);
    auto in_float = mixed_lanes<float>(50);
    const auto exact = eddy::value_and_gradient(
        Forced{}, eddy::Bosh3{}, HalfSquares{}, two_points<double>, in_double.y0, in_double.p,
        {.t1 = 1, .rtol = 1e-9, .save_at = {0.4, 1}}, one_thread);
    const auto rounded = eddy::value_and_gradient(
        Forced{}, eddy::Bosh3{}, HalfSquares{}, two_points<float>, in_float.y0, in_float.p,
        {.t1 = 1, .save_at = {0.4, 1}, .dt0 = 1e-3}, one_thread, eddy::ConstantController{});

    // 1000 steps, each of which rounds to 6e-8, at twenty radians at most.
    for (std::ptrdiff_t lane = 0; lane < 50; ++lane) {
        for (int i = 0; i < 2; ++i) {
            CHECK(std::fabs(rounded.gradient.y0(lane, i) - exact.gradient.y0(lane, i)) < 1e-4);
            CHECK(std::fabs(rounded.gradient.p(lane, i) - exact.gradient.p(lane, i)) < 1e-4);
        }
    }
}

TEST_CASE("lanes: one thread and two give the same, sums of shared gradients included") {
    const auto lanes = mixed_lanes<double>(1000);
    const std::vector<double> shared_p{6, 5};
    const auto differentiate = [&](const auto& p, const eddy::Cpu& backend) {
        return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, two_points<double>,
                                        lanes.y0, p, adaptive, backend);
    };

    const auto own = differentiate(lanes.p, one_thread);
    const auto shared = differentiate(eddy::shared(shared_p), one_thread);

    for (const int threads : {2, 3, 0}) {
        const eddy::Cpu backend{.threads = threads};
        const auto own_again = differentiate(lanes.p, backend);
        const auto shared_again = differentiate(eddy::shared(shared_p), backend);
        CHECK(support::same_array(own.gradient.y0, own_again.gradient.y0));
        CHECK(support::same_array(own.gradient.p, own_again.gradient.p));
        CHECK(support::same_bits(own.loss.total, own_again.loss.total));
        CHECK(support::same_array(shared.gradient.y0, shared_again.gradient.y0));
        CHECK(support::same_array(shared.gradient.p, shared_again.gradient.p));
        // Groups are cut for the workers there are: rows may differ, steps may not.
        CHECK(own.report.total_stats().accepted == own_again.report.total_stats().accepted);
    }
}

TEST_CASE("lanes: the gradient of shared parameters is the sum of those of all lanes") {
    const auto lanes = mixed_lanes<double>(300);
    const std::vector<double> shared_p{6, 5};
    support::Array same_p(300, 2);
    for (std::ptrdiff_t lane = 0; lane < 300; ++lane) {
        for (int i = 0; i < 2; ++i) same_p(lane, i) = shared_p[static_cast<std::size_t>(i)];
    }
    const auto differentiate = [&](const auto& p) {
        return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, two_points<double>,
                                        lanes.y0, p, adaptive, two_threads);
    };

    const auto own = differentiate(same_p);
    const auto shared = differentiate(eddy::shared(shared_p));

    CHECK(support::same_array(own.gradient.y0, shared.gradient.y0));
    REQUIRE(shared.gradient.p.rows() == 1);
    for (int i = 0; i < 2; ++i) {
        double sum = 0, size = 0;
        for (std::ptrdiff_t lane = 0; lane < 300; ++lane) {
            sum += own.gradient.p(lane, i);
            size += std::fabs(own.gradient.p(lane, i));
        }
        // Sums of 300 numbers, each of which is a sum over 100 steps.
        CHECK(std::fabs(shared.gradient.p(0, i) - sum) < 400 * 0x1p-53 * size);
    }
}

TEST_CASE("lanes: Cpu equals Serial to four units in the last place of a step") {
    CHECK(backends_apart<double>(1) <= 4);
    CHECK(backends_apart<float>(1) <= 4);
    // The pendulum hardly magnifies: steps add up.
    CHECK(backends_apart<double>(50) <= 4 * 50);
    CHECK(backends_apart<float>(50) <= 4 * 50);
}
