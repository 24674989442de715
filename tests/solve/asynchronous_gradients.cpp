// Gradients that are put into a stream, with what is added over lanes added there: in the shape that the
// host adds in, so that they have the bits of Serial.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <string>
#include <vector>

#include "solve/device_lanes.hpp"
#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::Forced;
using support::HalfSquares;
using support::message_of;
using support::room;
using support::same_array;
using OnDevice = support::DeviceArray<double>;
using Into = eddy::GradientInto<double>;

const eddy::SolveOptions options{.t1 = 1,
                                 .rtol = 1e-4,
                                 .atol = 1e-7,
                                 .save_at = {0.5, 1},
                                 .max_steps = 60,
                                 .memory_budget = std::size_t{4} << 20,
                                 .stable_gradients = false};
const EmulatedDevice device{.asynchronous = true};

using device_lanes::varied;
std::vector<Array> data_of(std::ptrdiff_t lanes) { return {varied(lanes, 0.4), Array(1, 2, 0.25)}; }
auto solver_on(const auto& backend) {
    return eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
}

/// The arrays of a call that stay on the device.
struct Call {
    OnDevice y0, p, y0_gradient, p_gradient, loss;
    std::vector<OnDevice> data;

    Call(const Array& start, const Array& parameters)
        : y0(start),
          p(parameters),
          y0_gradient(room(start.rows(), start.cols())),
          p_gradient(room(parameters.rows(), parameters.cols())),
          loss(room(start.rows(), 1)) {
        for (const Array& array : data_of(start.rows())) data.emplace_back(array);
    }
    [[nodiscard]] Into into() { return {.y0 = y0_gradient, .p = p_gradient, .loss = loss}; }
    void check(const auto& expected) const {
        CHECK(same_array(y0_gradient.values(), expected.gradient.y0));
        CHECK(same_array(p_gradient.values(), expected.gradient.p));
        const Array losses = loss.values();
        std::ptrdiff_t different = 0;
        for (std::ptrdiff_t lane = 0; lane < losses.rows(); ++lane)
            different += !support::same_bits(losses(lane, 0), expected.loss(lane));
        CHECK(different == 0);
    }
};

/// More parameters than lanes hand out by themselves.
struct Crowded {
    static constexpr int state_size = 1, parameter_size = 65;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[0] * eddy::sum(p));
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

}  // namespace

TEST_CASE("asynchronous gradients: of own parameters, lanes that fail among them") {
    const Array start = varied(150, 0.2), rates = varied(150, 0.7, true);
    auto serial = solver_on(eddy::Serial{});
    const auto& expected = serial(data_of(150), start, rates);
    Call call(start, rates);
    auto solver = solver_on(device);
    EmulatedRuntime::reset(3);

    const auto& found = solver(call.data, call.y0, call.p, call.into());

    CHECK(std::isnan(found.loss.total));  // not yet known
    CHECK(found.report.result(3) == eddy::Result::max_steps_reached);
    CHECK(support::same_bits(found.loss.total, expected.loss.total));
    CHECK(found.report.counters.pullbacks > 0);
    CHECK(found.report.checkpoints > 0);
    CHECK(found.report.is_watched);
    call.check(expected);
}

TEST_CASE("asynchronous gradients: a second call neither allocates, copies, waits nor asks") {
    const Array start = varied(150, 0.2), row(1, 2, 0.9);
    Call call(start, row);
    auto solver = solver_on(device);
    const auto run = [&]() -> auto& {
        return solver(call.data, call.y0, eddy::shared(call.p), call.into());
    };
    run().report.wait();
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();

    const auto& found = run();

    CHECK(state.allocations == 0);
    CHECK(state.copies == 0);
    CHECK(state.waits == 0);
    CHECK(state.questions == 0);
    CHECK(state.launches == 2);  // the gradient, and the sums over its lanes
    found.report.wait();
    CHECK(state.waits == 1);
    // Outcomes and marks, the sum of all losses, what it has cost: no part of the shared gradient.
    CHECK(state.bytes_to_host == 150 * (sizeof(eddy::LaneOutcome) + sizeof(eddy::GradientMark)) +
                                     sizeof(double) + sizeof(eddy::detail::BackCost));
}

TEST_CASE("asynchronous gradients: a training step in a graph") {
    const Array start = varied(150, 0.2);
    Call call(start, Array(1, 2, 0.9));
    auto serial = solver_on(eddy::Serial{});
    auto solver = solver_on(device);
    const auto run = [&]() -> auto& {
        return solver(call.data, call.y0, eddy::shared(call.p), call.into());
    };
    run().report.wait();
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();
    state.is_capturing = true;
    const auto& found = run();
    state.is_capturing = false;

    for (const double p : {0.6, 1.1}) {
        const Array row(1, 2, p);
        call.p.assign(row);
        EmulatedRuntime::launch_graph(0);
        found.report.wait();

        const auto& expected = serial(data_of(150), start, eddy::shared(row));
        call.check(expected);
        CHECK(support::same_bits(found.loss.total, expected.loss.total));
    }
    EmulatedRuntime::reset();
}

