// Lanes whose steps do not carry their derivatives are solved once more on a device, with the bits of Serial: own and
// shared parameters, arrays of the host and of the device.
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "device/on_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stability_equations.hpp"

namespace {

using support::Array;
using support::same_array;
using Plane = zoo::Linear<2>;

constexpr std::ptrdiff_t num_lanes = 5003;
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-6, .atol = 1e-9, .max_steps = 300};

/// Two decays. The fast one of two lanes in three has nothing to decay, and of some is too fast to be solved again.
struct Lanes {
    Array y0 = Array(num_lanes, 2), a = Array(num_lanes, 4), cotangent = Array(num_lanes, 2, 1.);

    Lanes() {
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            y0(lane, 0) = 1 + 0.01 * static_cast<double>(lane % 17);
            y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
            a(lane, 0) = -1;
            a(lane, 3) = lane % 15 == 5 ? -600 : -2 * static_cast<double>(lane % 40 + 1);
        }
    }
};
auto solver_on(const auto& backend) {
    return eddy::gradient_solver(Plane{}, eddy::Tsit5{}, zoo::Along{}, options, backend);
}
void check_same(const auto& found, const auto& expected) {
    std::ptrdiff_t different = 0, redone = 0, marked = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const auto a = found.report.stats(lane), b = expected.report.stats(lane);
        different +=
            a.accepted != b.accepted || a.rejected != b.rejected ||
            a.evaluations != b.evaluations ||
            found.report.redone(lane) != expected.report.redone(lane) ||
            found.report.unreliable(lane).ratio != expected.report.unreliable(lane).ratio ||
            found.report.result(lane) != expected.report.result(lane);
        redone += expected.report.redone(lane);
        marked += expected.report.unreliable(lane) ? 1 : 0;
    }
    CHECK(different == 0);
    CHECK(redone > num_lanes / 4);
    CHECK(marked > 0);
    CHECK(found.loss.total_of_successful == expected.loss.total_of_successful);
}
}  // namespace

TEST_CASE("device second solve: lanes have the bits of Serial, wherever arrays lie") {
    const Lanes lanes;
    auto serial = solver_on(eddy::Serial{});
    const auto& expected = serial(lanes.cotangent, lanes.y0, lanes.a);
    auto solver = solver_on(eddy::Cuda{});

    const auto& of_host = solver(lanes.cotangent, lanes.y0, lanes.a);
    check_same(of_host, expected);
    CHECK(same_array(of_host.gradient.y0, expected.gradient.y0));
    CHECK(same_array(of_host.gradient.p, expected.gradient.p));

    const device::OnDevice y0(lanes.y0), a(lanes.a), cotangent(lanes.cotangent);
    const device::OnDevice of_y0(Array(num_lanes, 2)), of_a(Array(num_lanes, 4)),
        loss(Array(num_lanes, 1));
    const eddy::GradientInto<double> into{
        .y0 = of_y0.view(), .p = of_a.view(), .loss = loss.view()};
    for (int call = 0; call < 2; ++call) {
        check_same(solver(cotangent.view(), y0.view(), a.view(), into), expected);
        CHECK(same_array(of_y0.values(), expected.gradient.y0));
        CHECK(same_array(of_a.values(), expected.gradient.p));
    }
}

TEST_CASE("device second solve: a shared gradient has the bits of Serial") {
    const Lanes lanes;
    const std::vector<double> a{-1, 0, 0, -50};
    auto serial = solver_on(eddy::Serial{});
    const auto& expected = serial(lanes.cotangent, lanes.y0, eddy::shared(a));
    auto solver = solver_on(eddy::Cuda{});

    const auto& found = solver(lanes.cotangent, lanes.y0, eddy::shared(a));

    CHECK(same_array(found.gradient.p, expected.gradient.p));
    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(found.report.redone(1));
    CHECK(found.loss.total_of_successful == expected.loss.total_of_successful);
}
