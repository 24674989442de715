// Two methods for one batch on a device: lanes are sent on as by Serial, and states, statistics and gradients
// have its bits, wherever arrays lie.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>

#include "solve/emulated_device.hpp"
#include "solve/switch_lanes.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using namespace switching;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::HalfSquares;
using support::room;
using support::same_array;
using support::same_bits;
using OnDevice = support::DeviceArray<double>;

/// Of lanes that are all stiff, none, or some.
Lanes lanes_of(std::ptrdiff_t count, double largest) {
    Lanes lanes(count);
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        if (largest < 10) lanes.p(lane, 0) = 1 + 0.01 * static_cast<double>(lane);
        if (largest > 1e4) lanes.p(lane, 0) = largest;
    }
    return lanes;
}
void check_outcomes(const eddy::Outcomes& found, const eddy::Outcomes& expected) {
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane)
        different +=
            !same_outcome(found, expected, lane) || found.switched(lane) != expected.switched(lane);
    CHECK(different == 0);
    CHECK(found.num_switched() == expected.num_switched());
}
void check_gradients(const auto& found, const auto& expected) {
    check_outcomes(found.report, expected.report);
    CHECK(same_bits(found.loss.total, expected.loss.total));
    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(same_array(found.gradient.p, expected.gradient.p));
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.report.num_lanes(); ++lane)
        different += !same_bits(found.loss(lane), expected.loss(lane));
    CHECK(different == 0);
}
std::vector<Array> data_of(std::ptrdiff_t count) {
    std::vector<Array> data(options.save_at.values.size(), Array(count, 2, 0.5));
    for (std::ptrdiff_t lane = 0; lane < count; ++lane)
        data[1](lane, 1) = 0.1 * static_cast<double>(lane % 9);
    data[2] = support::rows({{1, 0}});  // one row for all
    return data;
}
std::vector<OnDevice> there(const std::vector<Array>& arrays) {
    std::vector<OnDevice> result;
    for (const Array& array : arrays) result.emplace_back(array);
    return result;
}

}  // namespace

