// Calls that put their work into a stream and return: with the bits of those that wait, without an
// allocation, a copy or a wait in a second call, so that a graph can capture it.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <limits>
#include <string>
#include <utility>

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
using support::message_of;
using support::same_array;
using OnDevice = support::DeviceArray<double>;
using Into = eddy::SolutionInto<double>;

constexpr std::ptrdiff_t num_lanes = 150;
const eddy::SolveOptions options{.t1 = 2,
                                 .rtol = 1e-5,
                                 .atol = 1e-8,
                                 .step_to = {0.7},
                                 .max_steps = 60,
                                 .stable_gradients = false};

Array varied(double first, bool fails = false) {
    return device_lanes::varied(num_lanes, first, fails);
}
const Array start = varied(0.2), rates = varied(0.7, true);

OnDevice room() { return OnDevice(Array(num_lanes, 2, -1.)); }
auto solver_on(const auto& backend) {
    return eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, backend);
}
const EmulatedDevice device{.asynchronous = true};

std::ptrdiff_t different_outcomes(const eddy::Outcomes& a, const eddy::Outcomes& b) {
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        different += a.result(lane) != b.result(lane) ||
                     a.stats(lane).accepted != b.stats(lane).accepted ||
                     a.failure(lane).t != b.failure(lane).t;
    return different;
}

}  // namespace

TEST_CASE("asynchronous: a solve returns before its work is done, with the bits of Serial then") {
    const OnDevice y0{start}, p{rates};
    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
        OnDevice y = room();
        auto solver = solver_on(EmulatedDevice{.asynchronous = true, .sorted = seed > 2});
        EmulatedRuntime::reset(seed);
        solver(y0, p, Into{.y = y});

        const auto& found = solver(y0, p, Into{.y = y});

        CHECK(found.num_lanes() == num_lanes);
        CHECK(found.result(3) == eddy::Result::max_steps_reached);
        CHECK(different_outcomes(found, expected) == 0);
        CHECK(same_array(y.values(), expected.y()));
    }
}

TEST_CASE("asynchronous: a second call neither allocates, copies, waits nor asks") {
    const OnDevice y0{start}, p{rates};
    OnDevice y = room();
    auto solver = solver_on(device);
    solver(y0, p, Into{.y = y}).wait();
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();

    const auto& found = solver(y0, p, Into{.y = y});

    CHECK(state.allocations == 0);
    CHECK(state.copies == 0);
    CHECK(state.waits == 0);
    CHECK(state.questions == 0);
    CHECK(state.launches == 1);
    CHECK(found.total_stats().accepted > 0);
    CHECK(state.copies == 1);
    CHECK(state.waits == 1);
    CHECK(state.bytes_to_host == num_lanes * sizeof(eddy::LaneOutcome));
    static_cast<void>(found.success());
    CHECK(state.waits == 1);
}

TEST_CASE("asynchronous: a call that a graph has captured runs again on what lies there then") {
    const bool sorted = GENERATE(false, true);
    OnDevice y0{start}, p{rates}, y = room();
    auto solver = solver_on(EmulatedDevice{.asynchronous = true, .sorted = sorted});
    solver(y0, p, Into{.y = y}).wait();
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();
    state.is_capturing = true;
    const auto& found = solver(y0, p, Into{.y = y});
    state.is_capturing = false;

    for (const double first : {0.3, 0.9}) {
        const Array other = varied(first);
        y0.assign(other);
        p.assign(other);
        EmulatedRuntime::launch_graph(0);
        found.wait();

        const auto expected =
            eddy::solve(Forced{}, eddy::Bosh3{}, other, other, options, eddy::Serial{});
        CHECK(same_array(y.values(), expected.y()));
        CHECK(different_outcomes(found, expected) == 0);
    }
    EmulatedRuntime::reset();
}

TEST_CASE(
    "asynchronous: a captured call stays right whatever the solver object is called on later") {
    OnDevice y0{start}, p{rates}, y = room();
    auto solver = solver_on(device);
    solver(y0, p, Into{.y = y}).wait();
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();
    state.is_capturing = true;
    static_cast<void>(solver(y0, p, Into{.y = y}));
    state.is_capturing = false;

    // Other arrays of the same shape, fewer lanes, more, and more once more.
    for (const std::ptrdiff_t lanes : {150, 40, 500, 500}) {
        const Array others = device_lanes::varied(lanes, 0.5);
        const OnDevice from{others};
        OnDevice to(Array(lanes, 2, -1.));
        state.allocations = 0;
        const auto& found = solver(from, from, Into{.y = to});
        CAPTURE(lanes);
        found.wait();
        CHECK(same_array(
            to.values(),
            eddy::solve(Forced{}, eddy::Bosh3{}, others, others, options, eddy::Serial{}).y()));
        const Array again = varied(0.3 + 1e-3 * static_cast<double>(lanes));
        y0.assign(again);
        p.assign(again);
        EmulatedRuntime::launch_graph(0);
        found.wait();

        CHECK(same_array(
            y.values(),
            eddy::solve(Forced{}, eddy::Bosh3{}, again, again, options, eddy::Serial{}).y()));
    }
    CHECK(state.allocations == 0);  // what was set aside for the graph was so once
    EmulatedRuntime::reset();
}

