// Lanes of a device whose steps do not carry their derivatives are solved once more there, with the bits of Serial:
// losses, gradients, statistics, marks, whoever the neighbours are and wherever arrays lie.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/alarm.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/stability_equations.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::room;
using support::same_array;
using support::same_bits;
using OnDevice = support::DeviceArray<double>;
using Plane = zoo::Linear<2>;
using Alarm = support::Alarm<eddy::PIDController>;

enum class Marked { none, some, all };

/// Two decays. The fast one of a lane that is to be marked has nothing to decay; in every fifth of `some`
/// it is so fast that the second solve fails, or the derivative is not finite.
struct Lanes {
    Array y0, a, cotangent;

    Lanes(std::ptrdiff_t count, Marked marked) : y0(count, 2), a(count, 4), cotangent(count, 2) {
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            const bool is_marked =
                marked == Marked::all || (marked == Marked::some && lane % 3 != 0);
            y0(lane, 0) = 1 + 0.01 * static_cast<double>(lane % 17);
            y0(lane, 1) = is_marked ? 0 : 1;
            a(lane, 0) = -1;
            const auto varied = static_cast<double>(lane % 40);
            a(lane, 3) = is_marked ? -20 - varied : -1 - 0.01 * varied;
            if (is_marked && marked == Marked::some && lane % 5 == 0)
                a(lane, 3) = lane % 2 == 0 ? -400 : -1e6;
            cotangent(lane, 0) = 1 + 0.1 * static_cast<double>(lane % 7);
            cotangent(lane, 1) = 1;
        }
    }
};
eddy::SolveOptions until(double t1) {
    return {.t1 = t1, .rtol = 1e-6, .atol = 1e-9, .max_steps = 300};
}
auto solver_on(const eddy::SolveOptions& options, const auto& backend) {
    return eddy::gradient_solver(Plane{}, eddy::Tsit5{}, zoo::Along{}, options, Alarm{}, backend);
}
auto serial_of(const Lanes& lanes, const eddy::SolveOptions& options) {
    auto solver = solver_on(options, eddy::Serial{});
    return solver(lanes.cotangent, lanes.y0, lanes.a);
}
std::ptrdiff_t num_redone(const eddy::GradientReport& report) {
    std::ptrdiff_t redone = 0;
    for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane) redone += report.redone(lane);
    return redone;
}
/// Marks, outcomes, statistics.
void check_reports(const eddy::GradientReport& found, const eddy::GradientReport& expected) {
    std::ptrdiff_t different = 0;
    REQUIRE(found.num_lanes() == expected.num_lanes());
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane) {
        const eddy::LaneOutcome a = found.outcomes()[static_cast<std::size_t>(lane)],
                                b = expected.outcomes()[static_cast<std::size_t>(lane)];
        const eddy::GradientMark mark = found.unreliable(lane), wanted = expected.unreliable(lane);
        different += a.accepted != b.accepted || a.rejected != b.rejected ||
                     a.evaluations != b.evaluations || !same_bits(a.t, b.t) ||
                     a.component != b.component || a.result != b.result ||
                     found.redone(lane) != expected.redone(lane) || !same_bits(mark.t, wanted.t) ||
                     !same_bits(mark.ratio, wanted.ratio);
    }
    CHECK(different == 0);
}
void check_same(const auto& found, const auto& expected) {
    check_reports(found.report, expected.report);
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.report.num_lanes(); ++lane)
        different += !same_bits(found.loss(lane), expected.loss(lane));
    CHECK(different == 0);
    CHECK(same_bits(found.loss.total, expected.loss.total));
    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(same_array(found.gradient.p, expected.gradient.p));
}

/// Arrays of a call on a device, those for results among them: states by rows, the others by columns.
struct There {
    OnDevice y0, a, cotangent, of_y0, of_a, loss;

