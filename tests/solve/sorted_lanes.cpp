// A solver object that is called again begins with the lanes that took longest: fewer rounds, by what the
// last call counted, and the same bits.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <numeric>
#include <vector>

#include "solve/emulated_device.hpp"
#include "support/catch.hpp"

namespace {

using support::EmulatedDevice;
using support::EmulatedRuntime;
using Array = eddy::EnsembleArray<double>;

/// A rotation, p[0] times as fast.
struct Rotation {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[1], p[0] * y[0]);
    }
};
struct First {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0]; }
};
const eddy::SolveOptions options{.t1 = 1,
                                 .rtol = 1e-3,
                                 .atol = 1e-6,
                                 .memory_budget = std::size_t{32} << 20,
                                 .stable_gradients = false};

/// Of many lanes, in no order: their attempts are spread over 1:30.
Array speeds(std::ptrdiff_t lanes) {
    Array p(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = 1 + 29 * static_cast<double>(lane * 611 % lanes) / static_cast<double>(lanes);
    return p;
}
Array ones(std::ptrdiff_t lanes) { return Array(lanes, 2, 1.); }

/// Attempts over places times rounds, forward.
double efficiency(const eddy::GradientReport& report) {
    const eddy::LaneStats all = report.total_stats();
    return static_cast<double>(all.accepted + all.rejected) /
           (32. * static_cast<double>(report.counters.advances));
}
auto solver() {
    return eddy::gradient_solver(Rotation{}, eddy::Bosh3{}, First{}, options, EmulatedDevice{});
}

/// One worker, which takes four groups.
void one_worker() {
    EmulatedRuntime::reset();
    EmulatedRuntime::state.processors = 0;
}

std::vector<std::int32_t> sorted(const std::vector<eddy::LaneOutcome>& outcomes) {
    const auto count = static_cast<std::int32_t>(outcomes.size());
    std::vector<std::int32_t> order(outcomes.size(), -1), buckets(64, -1);
    eddy::test::run_warps(1, 1, [&](int, eddy::test::EmulatedWarp& threads) {
        const support::GridWarp warp(threads, 0, 1);
        eddy::detail::LaneSort<support::GridWarp>(warp, outcomes.data(), count, buckets.data())
            .run(order.data());
    });
    return order;
}

/// The bits of one call are those of another, lane by lane.
void check_same(const auto& found, const auto& expected) {
    CHECK(found.loss.of_lane == expected.loss.of_lane);
    CHECK(found.loss.total == expected.loss.total);
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.report.num_lanes(); ++lane)
        different += found.gradient.p(lane, 0) != expected.gradient.p(lane, 0) ||
                     found.gradient.y0(lane, 1) != expected.gradient.y0(lane, 1) ||
                     found.report.stats(lane).accepted != expected.report.stats(lane).accepted;
    CHECK(different == 0);
}

}  // namespace

