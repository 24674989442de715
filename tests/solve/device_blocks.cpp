// Gradients of constant steps on a device, which keeps the first state of every sixteen rounds and no
// sizes: the bits of Serial, wherever something happens within a block.
#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <string>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array, support::EmulatedDevice, support::EmulatedRuntime;

struct Growth {  // dy/dt = p y²: ends where it has no end
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0] + 0.1 * t);
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

constexpr std::ptrdiff_t lanes = 75;
Array starts() { return Array(lanes, 1, 1.0); }
Array rates(double most) {
    Array p(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = most * static_cast<double>(lane) / lanes;
    return p;
}

template <class Method, class P>
void compare(const std::string& what, const P& p, eddy::SolveOptions options) {
    INFO(what);
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(Growth{}, Method{}, Square{}, starts(), p, options,
                                        eddy::ConstantController{}, backend);
    };
    const auto expected = gradient(eddy::Serial{});
    for (const std::int64_t checkpoints : {100, 3}) {
        INFO(checkpoints << " checkpoints");
        EmulatedRuntime::reset();
        options.checkpoints = checkpoints;
        const auto found = gradient(EmulatedDevice{});
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            INFO("lane " << lane);
            CHECK(found.report.result(lane) == expected.report.result(lane));
            CHECK(found.report.stats(lane).accepted == expected.report.stats(lane).accepted);
        }
        CHECK(
            support::same_bits(found.loss.total_of_successful, expected.loss.total_of_successful));
        CHECK(found.loss.num_successful == expected.loss.num_successful);
        CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
        CHECK(support::same_array(found.gradient.p, expected.gradient.p));
    }
}

}  // namespace

TEST_CASE("device blocks: constant steps have the bits of Serial") {
    compare<eddy::Tsit5>("a hundred rounds and a remainder", rates(0.5),
                         {.t1 = 1.007, .dt0 = 0.01});
    compare<eddy::RK4>("a method without memory", rates(0.5), {.t1 = 1.6, .dt0 = 0.01});
    compare<eddy::Tsit5>("fewer than a block", rates(0.5), {.t1 = 0.1, .dt0 = 0.01});
    compare<eddy::Tsit5>("shared parameters", eddy::shared(Array(1, 1, 0.3)),
                         {.t1 = 1, .dt0 = 0.003});
}

TEST_CASE("device blocks: so have save points, jumps and ends within them") {
    eddy::SolveOptions few{.t1 = 1.5, .dt0 = 0.002};
    few.save_at = {0., 0.1, 0.2345, 0.5, 1.5};
    compare<eddy::Tsit5>("save points at and between steps", rates(0.5), few);
    eddy::SolveOptions many{.t1 = 1, .dt0 = 0.01};
    many.save_at = {0.1, 0.15, 0.2, 0.203, 0.3, 0.4, 0.45, 0.6, 0.7, 0.8, 0.9};
    compare<eddy::Tsit5>("as many of them as blocks", rates(0.5), many);
    eddy::SolveOptions jumps{.t1 = 1.5, .dt0 = 0.002};
    jumps.jump_times = {0.333, 0.777};
    compare<eddy::Tsit5>("jumps", rates(0.5), jumps);
    compare<eddy::Tsit5>("lanes that fail, here and there in a block", rates(2),
                         {.t1 = 1.5, .dt0 = 0.002});
    compare<eddy::Tsit5>("a limit of rounds", rates(0.5),
                         {.t1 = 1.5, .dt0 = 0.002, .max_steps = 333});
}

TEST_CASE("device blocks: of so many rounds one state in thirty-two is kept") {
    EmulatedRuntime::reset();
    const auto found = eddy::value_and_gradient(Growth{}, eddy::Tsit5{}, Square{}, starts(),
                                                rates(0.5), {.t1 = 1, .dt0 = 1e-3},
                                                eddy::ConstantController{}, EmulatedDevice{});

    // 32 places of 8 B of state and 8 of time; three groups, each in an arena of its own.
    CHECK(found.report.bytes_kept == 3 * (1000 / 32 + 1) * 32 * 16);
    CHECK(found.report.counters.recomputed <= 3 * 1000);
}
