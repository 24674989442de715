// Several paths to a lane on a device: means and variances have the bits of Serial.

#include "solve/emulated_device.hpp"
#include "solve/path_cases.hpp"

using support::EmulatedDevice;

TEST_CASE("device paths: means and variances are those of Serial, without paths that fail") {
    path_cases::check_means(EmulatedDevice{});
}

TEST_CASE("device paths: so are the mean of the loss and its gradient") {
    path_cases::check_gradients(EmulatedDevice{});
}

TEST_CASE("device paths: only sums of runs come back, whoever has solved them") {
    using support::EmulatedRuntime;
    auto options = path_cases::saving;
    options.paths = 700;  // two runs of 256 and one of what is left
    const support::Array y0(2, 2, 0.3), p(2, 2, 2.);
    const auto solve = [&](const auto& backend) {
        return eddy::solve(path_cases::Pair{}, eddy::EulerMaruyama{}, y0, p, options, backend);
    };
    const auto expected = solve(eddy::Serial{});
    CHECK(expected.failed_paths(0) > 0);
    const auto check = [&](const EmulatedDevice& device) {
        const auto found = solve(device);
        for (int k = 0; k < 2; ++k) {
            CHECK(support::same_array(found.mean(k), expected.mean(k)));
            CHECK(support::same_array(found.variance(k), expected.variance(k)));
        }
        for (int lane = 0; lane < 2; ++lane) {
            CHECK(found.failed_paths(lane) == expected.failed_paths(lane));
            CHECK(found.result(lane) == expected.result(lane));
            CHECK(found.failure(lane).t == expected.failure(lane).t);
            CHECK(found.stats(lane).evaluations == expected.stats(lane).evaluations);
        }
    };
    EmulatedRuntime::reset();
    check(EmulatedDevice{});
    // Three runs of each lane: four numbers, and what became of their paths.
    CHECK(EmulatedRuntime::state.bytes_to_host ==
          6 * (4 * sizeof(eddy::detail::Moments) + sizeof(eddy::detail::PathTally)));
    CHECK(EmulatedRuntime::state.launches == 2);
    EmulatedRuntime::reset(2);
    EmulatedRuntime::state.bytes_of_chunk = 8000;
    check(EmulatedDevice{});
    CHECK(EmulatedRuntime::state.launches > 2);
    EmulatedRuntime::reset(3);
    check(EmulatedDevice{.devices = {1, 0}});
    EmulatedRuntime::reset();
}

TEST_CASE("device paths: so of gradients, of parameters that lanes have, or share") {
    using support::EmulatedRuntime;
    auto options = path_cases::options;
    options.paths = 700;
    options.stable_gradients = false;
    const support::Array y0(2, 2, 0.3), p(2, 2, 2.), target(1, 2, 0.1);
    const auto compare = [&](const auto& parameters, std::size_t most_bytes) {
        const auto gradient = [&](const auto& backend) {
            return eddy::value_and_gradient(path_cases::Pair{}, eddy::EulerMaruyama{},
                                            support::HalfSquares{}, target, y0, parameters, options,
                                            backend);
        };
        const auto expected = gradient(eddy::Serial{});
        const auto check = [&](const EmulatedDevice& device) {
            const auto found = gradient(device);
            CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
            CHECK(support::same_array(found.gradient.p, expected.gradient.p));
            for (int lane = 0; lane < 2; ++lane) {
                CHECK(support::same_bits(found.loss(lane), expected.loss(lane)));
                CHECK(found.report.failed_paths(lane) == expected.report.failed_paths(lane));
                CHECK(found.report.stats(lane).accepted == expected.report.stats(lane).accepted);
            }
            CHECK(found.report.counters.pullbacks > 0);
        };
        EmulatedRuntime::reset();
        check(EmulatedDevice{});
        CHECK(EmulatedRuntime::state.bytes_to_host == most_bytes);
        EmulatedRuntime::reset(2);
        EmulatedRuntime::state.bytes_of_chunk = 8000;
        check(EmulatedDevice{});
        CHECK(EmulatedRuntime::state.launches > 3);
        EmulatedRuntime::reset(3);
        check(EmulatedDevice{.devices = {1, 0}});
        EmulatedRuntime::reset();
    };
    // Six runs: the loss and its four derivatives, what became of their paths; and what all of it has cost.
    const std::size_t num_bytes =
        6 * (5 * sizeof(double) + sizeof(eddy::detail::PathTally)) + sizeof(eddy::detail::BackCost);
    compare(p, num_bytes);
    compare(eddy::shared(std::vector<double>{2, 1.5}), num_bytes);
}

TEST_CASE("device paths: arrays that lie on the device are refused in a sentence") {
    const support::DeviceArray<double> there{support::Array(3, 2, 0.3)};
    CHECK_THROWS_WITH(path_cases::solve(there, support::Array(3, 2, 2.), EmulatedDevice{}),
                      support::contains("paths = 70 of arrays on the device"));
}
