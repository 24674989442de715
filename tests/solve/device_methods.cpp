// One method of each kind on a device that is emulated, and what else no other test runs there: gradients have the
// bits of Serial, lanes that fail among them. Fields are small, for what a method takes is compiled for two machines.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/steady_state.hpp>
#include <eddy/solvers/align.hpp>
#include <eddy/solvers/dri1.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/taylor.hpp>

#include "solve/device_lanes.hpp"
#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/steady_equations.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::EmulatedRuntime;

/// A fast decay to a slow one, which a lane of large rates takes too many steps for.
struct Slow {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[1] * y[1] - y[0]), -p[1] * y[1]);
    }
};
struct InParts {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto stiff(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], 0. * y[1]);
    }
    constexpr auto non_stiff(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1] * y[1], -p[1] * y[1]);
    }
};
/// Two noises that do not commute.
struct Mixed {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const { return -p[1] * y; }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::columns(eddy::vec(0.3 * p[0], 0.2 * y[0]), eddy::vec(0.2 * y[1], 0.3));
    }
};
struct Spring {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto force(auto, const auto& x, const auto& p) const { return -p[0] * x; }
    constexpr auto friction(const auto&) const { return 0.5; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};

constexpr std::ptrdiff_t num_lanes = 66;
const Array start = device_lanes::varied(num_lanes, 0.2);
const eddy::SolveOptions chosen{
    .t1 = 2, .rtol = 1e-3, .atol = 1e-6, .save_at = {0.7, 2}, .max_steps = 60};
const eddy::SolveOptions constant{.t1 = 1, .save_at = {0.3, 1}, .dt0 = 1. / 16, .seed = 5};

/// With all states kept and with three. Returns how many lanes fail.
template <class Field>
std::ptrdiff_t check(const auto& method, const Array& rates, eddy::SolveOptions options) {
    std::ptrdiff_t failed = 0;
    const std::vector<Array> data(2, Array(1, 2, 0.1));
    for (const std::int64_t checkpoints : {0, 3}) {
        options.checkpoints = checkpoints;
        CAPTURE(checkpoints);
        const auto gradient = [&](const auto& backend) {
            return eddy::value_and_gradient(Field{}, method, support::HalfSquares{}, data, start,
                                            rates, options, backend);
        };
        EmulatedRuntime::reset(static_cast<std::uint64_t>(checkpoints) + 1);

        const auto expected = gradient(eddy::Serial{}), found = gradient(EmulatedDevice{});

        CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
        CHECK(support::same_array(found.gradient.p, expected.gradient.p));
        CHECK(support::same_bits(found.loss.total, expected.loss.total));
        std::ptrdiff_t different = 0, moved = 0;
        failed = 0;
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            different +=
                found.report.result(lane) != expected.report.result(lane) ||
                found.report.stats(lane).accepted != expected.report.stats(lane).accepted ||
                found.report.stats(lane).rejected != expected.report.stats(lane).rejected ||
                found.report.redone(lane) != expected.report.redone(lane);
            moved += expected.gradient.p(lane, 0) != 0;
            failed += eddy::is_failure(expected.report.result(lane));
        }
        CHECK(different == 0);
        CHECK(moved > num_lanes / 2);
    }
    return failed;
}
/// Those of nine lanes are large.
const Array rates = device_lanes::varied(num_lanes, 0.7, true),
            mild = device_lanes::varied(num_lanes, 0.7);

}  // namespace

TEST_CASE("device methods: stages that are iterated") {
    CHECK(check<Slow>(eddy::Kvaerno3{}, rates, chosen) == 0);
}
TEST_CASE("device methods: a field in two parts") {
    CHECK(check<InParts>(eddy::KenCarp4{}, rates, chosen) == 9);
}
TEST_CASE("device methods: Taylor's series") {
    CHECK(check<Slow>(eddy::Taylor<6>{}, rates, chosen) == 9);
}
TEST_CASE("device methods: weak methods of noise") {
    CHECK(check<Mixed>(eddy::DRI1{}, mild, constant) == 0);
}
TEST_CASE("device methods: Langevin's equation") {
    CHECK(check<Spring>(eddy::ALIGN{}, mild, constant) == 0);
}

TEST_CASE("device methods: steady states and their derivatives") {
    const auto rest = [&](const auto& backend) {
        return eddy::steady_state(support::Switch{}, start, Array(num_lanes, 2, 1.5),
                                  {.rtol = 1e-6, .atol = 1e-9}, backend);
    };
    EmulatedRuntime::reset();

    const auto expected = rest(eddy::Serial{});
    const auto found = rest(EmulatedDevice{});

    CHECK(support::same_array(found.y(), expected.y()));
    const Array cotangents(num_lanes, 2, 0.5);
    const auto of_expected = eddy::pullback(expected, cotangents),
               of_found = eddy::pullback(found, cotangents);
    CHECK(support::same_array(of_found.p, of_expected.p));
    CHECK(support::same_array(of_found.y0, of_expected.y0));
}