    explicit There(const Lanes& lanes)
        : y0(by_rows(lanes.y0)),
          a(lanes.a),
          cotangent(lanes.cotangent),
          of_y0(room(2, lanes.y0.rows())),
          of_a(room(lanes.a.rows(), 4)),
          loss(room(lanes.y0.rows(), 1)) {}

    [[nodiscard]] auto start() const { return rows_of(y0.data()); }
    [[nodiscard]] eddy::GradientInto<double> into() {
        return {.y0 = rows_of(of_y0.data()), .p = of_a, .loss = loss};
    }
    void check(const auto& found, const auto& expected) const {
        check_reports(found.report, expected.report);
        CHECK(same_bits(found.loss.total, expected.loss.total));
        CHECK(same_array(of_y0.values(), by_rows(expected.gradient.y0)));
        CHECK(same_array(of_a.values(), expected.gradient.p));
        const Array losses = loss.values();
        for (std::ptrdiff_t lane = 0; lane < losses.rows(); ++lane)
            CHECK(same_bits(losses(lane, 0), expected.loss(lane)));
    }

  private:
    static Array by_rows(const Array& columns) {
        Array rows(columns.cols(), columns.rows());
        for (std::ptrdiff_t lane = 0; lane < columns.rows(); ++lane) {
            for (std::ptrdiff_t i = 0; i < columns.cols(); ++i) rows(i, lane) = columns(lane, i);
        }
        return rows;
    }
    template <class Real>
    [[nodiscard]] eddy::ViewIn<support::EmulatedMemory, Real> rows_of(Real* first) const {
        return {{first, a.rows(), 2, 2, 1}};
    }
};

}  // namespace

