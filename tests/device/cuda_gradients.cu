// Gradients of a device beyond those of cuda_oracle: cotangents of the caller's, more shared parameters than
// lanes hand out by themselves, estimates of their error, single precision far from zero.
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <vector>

#include "solve/device_lanes.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using device_lanes::Norm;
using support::Array;
using support::Forced;
using support::same_array;
using support::same_bits;

/// More parameters than lanes hand out by themselves.
struct Crowded {
    static constexpr int state_size = 1, parameter_size = 65;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[0] * eddy::sum(p) - p[0] * y[0]);
    }
};

constexpr std::ptrdiff_t num_lanes = 1009;
const Array start = device_lanes::varied(num_lanes, 0.2),
            rates = device_lanes::varied(num_lanes, 0.7, true);
const eddy::SolveOptions options{.t1 = 1,
                                 .rtol = 1e-3,
                                 .atol = 1e-6,
                                 .max_steps = 40,
                                 .memory_budget = std::size_t{64} << 20,
                                 .stable_gradients = false};

}  // namespace

TEST_CASE("device gradients: estimates of their error have the bits of Serial") {
    const auto differentiate = [&](const auto& backend) {
        return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, Norm{}, start, rates, options,
                                        backend, eddy::estimate_gradient_error);
    };

    const auto expected = differentiate(eddy::Serial{}), found = differentiate(eddy::Cuda{});

    CHECK(found.report.result(3) == eddy::Result::max_steps_reached);
    CHECK(found.report.gradient_error(0) > 0);
    CHECK(same_array(found.gradient.p, expected.gradient.p));
    CHECK(same_array(found.report.error_estimate.y0, expected.report.error_estimate.y0));
    CHECK(same_array(found.report.error_estimate.p, expected.report.error_estimate.p));
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        different +=
            !same_bits(found.report.gradient_error(lane), expected.report.gradient_error(lane));
    CHECK(different == 0);
    std::ptrdiff_t other_marks = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        other_marks +=
            found.report.unreliable(lane).ratio != expected.report.unreliable(lane).ratio;
    CHECK(other_marks == 0);
    CHECK(found.report.is_watched);
}

TEST_CASE("device gradients: of cotangents that the caller computes, with times") {
    eddy::SolveOptions saving = options;
    saving.save_at = {0, 0.3, 1};
    const std::vector<Array> cotangents(3, device_lanes::varied(num_lanes, -0.4));
    const auto pull = [&](const auto& backend) {
        return eddy::pullback(eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, saving, backend,
                                          eddy::differentiate_times),
                              cotangents);
    };

    const auto expected = pull(eddy::Serial{}), found = pull(eddy::Cuda{});

    CHECK(same_array(found.y0, expected.y0));
    CHECK(same_array(found.p, expected.p));
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        different += !same_bits(found.t0(lane), expected.t0(lane));
        different += !same_bits(found.t1(lane), expected.t1(lane));
        for (int k = 0; k < 3; ++k)
            different += !same_bits(found.save_at(lane, k), expected.save_at(lane, k));
        different += found.report.result(lane) != expected.report.result(lane);
    }
    CHECK(different == 0);
}

TEST_CASE("device gradients: more than 64 shared parameters, the same sum every time") {
    for (const std::ptrdiff_t lanes : {1, 33, 10'007}) {
        CAPTURE(lanes);
        Array y0(lanes, 1);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            y0(lane, 0) = 1 + 0.001 * static_cast<double>(lane);
        const std::vector<double> p(65, 0.01);
        const auto differentiate = [&](const auto& backend) {
            return eddy::value_and_gradient(Crowded{}, eddy::Bosh3{}, Norm{}, y0, eddy::shared(p),
                                            options, backend);
        };

        const auto expected = differentiate(eddy::Serial{}), found = differentiate(eddy::Cuda{}),
                   again = differentiate(eddy::Cuda{});

        CHECK(same_array(found.gradient.p, again.gradient.p));
        CHECK(same_array(found.gradient.y0, expected.gradient.y0));
        CHECK(same_bits(found.loss.total_of_successful, expected.loss.total_of_successful));
        // Terms of one sign: their order moves a sum by lanes · ε at most.
        const double bound = 2.3e-16 * static_cast<double>(lanes + 64);
        for (int i = 0; i < 65; ++i)
            CHECK(support::relative_error(found.gradient.p(0, i), expected.gradient.p(0, i)) <=
                  bound);
    }
}

TEST_CASE("device gradients: single precision a billion from zero has the steps of those near it") {
    const eddy::EnsembleArray<float> y0(num_lanes, 3, 1.F);
    eddy::EnsembleArray<float> p(num_lanes, 3, 2.F);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) p(lane, 1) = 0.02F * float(lane);
    const auto differentiate = [&](double t0, const auto& backend) {
        const eddy::SolveOptions far{.t0 = t0,
                                     .t1 = t0 + 1,
                                     .rtol = 1e-5,
                                     .atol = 1e-7,
                                     .save_at = {t0 + 0.125, t0 + 0.5, t0 + 1},
                                     .stable_gradients = false};
        const std::vector<eddy::EnsembleArray<float>> data(3,
                                                           eddy::EnsembleArray<float>(1, 3, 0.5F));
        return eddy::value_and_gradient(support::Lorenz{}, eddy::Bosh3{}, support::HalfSquares{},
                                        data, y0, p, far, backend);
    };

    const auto near = differentiate(0, eddy::Cuda{}), far = differentiate(1e9, eddy::Cuda{}),
               expected = differentiate(1e9, eddy::Serial{});

    CHECK(far.report.success());
    CHECK(far.report.total_stats().accepted == expected.report.total_stats().accepted);
    CHECK(same_array(far.gradient.y0, expected.gradient.y0));
    CHECK(same_array(far.gradient.p, expected.gradient.p));
    CHECK(same_array(far.gradient.y0, near.gradient.y0));
}