TEST_CASE("sorted lanes: the longest first, those alike in their order, none twice") {
    for (const int count : {1, 31, 32, 33, 200}) {
        std::vector<eddy::LaneOutcome> outcomes(static_cast<std::size_t>(count));
        for (std::size_t lane = 0; lane < outcomes.size(); ++lane) {
            outcomes[lane].accepted = static_cast<std::int64_t>(lane * 37 % 16) * 1000;
            outcomes[lane].rejected = 3;
        }
        const std::vector<std::int32_t> order = sorted(outcomes);
        std::vector<std::int32_t> expected(order.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
            return outcomes[static_cast<std::size_t>(a)].accepted >
                   outcomes[static_cast<std::size_t>(b)].accepted;
        });
        CAPTURE(count);
        CHECK(order == expected);
    }
    CHECK(sorted(std::vector<eddy::LaneOutcome>(3)) == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("sorted lanes: attempts of 1:30 fill the places of a second call") {
    constexpr std::ptrdiff_t lanes = 4 * 32 * 6;
    const Array y0 = ones(lanes), p = speeds(lanes);
    one_worker();
    auto repeated = solver();

    const auto first = repeated(y0, p);
    const auto& second = repeated(y0, p);

    const auto serial = eddy::value_and_gradient(Rotation{}, eddy::Bosh3{}, First{}, y0, p, options,
                                                 eddy::Serial{});
    CAPTURE(efficiency(first.report), efficiency(second.report));
    CHECK(efficiency(first.report) < 0.9);
    CHECK(efficiency(second.report) > 0.95);
    check_same(second, serial);
    EmulatedRuntime::reset();
}

TEST_CASE("sorted lanes: over all of them warps hold lanes that are alike, with the same bits") {
    constexpr std::ptrdiff_t lanes = 20 * 32 + 5;  // one to a place: groups have nothing to sort
    EmulatedRuntime::reset();
    const auto solver = [](bool sorted) {
        return eddy::gradient_solver(Rotation{}, eddy::Bosh3{}, First{}, options,
                                     EmulatedDevice{.sorted = sorted});
    };
    auto in_groups = solver(false), over_all = solver(true);
    const Array y0 = ones(lanes), p = speeds(lanes);
    const auto serial = eddy::value_and_gradient(Rotation{}, eddy::Bosh3{}, First{}, y0, p, options,
                                                 eddy::Serial{});
    for (int call = 0; call < 3; ++call) {
        const auto& plain = in_groups(y0, p);
        const auto& found = over_all(y0, p);

        CAPTURE(call, efficiency(plain.report), efficiency(found.report));
        CHECK(efficiency(plain.report) < 0.6);
        CHECK((efficiency(found.report) > 0.9) == (call > 0));
        check_same(found, serial);
    }
}

TEST_CASE("sorted lanes: other lanes, other groups and calls that were cut keep the bits") {
    const auto expected_of = [&](std::ptrdiff_t lanes) {
        return eddy::value_and_gradient(Rotation{}, eddy::Bosh3{}, First{}, ones(lanes),
                                        speeds(lanes), options, eddy::Serial{});
    };
    one_worker();
    auto repeated = solver();
    for (const std::ptrdiff_t lanes : {700, 300, 300, 10, 700, 700}) {
        if (lanes == 10) {
            std::stop_source source;
            source.request_stop();
            const auto& cut =
                repeated(ones(700), speeds(700), eddy::Cancellation(source.get_token()));
            CHECK(cut.report.result(699) == eddy::Result::cancelled);
        }
        const auto& found = repeated(ones(lanes), speeds(lanes));
        const auto expected = expected_of(lanes);
        CAPTURE(lanes);
        CHECK(found.loss.of_lane == expected.loss.of_lane);
        CHECK(found.report.success());
    }
    EmulatedRuntime::reset();
}

TEST_CASE(
    "sorted lanes: so do several devices, each with groups of its own; chunks are not sorted") {
    constexpr std::ptrdiff_t lanes = 900;
    const auto expected = eddy::value_and_gradient(Rotation{}, eddy::Bosh3{}, First{}, ones(lanes),
                                                   speeds(lanes), options, eddy::Serial{});
    for (const std::size_t bytes_of_chunk : {std::size_t{2000}, std::size_t{1} << 40}) {
        EmulatedRuntime::reset(2);
        EmulatedRuntime::state.processors = 0;
        EmulatedRuntime::state.bytes_of_chunk = bytes_of_chunk;
        auto repeated = eddy::gradient_solver(Rotation{}, eddy::Bosh3{}, First{}, options,
                                              EmulatedDevice{.devices = {0, 1}});
        std::int64_t rounds[3] = {};
        for (std::int64_t& count : rounds) {
            const auto& found = repeated(ones(lanes), speeds(lanes));
            CHECK(found.loss.of_lane == expected.loss.of_lane);
            count = found.report.counters.advances;
        }
        CHECK((rounds[1] < rounds[0]) == (bytes_of_chunk > 2000));
        CHECK(rounds[2] == rounds[1]);
    }
    EmulatedRuntime::reset();
}
