// Gradients that estimate their own error, on a device: values and estimates with the bits of Serial, wherever
// the gradient is written.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>

#include "solve/device_lanes.hpp"
#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::same_array;
using support::same_bits;
using OnDevice = support::DeviceArray<double>;

/// Where the second component begins at 0 nothing of it is seen by the steps; its derivative is.
struct TwoDecays {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], -p[1] * y[1]);
    }
};
struct Tilted {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0] + y[1]; }
};
const eddy::SolveOptions options{.t1 = 1,
                                 .rtol = 1e-3,
                                 .atol = 1e-6,
                                 .max_steps = 80,
                                 .memory_budget = std::size_t{4} << 20,
                                 .stable_gradients = false};
constexpr std::ptrdiff_t num_lanes = 45;

auto solver_on(const auto& backend, const eddy::SolveOptions& with = options) {
    return eddy::gradient_solver(TwoDecays{}, eddy::Bosh3{}, Tilted{}, with, backend,
                                 eddy::estimate_gradient_error);
}

}  // namespace

TEST_CASE("device gradient error: estimates have the bits of Serial, lanes that fail among them") {
    const Array start = device_lanes::varied(num_lanes, 0.2),
                rates = device_lanes::varied(num_lanes, 0.7, true);
    auto serial = solver_on(eddy::Serial{});
    const auto& expected = serial(start, rates);
    auto solver = solver_on(EmulatedDevice{});
    OnDevice y0_there{Array(num_lanes, 2)}, p_there{Array(num_lanes, 2)};
    const auto check = [&](const auto& report) {
        CHECK(same_array(report.error_estimate.y0, expected.report.error_estimate.y0));
        CHECK(same_array(report.error_estimate.p, expected.report.error_estimate.p));
        std::ptrdiff_t different = 0;
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
            different +=
                !same_bits(report.gradient_error(lane), expected.report.gradient_error(lane));
        CHECK(different == 0);
    };
    EmulatedRuntime::reset(2);

    const auto& found = solver(start, rates);

    CHECK(expected.report.gradient_error(0) > 0);
    CHECK(found.report.result(3) == eddy::Result::max_steps_reached);
    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
    check(found.report);

    const auto& left_there =
        solver(start, rates, eddy::GradientInto<double>{.y0 = y0_there, .p = p_there});

    CHECK(same_array(y0_there.values(), expected.gradient.y0));
    check(left_there.report);
}

TEST_CASE("device gradient error: lanes that are solved once more have the estimates of Serial") {
    auto stable = options;
    stable.stable_gradients = true;
    stable.t1 = 6;
    stable.max_steps = 400;
    Array start = device_lanes::varied(num_lanes, 0.2),
          rates = device_lanes::varied(num_lanes, 0.7);
    for (std::ptrdiff_t lane = 1; lane < num_lanes; lane += 4)
        start(lane, 1) = 0, rates(lane, 1) = 60;
    auto serial = solver_on(eddy::Serial{}, stable);
    auto solver = solver_on(EmulatedDevice{}, stable);
    EmulatedRuntime::reset(3);

    const auto& expected = serial(start, rates);
    const auto& found = solver(start, rates);

    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(same_array(found.gradient.p, expected.gradient.p));
    CHECK(same_array(found.report.error_estimate.y0, expected.report.error_estimate.y0));
    CHECK(same_array(found.report.error_estimate.p, expected.report.error_estimate.p));
    std::ptrdiff_t different = 0, redone = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        different +=
            found.report.redone(lane) != expected.report.redone(lane) ||
            !same_bits(found.report.gradient_error(lane), expected.report.gradient_error(lane));
        redone += expected.report.redone(lane);
    }
    CHECK(different == 0);
    CHECK(redone == (num_lanes + 2) / 4);
}