TEST_CASE("device second solve: none, some and all lanes of a call, however many") {
    for (const std::ptrdiff_t count : {1, 31, 32, 33, 150}) {
        for (const Marked marked : {Marked::none, Marked::some, Marked::all}) {
            CAPTURE(count, static_cast<int>(marked));
            const Lanes lanes(count, marked);
            const auto expected = serial_of(lanes, until(3));
            EmulatedRuntime::reset(static_cast<std::uint64_t>(count));
            auto solver = solver_on(until(3), EmulatedDevice{});

            check_same(solver(lanes.cotangent, lanes.y0, lanes.a), expected);

            const std::ptrdiff_t redone = num_redone(expected.report);
            CHECK((redone == count) == (marked == Marked::all));
            CHECK((redone > 0) == (marked == Marked::all || (marked == Marked::some && count > 1)));
        }
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: arrays on the device, of which a later call takes no memory") {
    const Lanes lanes(150, Marked::some), calm(150, Marked::none);
    const auto expected = serial_of(lanes, until(3)), of_calm = serial_of(calm, until(3));
    There there(lanes), without(calm);
    EmulatedRuntime::reset();
    auto solver = solver_on(until(3), EmulatedDevice{});

    there.check(solver(there.cotangent, there.start(), there.a, there.into()), expected);
    const int allocations = EmulatedRuntime::state.allocations;
    there.check(solver(there.cotangent, there.start(), there.a, there.into()), expected);
    without.check(solver(without.cotangent, without.start(), without.a, without.into()), of_calm);
    there.check(solver(there.cotangent, there.start(), there.a, there.into()), expected);

    CHECK(EmulatedRuntime::state.allocations == allocations);
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: lanes without marks ask for nothing more") {
    const Lanes lanes(150, Marked::none);
    There there(lanes);
    EmulatedRuntime::reset();
    auto solver = solver_on(until(3), EmulatedDevice{});
    static_cast<void>(solver(there.cotangent, there.start(), there.a, there.into()));
    EmulatedRuntime::state.launches = EmulatedRuntime::state.waits = 0;
    EmulatedRuntime::state.bytes_to_host = 0;

    const auto& found = solver(there.cotangent, there.start(), there.a, there.into());

    CHECK(found.report.success());
    CHECK(EmulatedRuntime::state.launches == 2);
    CHECK(EmulatedRuntime::state.waits == 1);
    CHECK(EmulatedRuntime::state.bytes_to_host < 150);  // sums of losses, and what it has cost
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: two devices, and chunks of a call") {
    const Lanes lanes(300, Marked::some);
    const auto expected = serial_of(lanes, until(3));
    for (const std::size_t chunk : {std::size_t{1} << 40, std::size_t{4096}}) {
        for (const bool both : {false, true}) {
            CAPTURE(chunk, both);
            EmulatedRuntime::reset(3);
            EmulatedRuntime::state.bytes_of_chunk = chunk;
            const EmulatedDevice device{.devices = both ? std::vector{1, 0} : std::vector<int>{}};
            auto solver = solver_on(until(3), device);
            for (int call = 0; call < 2; ++call)
                check_same(solver(lanes.cotangent, lanes.y0, lanes.a), expected);
        }
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: save points, few checkpoints and a log of a few rounds") {
    const Lanes lanes(70, Marked::some);
    auto options = until(3);
    options.save_at = {0.5, 1.25, 3};
    const std::vector<Array> data{lanes.cotangent, Array(1, 2, 0.5), lanes.cotangent};
    auto serial = solver_on(options, eddy::Serial{});
    const auto expected = serial(data, lanes.y0, lanes.a);
    CHECK(num_redone(expected.report) > 0);
    std::vector<OnDevice> data_there;
    for (const Array& array : data) data_there.emplace_back(array);
    There there(lanes);
    for (const std::size_t budget : {std::size_t{4} << 20, std::size_t{30'000}}) {
        CAPTURE(budget);
        EmulatedRuntime::reset(5);
        options.memory_budget = budget;
        options.checkpoints = budget < 1'000'000 ? 3 : 0;
        auto solver = solver_on(options, EmulatedDevice{});
        check_same(solver(data, lanes.y0, lanes.a), expected);
        there.check(solver(data_there, there.start(), there.a, there.into()), expected);
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: a shared gradient has the bits of Serial, in its array there too") {
    const std::vector<double> a{-1, 0, 0, -50};
    const OnDevice a_there{support::rows({{-1, 0, 0, -50}})};
    for (const std::ptrdiff_t count : {1, 33, 150, 4200}) {
        for (const std::int64_t max_steps : {50, 300}) {  // of some 100 that the second solve wants
            CAPTURE(count, max_steps);
            const Lanes lanes(count, count == 33 ? Marked::all : Marked::some);
            auto options = until(count < 1000 ? 2 : 0.5);
            options.max_steps = max_steps;
            auto serial = solver_on(options, eddy::Serial{});
            const auto expected = serial(lanes.cotangent, lanes.y0, eddy::shared(a));
            if (max_steps > 50 && count > 1) CHECK(num_redone(expected.report) > 0);
            EmulatedRuntime::reset(7);
            auto solver = solver_on(options, EmulatedDevice{});

            check_same(solver(lanes.cotangent, lanes.y0, eddy::shared(a)), expected);

            const OnDevice y0{lanes.y0}, cotangent{lanes.cotangent};
            OnDevice of_a = room(1, 4);
            const auto& found =
                solver(cotangent, y0, eddy::shared(a_there), eddy::GradientInto<double>{.p = of_a});
            CHECK(same_array(of_a.values(), expected.gradient.p));
            CHECK(same_array(found.gradient.y0, expected.gradient.y0));
            check_reports(found.report, expected.report);
        }
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: calls that begin with the longest lanes keep the bits") {
    Lanes lanes(700, Marked::some);
    for (std::ptrdiff_t lane = 0; lane < 700; ++lane)
        lanes.a(lane, 0) = -1 - static_cast<double>(lane * 611 % 700) / 20;
    const auto expected = serial_of(lanes, until(1));
    CHECK(num_redone(expected.report) > 0);
    EmulatedRuntime::reset();
    EmulatedRuntime::state.processors = 0;  // one worker, which takes four groups
    auto solver = solver_on(until(1), EmulatedDevice{});

    const std::int64_t first = solver(lanes.cotangent, lanes.y0, lanes.a).report.counters.advances;
    static_cast<void>(solver(lanes.cotangent, lanes.y0, lanes.a));  // has taken all its memory now
    const auto& third = solver(lanes.cotangent, lanes.y0, lanes.a);

    CHECK(third.report.counters.advances < first);
    check_same(third, expected);
    EmulatedRuntime::reset();
}

TEST_CASE(
    "device second solve: where memory does not suffice it says so, and a later call is whole") {
    const Lanes lanes(60, Marked::all);
    auto options = until(3);
    options.memory_budget = std::size_t{1} << 18;
    const auto expected = serial_of(lanes, options);
    There there(lanes);
    EmulatedRuntime::reset();
    auto solver = solver_on(options, EmulatedDevice{});
    int failures = 0, failures_behind_launches = 0;
    for (std::size_t bytes = std::size_t{1} << 16; bytes < std::size_t{64} << 20;
         bytes += bytes / 16) {
        EmulatedRuntime::state.bytes = bytes;
        EmulatedRuntime::state.launches = 0;
        const std::string said = support::message_of([&] {
            there.check(solver(there.cotangent, there.start(), there.a, there.into()), expected);
        });
        if (said.empty()) break;
        ++failures;
        failures_behind_launches += EmulatedRuntime::state.launches > 0;
        CHECK(support::mentions(said, "bytes of the memory of the emulated device"));
    }
    CHECK(failures > failures_behind_launches);
    CHECK(failures_behind_launches > 0);

    there.check(solver(there.cotangent, there.start(), there.a, there.into()), expected);
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: a call that is stopped anywhere leaves lanes whole, or none") {
    const Lanes lanes(40, Marked::all);
    auto options = until(30);
    options.max_steps = 3000;
    const auto expected = serial_of(lanes, options);
    options.stable_gradients = false;
    const auto plain = serial_of(lanes, options);
    options.stable_gradients = true;
    EmulatedRuntime::reset();
    Alarm::left = 0;
    auto whole = solver_on(options, EmulatedDevice{});
    static_cast<void>(whole(lanes.cotangent, lanes.y0, lanes.a));
    const std::int64_t attempts = -Alarm::left;
    std::ptrdiff_t redone = 0, kept = 0;
    for (int k = 1; k < 16; ++k) {
        CAPTURE(k);
        EmulatedRuntime::reset(static_cast<std::uint64_t>(k));
        Alarm::source = std::stop_source{};
        Alarm::left = attempts * k / 16;
        options.cancelled = Alarm::source.get_token();
        auto solver = solver_on(options, EmulatedDevice{});
        const auto& found = solver(lanes.cotangent, lanes.y0, lanes.a);
        for (std::ptrdiff_t lane = 0; lane < 40; ++lane) {
            const bool is_cancelled = found.report.result(lane) == eddy::Result::cancelled;
            const auto& like = found.report.redone(lane) ? expected : plain;
            if (is_cancelled) continue;
            (found.report.redone(lane) ? redone : kept) += 1;
            CHECK(support::same_row(found.gradient.y0, lane, like.gradient.y0, lane));
            CHECK(same_bits(found.loss(lane), like.loss(lane)));
            CHECK(found.report.stats(lane).accepted == like.report.stats(lane).accepted);
        }
    }
    CHECK(redone > 0);
    CHECK(kept > 0);
    EmulatedRuntime::reset();
}

TEST_CASE("device second solve: a call that does not wait leaves marks alone") {
    const Lanes lanes(70, Marked::some);
    auto options = until(3);
    options.stable_gradients = false;
    const auto expected = serial_of(lanes, options);
    There there(lanes);
    EmulatedRuntime::reset();
    auto solver = solver_on(until(3), EmulatedDevice{.asynchronous = true});

    const auto& found = solver(there.cotangent, there.start(), there.a, there.into());

    found.report.wait();
    CHECK(EmulatedRuntime::state.launches == 2);
    there.check(found, expected);
    EmulatedRuntime::reset();
}