TEST_CASE("asynchronous gradients: a captured one knows its data after calls on other data") {
    const Array start = varied(150, 0.2), row(1, 2, 0.9);
    Call call(start, row);
    auto serial = solver_on(eddy::Serial{});
    auto solver = solver_on(device);
    const auto run = [&](Call & on) -> auto& {
        return solver(on.data, on.y0, eddy::shared(on.p), on.into());
    };
    run(call).report.wait();
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();
    state.is_capturing = true;
    static_cast<void>(run(call));
    state.is_capturing = false;

    for (const std::ptrdiff_t lanes : {150, 700}) {
        Call other(varied(lanes, 0.3), Array(1, 2, 0.7));
        run(other).report.wait();
        const auto& expected =
            serial(data_of(lanes), varied(lanes, 0.3), eddy::shared(Array(1, 2, 0.7)));
        other.check(expected);
    }
    EmulatedRuntime::launch_graph(0);
    EmulatedRuntime::state.work.finish(0, 0);

    call.check(serial(data_of(150), start, eddy::shared(row)));
    EmulatedRuntime::reset();
}

TEST_CASE("asynchronous gradients: shared parameters, added there in the shape of the host") {
    // Blocks of a wave of members and more, the last of them short; beyond 4,096 lanes sums of blocks alone.
    for (const std::ptrdiff_t lanes : {1, 65, 2500, 4200}) {
        const Array start = varied(lanes, 0.2), row(1, 2, 0.9);
        auto serial = solver_on(eddy::Serial{});
        const auto& expected = serial(data_of(lanes), start, eddy::shared(row));
        Call call(start, row);
        auto solver = solver_on(device);
        CAPTURE(lanes);

        solver(call.data, call.y0, eddy::shared(call.p), call.into()).report.wait();

        call.check(expected);
    }
}

TEST_CASE("asynchronous gradients: so are more parameters than lanes hand out by themselves") {
    const Array start(1500, 1, 0.8), row(1, 65, 0.01);
    const auto solver_of = [&](const EmulatedDevice& backend, const eddy::GatherSums& gather) {
        return eddy::gradient_solver(
            Crowded{}, eddy::Bosh3{}, Square{},
            {.t1 = 1, .rtol = 1e-3, .stable_gradients = false, .gather_sums = gather}, backend);
    };
    // Who gathers sums adds on the host.
    auto on_host = solver_of({}, [](std::vector<double>&, std::ptrdiff_t) {});
    const auto& expected = on_host(start, eddy::shared(row));
    const OnDevice y0{start}, p{row};
    OnDevice of_y0 = room(1500, 1), of_p = room(1, 65), loss = room(1500, 1);
    const Into into{.y0 = of_y0, .p = of_p, .loss = loss};
    auto gathering = solver_of(device, [](std::vector<double>&, std::ptrdiff_t) {});
    CHECK(message_of([&] { static_cast<void>(gathering(y0, eddy::shared(p), into)); }) ==
          "value_and_gradient: gather_sums in an asynchronous call, which adds on the device; "
          "leave one of them out");
    auto solver = solver_of(device, {});

    const auto& found = solver(y0, eddy::shared(p), into);

    CHECK(found.report.success());
    CHECK(same_array(of_p.values(), expected.gradient.p));
    CHECK(support::same_bits(found.loss.total, expected.loss.total));
}

TEST_CASE("asynchronous gradients: what would have to wait is refused, before any work") {
    const Array start = varied(150, 0.2);
    Call call(start, start);
    OnDevice wide = room(4, 2);
    EmulatedRuntime::reset();
    auto solver = solver_on(device);
    const auto message = [&](const auto& data, const auto& p, const Into& into) {
        return message_of([&] { static_cast<void>(solver(data, call.y0, p, into)); });
    };
    const eddy::ViewIn<support::EmulatedMemory, const double> strided{{wide.data(), 1, 2, 1, 4}};

    CHECK(message(call.data, call.p, {.y0 = call.y0_gradient, .p = call.p_gradient}) ==
          "value_and_gradient: an asynchronous call returns before there is a gradient; give "
          "GradientInto arrays of the memory of the emulated device to write it into: .y0, .p and "
          ".loss");
    CHECK(message(data_of(150), call.p, call.into()) ==
          "value_and_gradient: data lies on the host, but the call is asynchronous; copy it to the "
          "memory of the emulated device");
    CHECK(message(call.data, eddy::shared(strided), call.into()) ==
          "shared: an asynchronous call takes parameters that lie side by side, without tangents; "
          "give a row whose numbers are contiguous");
    CHECK(
        message_of([&] {
            static_cast<void>(
                solver.hessian_vector_product(call.data, call.y0, call.p, call.y0, call.p));
        }) ==
        "hessian_vector_product: this gradient has tangents (a Hessian's, or those of "
        "estimate_gradient_error), which come to the host, but the call is asynchronous; leave one "
        "of them out");
    CHECK(EmulatedRuntime::state.launches == 0);
}
