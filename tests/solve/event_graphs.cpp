// Events in calls that return early, and in graphs: a replay on other data finds the times of their events, the
// states behind them and the gradients through them, with the bits of Serial.

#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/event_references.hpp"

namespace {

using oracle::Bouncing;
using oracle::BouncingLanes;
using oracle::Height;
using oracle::Several;
using support::Array;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::room;
using support::same_array;
using support::same_bits;
using OnDevice = support::DeviceArray<double>;

constexpr std::ptrdiff_t num_lanes = 101;
const EmulatedDevice device{.asynchronous = true};
const eddy::SolveOptions options{.t1 = 2,
                                 .rtol = 1e-4,
                                 .save_at = {0.5, 1.1, 2},
                                 .max_steps = 250,
                                 .memory_budget = std::size_t{8} << 20,
                                 .stable_gradients = false};

/// A third of them are other lanes than those of the tests of events, all in another order.
BouncingLanes<double> lanes_from(std::ptrdiff_t first) {
    const BouncingLanes<double> all(num_lanes + 40);
    BouncingLanes<double> lanes(num_lanes);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const std::ptrdiff_t from = (first + lane) % (num_lanes + 40);
        for (int i = 0; i < 2; ++i) lanes.y0(lane, i) = all.y0(from, i);
        for (int i = 0; i < 3; ++i) lanes.p(lane, i) = all.p(from, i);
    }
    return lanes;
}

/// Lanes with events in the one whose times differ from those of the other.
std::ptrdiff_t different_times(const std::vector<double>& a, const std::vector<double>& b) {
    std::ptrdiff_t different = 0;
    for (std::size_t lane = 0; lane < a.size(); ++lane)
        different += a[lane] == a[lane] && a[lane] != b[lane];
    return different;
}
std::vector<double> event_times(const eddy::Outcomes& outcomes) {
    std::vector<double> times;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane)
        times.push_back(outcomes.event_t(lane));
    return times;
}

/// A gradient's arrays on the device.
struct Call {
    OnDevice y0, p, of_y0 = room(num_lanes, 2), of_p = room(num_lanes, 3),
                    loss = room(num_lanes, 1);

    explicit Call(const BouncingLanes<double>& lanes) : y0(lanes.y0), p(lanes.p) {}
    void assign(const BouncingLanes<double>& lanes) {
        y0.assign(lanes.y0);
        p.assign(lanes.p);
    }
    [[nodiscard]] eddy::GradientInto<double> into() {
        return {.y0 = of_y0, .p = of_p, .loss = loss};
    }
    /// And there are lanes of each kind.
    void check(const auto& expected, const auto& found) const {
        oracle::check_outcomes(expected.report, found.report);
        CHECK(same_array(of_y0.values(), expected.gradient.y0));
        CHECK(same_array(of_p.values(), expected.gradient.p));
        CHECK(same_bits(found.loss.total, expected.loss.total));
        std::ptrdiff_t with_events = 0, failed = 0;
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            with_events += expected.report.stats(lane).events > 0;
            failed += is_failure(expected.report.result(lane));
        }
        CHECK(with_events > num_lanes / 3);
        CHECK(failed > 0);
    }
};

void check_solves_in_a_graph() {
    const BouncingLanes<double> first = lanes_from(0);
    OnDevice y0{first.y0}, p{first.p};
    std::vector<OnDevice> y;
    for (int k = 0; k < 3; ++k) y.push_back(room(num_lanes, 2));
    auto solver = eddy::ensemble_solver(Several{}, eddy::Tsit5{}, options, device);
    const auto check = [&](const BouncingLanes<double>& lanes, const auto& found) {
        const auto expected = solution_of(Several{}, lanes, options, eddy::Serial{});
        oracle::check_outcomes(expected, found);
        for (int k = 0; k < 3; ++k)
            CHECK(same_array(y[static_cast<std::size_t>(k)].values(), expected.y(k)));
        return event_times(expected);
    };
    EmulatedRuntime::reset(2);
    auto times = check(first, solver(y0, p, eddy::SolutionInto<double>{.y = y}));
    EmulatedRuntime::state.is_capturing = true;
    const auto& found = solver(y0, p, eddy::SolutionInto<double>{.y = y});
    EmulatedRuntime::state.is_capturing = false;

    for (const std::ptrdiff_t from : {17, 40}) {
        const BouncingLanes<double> other = lanes_from(from);
        y0.assign(other.y0);
        p.assign(other.p);
        EmulatedRuntime::launch_graph(0);
        found.wait();

        const auto others = check(other, found);
        CHECK(different_times(times, others) > num_lanes / 3);
        times = others;
    }
    EmulatedRuntime::reset();
}

void check_gradients_in_a_graph() {
    const BouncingLanes<double> first = lanes_from(0);
    const auto serial = [](const BouncingLanes<double>& lanes) {
        return gradient_of(Bouncing{}, eddy::Tsit5{}, lanes, options, eddy::Serial{});
    };
    Call call(first);
    auto solver = eddy::gradient_solver(Bouncing{}, eddy::Tsit5{}, Height{}, options, device);
    EmulatedRuntime::reset(3);
    call.check(serial(first), solver(call.y0, call.p, call.into()));
    EmulatedRuntime::state.is_capturing = true;
    const auto& found = solver(call.y0, call.p, call.into());
    EmulatedRuntime::state.is_capturing = false;

    for (const std::ptrdiff_t from : {17, 40}) {
        const BouncingLanes<double> other = lanes_from(from);
        call.assign(other);
        EmulatedRuntime::launch_graph(0);
        found.report.wait();

        call.check(serial(other), found);
    }
    EmulatedRuntime::reset();
}

}  // namespace

TEST_CASE("event graphs: a replay on other lanes finds their events, as a call does that waits") {
    check_solves_in_a_graph();
}

TEST_CASE("event graphs: so do gradients through events") { check_gradients_in_a_graph(); }