TEST_CASE("asynchronous: a call is captured only where its solver object has memory for it") {
    const OnDevice y0{start}, p{rates}, few{Array(40, 2, 0.5)};
    OnDevice y = room(), of_few{Array(40, 2)};
    auto solver = solver_on(device);
    auto& state = EmulatedRuntime::state;
    const auto captured = [&](const OnDevice& from, OnDevice& to) {
        state.is_capturing = true;
        const std::string said =
            message_of([&] { static_cast<void>(solver(from, from, Into{.y = to})); });
        state.is_capturing = false;
        return said;
    };
    const std::string expected =
        "Cuda: a graph captures this call, but the last call of its solver object was on arrays of "
        "other shapes or lists, or there was none; call it once on these arrays before the capture "
        "begins";
    EmulatedRuntime::reset();

    CHECK(captured(y0, y) == expected);
    solver(y0, p, Into{.y = y}).wait();
    CHECK(captured(few, of_few) == expected);
    CHECK(captured(y0, y) == expected);  // the last call was none
    solver(y0, p, Into{.y = y}).wait();
    CHECK(captured(y0, y).empty());
    EmulatedRuntime::reset();
}

TEST_CASE("asynchronous: a lane that begins with no number says so itself") {
    Array broken = start, broken_rates = rates;
    broken(7, 1) = std::numeric_limits<double>::quiet_NaN();
    broken_rates(9, 0) = std::numeric_limits<double>::infinity();
    broken_rates(11, 1) = std::numeric_limits<double>::quiet_NaN();
    const OnDevice y0{broken}, p{broken_rates};
    OnDevice y = room();
    auto solver = solver_on(device);

    const auto& found = solver(y0, p, Into{.y = y});

    for (const int lane : {7, 9, 11}) {
        CHECK(found.result(lane) == eddy::Result::non_finite);
        CHECK(found.stats(lane).rejected == 1);
    }
    CHECK(found.result(8) == eddy::Result::success);
}

TEST_CASE("asynchronous: results that are copied or moved are waited for") {
    const OnDevice y0{start}, p{rates};
    OnDevice y = room();
    eddy::Solution<double> copied, moved;
    {
        auto solver = solver_on(device);
        EmulatedRuntime::reset();
        auto& found = solver(y0, p, Into{.y = y});
        copied = found;
        static_cast<void>(solver(y0, p, Into{.y = y}));
        moved = std::move(found);
    }

    CHECK(copied.result(3) == eddy::Result::max_steps_reached);
    CHECK(moved.result(3) == eddy::Result::max_steps_reached);
    CHECK(different_outcomes(copied, moved) == 0);
}

TEST_CASE("asynchronous: a solver object that goes, or grows, waits for its kernels") {
    const OnDevice y0{start}, p{rates};
    const Array twice_start(2 * num_lanes, 2, 0.5);
    const OnDevice more{twice_start};
    OnDevice y = room(), more_y{twice_start};
    EmulatedRuntime::reset();
    {
        auto solver = solver_on(device);
        static_cast<void>(solver(y0, p, Into{.y = y}));
        const auto& found = solver(more, more, Into{.y = more_y});
        CHECK(found.success());
        static_cast<void>(solver(y0, p, Into{.y = y}));
    }
    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    CHECK(same_array(y.values(), expected.y()));
}

TEST_CASE("asynchronous: an error of a kernel is met by who reads, each time") {
    const OnDevice y0{start}, p{rates};
    OnDevice y = room();
    auto solver = solver_on(device);
    EmulatedRuntime::reset();
    const auto& found = solver(y0, p, Into{.y = y});
    EmulatedRuntime::state.fails_with = 700;
    const auto read = [&] { static_cast<void>(found.result(0)); };

    const std::string once = message_of(read), again = message_of(read);
    EmulatedRuntime::state.fails_with = 0;

    CHECK(once.find("code 700") != std::string::npos);
    CHECK(again == once);
    CHECK(found.result(0) == eddy::Result::success);
}

TEST_CASE("asynchronous: what would have to wait is refused, before any work") {
    const OnDevice y0{start}, p{rates};
    OnDevice y = room();
    Array here(num_lanes, 2);
    EmulatedRuntime::reset();
    const auto message = [&](const auto& from, const Into& into, const auto& with,
                             const EmulatedDevice& backend = device) {
        auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, with, backend);
        return message_of([&] { static_cast<void>(solver(from, p, into)); });
    };
    auto with_steps = options, polled = options, own_times = options, impulses = options;
    impulses.impulses = {.times = {options.t1}, .amounts = 1};
    own_times.t1 = eddy::each(std::vector<double>(num_lanes, options.t1));
    with_steps.save_steps = true;
    polled.poll = [] { return true; };
    const std::string there =
        "solve: an asynchronous call returns before there is a solution; give solver(y0, p, "
        "SolutionInto{.y = …}) arrays of the memory of the emulated device to write it into";

    CHECK(message(y0, {}, options) == there);
    CHECK(message(y0, {.y = here}, options) == there);
    CHECK(message(start, {.y = y}, options) ==
          "solve: y0 lies on the host, but the call is asynchronous; copy it to the memory of the "
          "emulated device");
    CHECK(message(y0, {.y = y}, with_steps) ==
          "solve: save_steps in an asynchronous call; leave one of them out");
    CHECK(message(y0, {.y = y}, own_times) ==
          "solve: times of each trajectory's own in an asynchronous call, which come from the "
          "host; leave one of them out");
    CHECK(message(y0, {.y = y}, impulses) ==
          "solve: impulses in an asynchronous call, whose derivatives come to the host; leave one "
          "of them out");
    CHECK(message(y0, {.y = y}, polled) ==
          "Cuda: an asynchronous call cannot be observed or stopped; leave out progress, poll and "
          "cancelled, "
          "or asynchronous");
    CHECK(message(y0, {.y = y}, options, {.devices = {0}, .asynchronous = true}) ==
          "solve: Cuda with devices, and asynchronous; give one device and a stream");
    CHECK(EmulatedRuntime::state.launches == 0);
}
