// What a call asks of a device: one launch, of a gradient two, and one wait, where arrays lie there already.
// What became of the lanes stays there until somebody asks for more than whether all went well.

#include <atomic>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <limits>
#include <string>
#include <thread>
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
using SolutionInto = eddy::SolutionInto<double>;
using GradientInto = eddy::GradientInto<double>;

constexpr std::ptrdiff_t num_lanes = 150;
const eddy::SolveOptions options{.t1 = 1,
                                 .rtol = 1e-4,
                                 .atol = 1e-7,
                                 .save_at = {0.5, 1},
                                 .max_steps = 60,
                                 .stable_gradients = false};

Array varied(double first, bool fails = false) {
    return device_lanes::varied(num_lanes, first, fails);
}
const Array start = varied(0.2), rates = varied(0.7), failing_rates = varied(0.7, true);
std::vector<OnDevice> two_rooms() {
    std::vector<OnDevice> rooms;
    for (int k = 0; k < 2; ++k) rooms.push_back(room(num_lanes, 2));
    return rooms;
}
auto solver_on(const auto& backend) {
    return eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, backend);
}
auto gradient_solver_on(const auto& backend) {
    return eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
}

struct Asked {
    int launches, copies, waits, questions, allocations;
    bool operator==(const Asked&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Asked& asked) {
    return out << asked.launches << " launches, " << asked.copies << " copies, " << asked.waits
               << " waits, " << asked.questions << " questions, " << asked.allocations
               << " allocations";
}
Asked asked() {
    const auto& state = EmulatedRuntime::state;
    return {state.launches, state.copies, state.waits, state.questions, state.allocations};
}

}  // namespace

TEST_CASE("device calls: a later solve is a launch and a wait") {
    const OnDevice y0{start}, p{rates};
    std::vector<OnDevice> y = two_rooms();
    auto solver = solver_on(EmulatedDevice{});
    static_cast<void>(solver(y0, p, SolutionInto{.y = y}));
    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    EmulatedRuntime::reset();

    const auto& found = solver(y0, p, SolutionInto{.y = y});

    CHECK(asked() == Asked{1, 0, 1, 0, 0});
    CHECK(found.success());
    eddy::require_success(found);
    CHECK(asked() == Asked{1, 0, 1, 0, 0});
    CHECK(found.stats(5).accepted == expected.stats(5).accepted);
    CHECK(asked() == Asked{1, 1, 2, 0, 0});
    CHECK(found.total_stats().accepted == expected.total_stats().accepted);
    CHECK(asked() == Asked{1, 1, 2, 0, 0});
    CHECK(EmulatedRuntime::state.bytes_to_host == num_lanes * sizeof(eddy::LaneOutcome));
    CHECK(EmulatedRuntime::state.bytes_to_device == 0);
    for (std::size_t k = 0; k < 2; ++k)
        CHECK(same_array(y[k].values(), expected.y(static_cast<std::ptrdiff_t>(k))));
}

TEST_CASE("device calls: one solve keeps all steps, a second is made only where memory ends") {
    auto kept = options;
    kept.save_steps = true;
    const auto expected = eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, kept, eddy::Serial{});
    std::ptrdiff_t most = 0;
    for (int lane = 0; lane < num_lanes; ++lane) most = std::max(most, expected.num_steps(lane));
    constexpr std::size_t bytes_of_row = num_lanes * 3 * sizeof(double);  // t, and two numbers
    const auto check = [&](std::size_t budget, int launches) {
        kept.memory_budget = budget;
        EmulatedRuntime::reset();

        const auto found =
            eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, kept, EmulatedDevice{});

        CHECK(EmulatedRuntime::state.launches == launches);
        std::ptrdiff_t different = 0;
        for (int lane = 0; lane < num_lanes; ++lane) {
            REQUIRE(found.num_steps(lane) == expected.num_steps(lane));
            for (std::ptrdiff_t k = 0; k < found.num_steps(lane); ++k)
                different +=
                    !support::same_bits(found.step_t(lane, k), expected.step_t(lane, k)) ||
                    !support::same_bits(found.step_y(lane, k, 0), expected.step_y(lane, k, 0)) ||
                    !support::same_bits(found.step_y(lane, k, 1), expected.step_y(lane, k, 1));
        }
        CHECK(different == 0);
        return EmulatedRuntime::state.bytes_to_host;
    };
    const auto rows = static_cast<std::size_t>(most);
    const std::size_t with_room = check(rows * bytes_of_row, 1),
                      with_more = check(20 * rows * bytes_of_row, 1);
    CHECK(with_more == with_room);  // what comes back are the steps that there are
    check((rows - 1) * bytes_of_row, 2);
    check(1, 2);
}

