// The way back on a device is watched, and the tangents of a pushforward are: lanes whose steps do not carry their
// derivatives are marked, as Serial marks them, bit for bit. Gradients that nobody wants solved a second time stay so.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stability_equations.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::same_bits;
using OnDevice = support::DeviceArray<double>;
using Plane = zoo::Linear<2>;

/// Two decays: of every third lane the fast one has something to decay.
struct Lanes {
    Array y0, a, cotangent = Array(1, 2, 1.);

    explicit Lanes(std::ptrdiff_t count) : y0(count, 2), a(count, 4) {
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            y0(lane, 0) = 1;
            y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
            a(lane, 0) = -1;
            a(lane, 3) = -2 * static_cast<double>(lane % 40 + 1);
        }
    }
};
eddy::SolveOptions until(double t1, bool stable) {
    return {.t1 = t1, .rtol = 1e-6, .atol = 1e-9, .stable_gradients = stable};
}
auto solver_on(const eddy::SolveOptions& options, const auto& backend) {
    return eddy::gradient_solver(Plane{}, eddy::Tsit5{}, zoo::Along{}, options, backend);
}
std::ptrdiff_t num_marked(const eddy::GradientReport& report) {
    std::ptrdiff_t marked = 0;
    for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane)
        marked += report.unreliable(lane) ? 1 : 0;
    return marked;
}
void check_marks(const eddy::GradientReport& found, const eddy::GradientReport& expected) {
    std::ptrdiff_t different = 0, redone = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane) {
        const eddy::GradientMark a = found.unreliable(lane), b = expected.unreliable(lane);
        different += !same_bits(a.t, b.t) || a.ratio != b.ratio;
        redone += found.redone(lane);
    }
    CHECK(found.is_watched);
    CHECK(different == 0);
    CHECK(redone == 0);
}
/// How many lanes are marked, in all of which two solutions are alike.
int marks_alike(const eddy::Solution<double>& found, const eddy::Solution<double>& expected) {
    int marked = 0, different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane) {
        const eddy::TangentMark a = found.unreliable(lane), b = expected.unreliable(lane);
        different += !same_bits(a.t, b.t) || a.ratio != b.ratio;
        marked += bool(b);
    }
    CHECK(different == 0);
    return marked;
}

/// Noise on a slow mode; of every third path's lane the fast one has something to decay.
struct SlowAndFast {
    static constexpr int state_size = 2, parameter_size = 1;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[0], -(p[0] * y[1]));
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::vec(0.1 * y[0], 0.1 * y[1]);
    }
};

}  // namespace

TEST_CASE("device marks: lanes are marked as by Serial, however they share warps and memory") {
    for (const std::ptrdiff_t count : {1, 33, 150}) {
        const Lanes lanes(count);
        auto serial = solver_on(until(3, false), eddy::Serial{});
        const auto& expected = serial(lanes.cotangent, lanes.y0, lanes.a);
        CHECK((num_marked(expected.report) > 0) == (count > 1));
        for (const std::int64_t checkpoints : {0, 3}) {
            for (const std::uint64_t seed : {1u, 2u}) {
                CAPTURE(count, checkpoints, seed);
                EmulatedRuntime::reset(seed);
                auto options = until(3, false);
                options.checkpoints = checkpoints;
                auto solver = solver_on(options, EmulatedDevice{});

                const auto& found = solver(lanes.cotangent, lanes.y0, lanes.a);

                check_marks(found.report, expected.report);
                CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
            }
        }
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device marks: they stay there until somebody asks, and are those of the last call") {
    const Lanes lanes(150);
    Array slow = lanes.a;
    for (std::ptrdiff_t lane = 0; lane < 150; ++lane) slow(lane, 3) = -1;
    auto serial = solver_on(until(3, false), eddy::Serial{});
    const auto& expected = serial(lanes.cotangent, lanes.y0, lanes.a);
    const OnDevice y0{lanes.y0}, a{lanes.a}, cotangent{lanes.cotangent}, of_slow{slow};
    OnDevice of_y0{lanes.y0}, of_a{lanes.a}, loss{Array(150, 1)};
    const eddy::GradientInto<double> into{.y0 = of_y0, .p = of_a, .loss = loss};
    for (const bool asynchronous : {false, true}) {
        EmulatedRuntime::reset();
        auto solver = solver_on(until(3, false), EmulatedDevice{.asynchronous = asynchronous});
        for (int call = 0; call < 2; ++call) {
            CHECK(num_marked(solver(cotangent, y0, of_slow, into).report) == 0);
            const auto& found = solver(cotangent, y0, a, into);
            EmulatedRuntime::state.copies = 0;
            check_marks(found.report, expected.report);
            CHECK(EmulatedRuntime::state.copies >= 2);
            CHECK(num_marked(found.report) > 0);
        }
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device marks: tangents of a pushforward are marked as by Serial, shared out or not") {
    const Lanes lanes(150);
    const Array along(150, 2, 1.), none(150, 4);
    auto solver_on = [&](const auto& backend) {
        return eddy::ensemble_solver(Plane{}, eddy::Tsit5{}, until(3, false), backend);
    };
    auto serial = solver_on(eddy::Serial{});
    const auto& expected = serial(lanes.y0, lanes.a, along, none);
    Array slow = lanes.a;
    for (std::ptrdiff_t lane = 0; lane < 150; ++lane) slow(lane, 3) = -1;
    const auto check = [&](const EmulatedDevice& device) {
        auto solver = solver_on(device);
        const OnDevice y0{lanes.y0}, a{lanes.a}, tangent{along}, no_tangent{none}, of_slow{slow};
        if (device.devices.empty()) {
            const auto& before = solver(y0, of_slow, tangent, no_tangent);
            CHECK_FALSE(before.unreliable(1));
            CHECK(marks_alike(solver(y0, a, tangent, no_tangent), expected) > 50);
        } else {
            CHECK(marks_alike(solver(lanes.y0, lanes.a, along, none), expected) > 50);
        }
    };
    EmulatedRuntime::reset(1);
    check(EmulatedDevice{});
    EmulatedRuntime::reset(2);
    EmulatedRuntime::state.bytes_of_chunk = 1000;
    check(EmulatedDevice{.devices = {1, 0}});
    EmulatedRuntime::reset();
}

TEST_CASE("device marks: of many paths the least reliable tangent is the lane's") {
    const Array y0 = support::rows({{1, 0}, {1, 1}, {1, 0}}), p = support::rows({{40}, {1}, {60}}),
                along(3, 2, 1.), none(3, 1);
    auto options = until(1, false);
    options.rtol = 1e-2;
    options.atol = 1e-2;
    options.paths = 300;
    options.dt0 = 0.25;
    const auto push = [&](const auto& backend) {
        return eddy::pushforward(SlowAndFast{}, eddy::Heun{}, y0, p, along, none, options,
                                 eddy::PIDController{}, backend);
    };
    const auto expected = push(eddy::Serial{});
    EmulatedRuntime::reset(1);
    CHECK(marks_alike(push(EmulatedDevice{}), expected) == 2);
    EmulatedRuntime::reset(2);
    EmulatedRuntime::state.bytes_of_chunk = 8000;
    CHECK(marks_alike(push(EmulatedDevice{}), expected) == 2);
    CHECK(marks_alike(push(EmulatedDevice{.devices = {1, 0}}), expected) == 2);
    EmulatedRuntime::reset();
}
