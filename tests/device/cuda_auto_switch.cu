// Two methods for one batch on a device: lanes are sent on as by Serial, and solves and gradients have its bits.
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>

#include "device/on_device.hpp"
#include "solve/switch_lanes.hpp"
#include "support/catch.hpp"

namespace {

using namespace switching;
using support::HalfSquares;
using support::same_array;

constexpr std::ptrdiff_t num_lanes = 1009;

void check_outcomes(const eddy::Outcomes& found, const eddy::Outcomes& expected) {
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        different +=
            !same_outcome(found, expected, lane) || found.switched(lane) != expected.switched(lane);
    CHECK(different == 0);
    CHECK(expected.num_switched() > num_lanes / 10);
    CHECK(expected.num_switched() < num_lanes);
}

}  // namespace

TEST_CASE("device AutoSwitch: solves have the bits of Serial, wherever arrays lie") {
    const Lanes lanes(num_lanes);
    const auto expected = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, options, eddy::Serial{});
    auto solver = eddy::ensemble_solver(Field{}, Both{}, options, eddy::Cuda{});

    const auto& of_host = solver(lanes.y0, lanes.p);
    check_outcomes(of_host, expected);
    for (std::ptrdiff_t k = 0; k < expected.num_saves(); ++k)
        CHECK(same_array(of_host.y(k), expected.y(k)));

    const device::OnDevice y0(lanes.y0), p(lanes.p);
    for (int call = 0; call < 2; ++call) {
        const auto& of_device = solver(y0.view(), p.view());
        check_outcomes(of_device, expected);
        CHECK(same_array(of_device.y(4), expected.y(4)));
    }
}

TEST_CASE("device AutoSwitch: gradients have the bits of Serial") {
    const Lanes lanes(num_lanes);
    const std::vector<Array> data(5, Array(num_lanes, 2, 0.5));
    const auto differentiate = [&](const auto& backend) {
        return eddy::value_and_gradient(Field{}, Both{}, HalfSquares{}, data, lanes.y0, lanes.p,
                                        options, backend);
    };

    const auto expected = differentiate(eddy::Serial{}), found = differentiate(eddy::Cuda{});

    check_outcomes(found.report, expected.report);
    CHECK(found.loss.total_of_successful == expected.loss.total_of_successful);
    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(same_array(found.gradient.p, expected.gradient.p));
}