TEST_CASE("device calls: a later gradient is two launches, and a wait for its sums") {
    const OnDevice y0{start}, p{rates}, row{Array(1, 2, 0.9)};
    std::vector<OnDevice> data;
    for (const Array& array : {varied(0.4), Array(1, 2, 0.25)}) data.emplace_back(array);
    OnDevice of_y0 = room(num_lanes, 2), of_p = room(num_lanes, 2), of_row = room(1, 2),
             loss = room(num_lanes, 1);
    const auto check = [&](const auto& parameters, OnDevice& of_parameters) {
        auto solver = gradient_solver_on(EmulatedDevice{});
        const GradientInto into{.y0 = of_y0, .p = of_parameters, .loss = loss};
        static_cast<void>(solver(data, y0, parameters, into));
        EmulatedRuntime::reset();

        const auto& found = solver(data, y0, parameters, into);

        CHECK(found.report.success());
        CHECK(found.report.counters.pullbacks > 0);
        CHECK(asked() == Asked{2, 2, 1, 0, 0});  // the sum of the losses, and what it has cost
        CHECK(EmulatedRuntime::state.bytes_to_host ==
              sizeof(double) + sizeof(eddy::detail::BackCost));
        CHECK(EmulatedRuntime::state.bytes_to_device == 0);
    };

    check(p, of_p);
    check(eddy::shared(row), of_row);
}

TEST_CASE("device calls: a lane that fails is known without its outcome, and brings all of them") {
    const OnDevice y0{start}, p{failing_rates}, good{rates};
    std::vector<OnDevice> y = two_rooms();
    auto solver = solver_on(EmulatedDevice{});
    for (int call = 0; call < 2; ++call) {
        const auto& found = solver(y0, p, SolutionInto{.y = y});
        CHECK(!found.success());
        CHECK(found.result(3) == eddy::Result::max_steps_reached);
        CHECK(found.result(4) == eddy::Result::success);
        CHECK(message_of([&] { eddy::require_success(found); }).find("trajectory 3 at t = ") !=
              std::string::npos);
        CHECK(solver(y0, good, SolutionInto{.y = y}).success());
    }
}

TEST_CASE("device calls: a result that is moved, or outlives its solver object, knows its lanes") {
    const OnDevice y0{start}, p{failing_rates};
    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, failing_rates, options, eddy::Serial{});
    std::vector<OnDevice> y = two_rooms();
    eddy::Solution<double> copied, moved;
    {
        auto solver = solver_on(EmulatedDevice{});
        copied = solver(y0, p, SolutionInto{.y = y});
        moved = std::move(solver(y0, p, SolutionInto{.y = y}));
    }
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        CHECK(copied.result(lane) == expected.result(lane));
        CHECK(moved.stats(lane).accepted == expected.stats(lane).accepted);
    }
}

TEST_CASE("device calls: several threads may ask at once") {
    const OnDevice y0{start}, p{failing_rates};
    std::vector<OnDevice> y = two_rooms();
    auto solver = solver_on(EmulatedDevice{});
    for (int call = 0; call < 3; ++call) {
        const auto& found = solver(y0, p, SolutionInto{.y = y});
        EmulatedRuntime::state.copies = 0;
        std::atomic<int> failed{0};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 3; ++thread)
            threads.emplace_back([&] {
                for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
                    failed += found.result(lane) != eddy::Result::success;
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(failed > 0);
        CHECK(failed % 3 == 0);
        CHECK(EmulatedRuntime::state.copies == 1);
    }
}

TEST_CASE("device calls: a number that is not finite is named, whichever array it lies in") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto with = [&](Array array, std::ptrdiff_t lane, std::ptrdiff_t component) {
        array(lane, component) = nan;
        return OnDevice(array);
    };
    const OnDevice y0{start}, p{rates}, bad_y0 = with(start, 140, 1), bad_p = with(rates, 3, 0),
                                        row{Array(1, 2, 0.9)},
                                        bad_row = with(Array(1, 2, 0.9), 0, 1);
    const auto data = [&](bool is_bad) {
        std::vector<OnDevice> arrays;
        arrays.emplace_back(varied(0.4));
        arrays.push_back(is_bad ? with(Array(1, 2, 0.25), 0, 1) : OnDevice(Array(1, 2, 0.25)));
        return arrays;
    };
    auto solver = solver_on(EmulatedDevice{});
    auto gradient = gradient_solver_on(EmulatedDevice{});
    const auto said_of = [&](const auto& call) {
        return message_of([&] { static_cast<void>(call()); });
    };

    CHECK(said_of([&] { return solver(bad_y0, p).success(); }) ==
          "solve: y0(140, 1) = nan; give finite numbers");
    CHECK(said_of([&] { return solver(y0, bad_p).success(); }) ==
          "solve: p(3, 0) = nan; give finite numbers");
    CHECK(said_of([&] { return solver(y0, eddy::shared(bad_row)).success(); }) ==
          "solve: p(0, 1) = nan; give finite numbers");
    CHECK(said_of([&] { return gradient(data(true), y0, p).report.success(); }) ==
          "value_and_gradient: data[1](0, 1) = nan, of save point 1; give finite numbers, or "
          "eddy::missing_as_nan(data) where NaN stands for a value that is missing");
    CHECK(said_of([&] { return gradient(data(false), bad_y0, bad_p).report.success(); }) ==
          "value_and_gradient: y0(140, 1) = nan; give finite numbers");
    CHECK(solver(y0, p).success());
    CHECK(gradient(data(false), y0, eddy::shared(row)).report.success());
}
