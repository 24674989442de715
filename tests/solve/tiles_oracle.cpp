// Tiles compute what Serial does, for equations of + − · / and square roots, on the cases that Cpu is
// compared on: steps, states and losses bit for bit. Their derivative of f shares values with f itself, so
// that gradients are the same to rounding; among themselves, whatever the threads, the checkpoints and
// the memory, they are the same bits.

#include <cmath>
#include <eddy/backends/tiles.hpp>
#include <vector>

#include "solve/oracle_cases.hpp"
#include "support/sanitized.hpp"

namespace {

using oracle::adaptive_cases;
using oracle::constant_cases;
using oracle::Lanes;

constexpr std::ptrdiff_t num_lanes = 101;
const std::vector<oracle::Way<eddy::Tiles>> many_ways{
    {"two threads", {.threads = 2}},
    {"one checkpoint", {.threads = 1}, 1},
    {"three checkpoints", {.threads = 2}, 3},
    {"hardly any memory", {.threads = 1}, 0, 1},
};

/// Neither is to solve lanes again.
eddy::SolveOptions once(eddy::SolveOptions options) {
    options.stable_gradients = false;
    return options;
}

/// Those of steps of constant size. Tiles never take steps without looking, as Cpu does where nothing can happen: 77 of them tell what
/// 614 do, which one checkpoint makes 190,000.
std::vector<oracle::Case> short_constant_cases() {
    std::vector<oracle::Case> cases = oracle::with_common_times(constant_cases);
    for (oracle::Case& one : cases)
        if (std::abs(one.options.dt0) < 1. / 64) one.options.dt0 = 1. / 64;
    return cases;
}

/// Equal but for rounding, on the scale of a lane's largest number.
template <class Array>
std::ptrdiff_t num_apart(const Array& a, const Array& b, double tolerance) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) {
        double scale = 0, apart = 0;
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
            scale = std::max(scale, std::abs(double(a(lane, i))));
            apart = std::max(apart, std::abs(double(a(lane, i)) - double(b(lane, i))));
        }
        count += !(apart <= tolerance * scale);
    }
    return count;
}

/// Ways to the gradient of one case, all compared with Serial's and with each other.
template <class Call>
oracle::Endings compare_gradients(const std::vector<oracle::Case>& cases, const Call& call,
                                  double tolerance) {
    oracle::Endings endings;
    for (const oracle::Case& one : cases) {
        const auto expected = call(one.options, eddy::Serial{});
        oracle::add_endings(endings, expected.report);
        const auto first = call(many_ways[0].with(one.options), many_ways[0].backend);
        INFO(one.name);
        oracle::check_outcomes(expected.report, first.report);
        CHECK(support::same_bits(expected.loss.total, first.loss.total));
        CHECK(num_apart(expected.gradient.y0, first.gradient.y0, tolerance) == 0);
        CHECK(num_apart(expected.gradient.p, first.gradient.p, tolerance) == 0);
        for (const auto& way : many_ways) {
            // From one checkpoint steps are repeated as often as their number squared.
            if (support::sanitized && way.checkpoints == 1 && one.options.max_steps > 60) continue;
            INFO(way.name);
            oracle::check_same(first, call(way.with(one.options), way.backend));
        }
    }
    return endings;
}

template <class Real, class... Extras>
oracle::Endings compare_shared(const std::vector<oracle::Case>& cases, std::ptrdiff_t count,
                               double tolerance, const Extras&... extras) {
    const Lanes<Real> lanes(count);
    return compare_gradients(
        cases,
        [&](const eddy::SolveOptions& options, const auto& backend) {
            return eddy::value_and_gradient(
                oracle::Rough{}, eddy::Tsit5{}, oracle::Distance{}, lanes.data(options), lanes.y0,
                eddy::shared(lanes.shared_p), once(options), extras..., backend);
        },
        tolerance);
}

}  // namespace

TEST_CASE("tiles: lanes take the steps of Serial, the first one included, to the same states") {
    const std::vector<oracle::Way<eddy::Tiles>> two_threads{many_ways[0]};

    CHECK(
        oracle::compare_solves(two_threads, num_lanes, oracle::with_common_times(adaptive_cases)) ==
        oracle::adaptive_endings);
}

TEST_CASE("tiles: gradients of parameters that each lane has are those of Serial") {
    const Lanes<double> lanes(num_lanes);

    const auto endings = compare_gradients(
        oracle::with_common_times(adaptive_cases),
        [&](const eddy::SolveOptions& options, const auto& backend) {
            return eddy::value_and_gradient(oracle::Rough{}, eddy::Tsit5{}, oracle::Distance{},
                                            lanes.data(options), lanes.y0, lanes.p, once(options),
                                            backend);
        },
        1e-12);

    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("tiles: so are those of shared ones, by steps of constant size, in single precision") {
    CHECK(compare_shared<float>(short_constant_cases(), num_lanes, 1e-4,
                                eddy::ConstantController{}) == oracle::constant_endings);
}

TEST_CASE("tiles: so are those of one lane, and of more than one group") {
    const std::vector<oracle::Case> first{adaptive_cases.front()};
    for (const std::ptrdiff_t count : {1, 3, 64, 1009, 4500}) {
        if (support::sanitized && count > 1009) break;
        INFO(count << " lanes");
        static_cast<void>(compare_shared<double>(first, count, 1e-12));
    }
}