TEST_CASE("device AutoSwitch: none, some and all lanes of a solve, however many") {
    for (const std::ptrdiff_t count : {1, 31, 32, 33}) {
        for (const double largest : {1., 1e4, 2e4}) {
            CAPTURE(count, largest);
            const Lanes lanes = lanes_of(count, largest);
            auto asked = options;
            asked.save_steps = count == 31;
            const auto expected =
                eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, asked, eddy::Serial{});
            CHECK((expected.num_switched() > 0) == (largest > 1 && (count > 1 || largest > 1e4)));
            CHECK((expected.num_switched() == count) == (largest > 1e4));
            EmulatedRuntime::reset(static_cast<std::uint64_t>(count));

            const auto found =
                eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, asked, EmulatedDevice{});

            check_outcomes(found, expected);
            for (std::ptrdiff_t k = 0; k < expected.num_saves(); ++k)
                CHECK(same_array(found.y(k), expected.y(k)));
            for (std::ptrdiff_t lane = 0; lane < count; ++lane)
                CHECK(found.num_steps(lane) == expected.num_steps(lane));
        }
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device AutoSwitch: states are written there, and a later call takes no memory") {
    const Lanes lanes(150);
    const OnDevice y0{lanes.y0}, p{lanes.p};
    std::vector<OnDevice> y;
    for (int k = 0; k < 5; ++k) y.push_back(room(150, 2));
    const auto expected = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, options, eddy::Serial{});
    EmulatedRuntime::reset();
    auto solver = eddy::ensemble_solver(Field{}, Both{}, options, EmulatedDevice{});
    for (int call = 0; call < 2; ++call) {
        const int allocations = EmulatedRuntime::state.allocations;

        const auto& found = solver(y0, p, eddy::SolutionInto<double>{.y = y});

        check_outcomes(found, expected);
        for (int k = 0; k < 5; ++k)
            CHECK(same_array(y[static_cast<std::size_t>(k)].values(), expected.y(k)));
        CHECK((EmulatedRuntime::state.allocations == allocations) == (call == 1));
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device AutoSwitch: gradients, on one device and two, in chunks and in arrays there") {
    const Lanes lanes(70);
    const auto data = data_of(70);
    auto serial = eddy::gradient_solver(Field{}, Both{}, HalfSquares{}, options, eddy::Serial{});
    const auto& expected = serial(data, lanes.y0, lanes.p);
    CHECK(expected.report.num_switched() > 15);
    CHECK(expected.report.num_switched() < 55);
    const auto solver_on = [&](const EmulatedDevice& device) {
        return eddy::gradient_solver(Field{}, Both{}, HalfSquares{}, options, device);
    };
    for (const std::size_t chunk : {std::size_t{1} << 40, std::size_t{4096}}) {
        for (const bool both : {false, true}) {
            CAPTURE(chunk, both);
            EmulatedRuntime::reset(3);
            EmulatedRuntime::state.bytes_of_chunk = chunk;
            auto solver = solver_on({.devices = both ? std::vector{1, 0} : std::vector<int>{}});
            check_gradients(solver(data, lanes.y0, lanes.p), expected);
        }
    }
    EmulatedRuntime::reset();
    const auto data_there = there(data);
    const OnDevice y0{lanes.y0}, p{lanes.p};
    OnDevice of_y0 = room(70, 2), of_p = room(70, 1), loss = room(70, 1);
    auto solver = solver_on({});
    for (int call = 0; call < 2; ++call) {
        const int allocations = EmulatedRuntime::state.allocations;

        const auto& found = solver(
            data_there, y0, p, eddy::GradientInto<double>{.y0 = of_y0, .p = of_p, .loss = loss});

        check_outcomes(found.report, expected.report);
        CHECK(same_bits(found.loss.total, expected.loss.total));
        CHECK(same_array(of_y0.values(), expected.gradient.y0));
        CHECK(same_array(of_p.values(), expected.gradient.p));
        CHECK((EmulatedRuntime::state.allocations == allocations) == (call == 1));
    }
    EmulatedRuntime::reset();
}

TEST_CASE(
    "device AutoSwitch: the gradient of shared parameters, and second solves of the first method") {
    constexpr std::ptrdiff_t count = 33;
    const Lanes lanes(count);
    Array y0(count, 3);
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        y0(lane, 0) = 2;
        y0(lane, 2) = lanes.p(lane, 0);
    }
    const std::vector<double> p{1, 0.1};
    const eddy::SolveOptions asked{.t1 = 1, .rtol = 1e-4, .atol = 1e-7};
    const auto sum_by = [&](const auto& backend) {
        return eddy::value_and_gradient(Shared{}, Both{}, FirstSquared{}, y0, eddy::shared(p),
                                        asked, backend);
    };
    EmulatedRuntime::reset();

    const auto expected = sum_by(eddy::Serial{}), found = sum_by(EmulatedDevice{});

    CHECK(expected.report.num_switched() > 5);
    CHECK(expected.report.num_switched() < count);
    check_gradients(found, expected);
    for (std::ptrdiff_t lane = 0; lane < count; ++lane)
        CHECK(found.report.redone(lane) == expected.report.redone(lane));
    EmulatedRuntime::reset();
}

TEST_CASE("device AutoSwitch: a call that does not wait says what to do instead") {
    const Lanes lanes(3);
    const OnDevice y0{lanes.y0}, p{lanes.p};
    OnDevice y = room(3, 2);
    auto asked = options;
    asked.save_at = {};
    EmulatedRuntime::reset();
    auto solver =
        eddy::ensemble_solver(Field{}, Both{}, asked, EmulatedDevice{.asynchronous = true});

    CHECK(support::message_of([&] { solver(y0, p, eddy::SolutionInto<double>{.y = y}); }) ==
          "solve: an asynchronous call by an AutoSwitch, whose second method waits for the first; "
          "leave out asynchronous, or give one of the two methods");
    CHECK(EmulatedRuntime::state.launches == 0);
    EmulatedRuntime::reset();
}
