// Results that stay on a device: written into arrays of the caller's there, with the bits of Serial; and
// what a solver object keeps there from call to call.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <memory>
#include <string>
#include <vector>

#include "solve/device_lanes.hpp"
#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::DevicePages;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::Forced;
using support::HalfSquares;
using support::message_of;
using support::room;
using support::same_array;
using OnDevice = support::DeviceArray<double>;

constexpr std::ptrdiff_t num_lanes = 150;
const eddy::SolveOptions options{.t1 = 2,
                                 .rtol = 1e-5,
                                 .atol = 1e-8,
                                 .save_at = {0.5, 2},
                                 .max_steps = 60,
                                 .memory_budget = std::size_t{4} << 20,
                                 .stable_gradients = false};

Array varied(double first, bool fails = false) {
    return device_lanes::varied(num_lanes, first, fails);
}
const Array start = varied(0.2), rates = varied(0.7, true), row(1, 2, 0.9);
const std::vector<Array> data{varied(0.4), Array(1, 2, 0.25)};

std::vector<OnDevice> there(const std::vector<Array>& arrays) {
    std::vector<OnDevice> result;
    for (const Array& array : arrays) result.emplace_back(array);
    return result;
}
auto gradient_solver_on(const auto& backend) {
    return eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
}

}  // namespace

TEST_CASE("device outputs: states stay there, and nothing but outcomes comes back") {
    const OnDevice y0_there{start}, p_there{rates};
    std::vector<OnDevice> y;
    for (int k = 0; k < 2; ++k) y.push_back(room(num_lanes, 2));
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, EmulatedDevice{});
    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    EmulatedRuntime::reset();

    const auto& found = solver(y0_there, p_there, eddy::SolutionInto<double>{.y = y});

    for (int k = 0; k < 2; ++k)
        CHECK(same_array(y[static_cast<std::size_t>(k)].values(), expected.y(k)));
    CHECK(found.result(3) == eddy::Result::max_steps_reached);
    CHECK(found.result(4) == eddy::Result::success);
    CHECK(EmulatedRuntime::state.bytes_to_host == num_lanes * sizeof(eddy::LaneOutcome));
    CHECK(message_of([&] { static_cast<void>(found.y(0)); }) ==
          "solution: these states are in the arrays that the call was given to write into; read "
          "them there");
}

TEST_CASE("device outputs: gradients and losses stay there, those of lanes that fail as well") {
    const OnDevice y0_there{start}, p_there{rates};
    const auto data_there = there(data);
    OnDevice y0 = room(num_lanes, 2), p = room(num_lanes, 2), loss = room(num_lanes, 1);
    auto serial = gradient_solver_on(eddy::Serial{});
    const auto& expected = serial(data, start, rates);
    auto solver = gradient_solver_on(EmulatedDevice{});
    const eddy::GradientInto<double> into{.y0 = y0, .p = p, .loss = loss};

    const auto& found = solver(data_there, y0_there, p_there, into);

    CHECK(same_array(y0.values(), expected.gradient.y0));
    CHECK(same_array(p.values(), expected.gradient.p));
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        CHECK(support::same_bits(loss.values()(lane, 0), expected.loss(lane)));
    CHECK(support::same_bits(found.loss.total, expected.loss.total));
    CHECK(std::isnan(loss.values()(3, 0)));
    CHECK(found.gradient.y0.rows() == 0);
}

TEST_CASE("device outputs: a second call allocates nothing, and copies no gradient") {
    const OnDevice y0_there{start}, slow_p_there{Array(num_lanes, 2, 0.5)}, p_there{rates};
    const auto data_there = there(data);
    OnDevice y0 = room(num_lanes, 2), p = room(num_lanes, 2), loss = room(num_lanes, 1);
    auto solver = gradient_solver_on(EmulatedDevice{});
    const eddy::GradientInto<double> into{.y0 = y0, .p = p, .loss = loss};
    static_cast<void>(solver(data_there, y0_there, p_there, into));
    const std::size_t pieces = DevicePages::num_pieces();
    auto& state = EmulatedRuntime::state;
    const auto bytes_of_call = [&](const OnDevice& parameters) {
        EmulatedRuntime::reset();
        static_cast<void>(solver(data_there, y0_there, parameters, into));
        CHECK(state.allocations == 0);
        CHECK(DevicePages::num_pieces() == pieces);
        return state.bytes_to_host;
    };

    // The sum of the losses, and what it has cost.
    const std::size_t of_sum = sizeof(double) + sizeof(eddy::detail::BackCost);
    CHECK(bytes_of_call(slow_p_there) == of_sum);
    // Where some fail, what became of each: the loss says how many succeeded.
    CHECK(bytes_of_call(p_there) ==
          of_sum + num_lanes * (sizeof(eddy::LaneOutcome) + sizeof(eddy::GradientMark)));
}

TEST_CASE("device outputs: the gradient of shared parameters") {
    const OnDevice y0_there{start}, row_there{row};
    const auto data_there = there(data);
    OnDevice y0 = room(num_lanes, 2), p = room(1, 2);
    auto serial = gradient_solver_on(eddy::Serial{});
    const auto& expected = serial(data, start, eddy::shared(row));
    auto solver = gradient_solver_on(EmulatedDevice{});

    static_cast<void>(solver(data_there, y0_there, eddy::shared(row_there),
                             eddy::GradientInto<double>{.y0 = y0, .p = p}));

    CHECK(same_array(y0.values(), expected.gradient.y0));
    CHECK(same_array(p.values(), expected.gradient.p));
}

TEST_CASE("device outputs: arrays that do not lie where the call computes are refused") {
    OnDevice y0 = room(num_lanes, 2);
    Array here(num_lanes, 2);
    const eddy::ViewIn<support::EmulatedMemory, double> elsewhere{here.view()};
    auto serial = gradient_solver_on(eddy::Serial{});
    auto device = gradient_solver_on(EmulatedDevice{});
    const auto message = [&](auto& solver, const eddy::GradientInto<double>& into) {
        return message_of([&] { static_cast<void>(solver(data, start, rates, into)); });
    };

    CHECK(message(serial, {.y0 = y0}) ==
          "value_and_gradient: the array to write gradient.y0 into lies on a device, but the call "
          "computes on the host; give one that lies there");
    CHECK(message(device, {.y0 = elsewhere}) ==
          "value_and_gradient: the array to write gradient.y0 into does not lie in the memory of "
          "the emulated device, as its type says; give one that does");
    CHECK(message(device, {.y0 = here}) == "");
}

TEST_CASE("device memory: a copied solver object has memory of its own") {
    using Solver = decltype(gradient_solver_on(EmulatedDevice{}));
    auto first = std::make_unique<Solver>(eddy::gradient_solver(
        Forced{}, eddy::Bosh3{}, HalfSquares{},
        [] {
            auto few = options;
            few.checkpoints = 3;
            return few;
        }(),
        EmulatedDevice{}));
    const auto expected = (*first)(data, start, rates);
    Solver second = *first;
    first.reset();

    const auto& found = second(data, start, rates);

    CHECK(same_array(found.gradient.p, expected.gradient.p));
}

TEST_CASE("device memory: the default of the budget is told from the same number given") {
    EmulatedDevice::Kept kept;
    EmulatedRuntime::reset();
    constexpr std::size_t mib = std::size_t{1} << 20;

    CHECK(EmulatedDevice{}.memory_limits({}, kept).budget == 16 * mib);  // of 64 that there are
    CHECK(EmulatedDevice{}.memory_limits(256 * mib, kept).budget == 256 * mib);
    CHECK(eddy::SolveOptions{}.memory_budget == 256 * mib);
}
