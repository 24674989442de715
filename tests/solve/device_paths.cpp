// Several paths to a lane on a device: means and variances have the bits of Serial.

#include <cmath>
#include <limits>
#include <utility>

#include "solve/emulated_device.hpp"
#include "solve/path_cases.hpp"
#include "support/stochastic_equations.hpp"

using support::EmulatedDevice;

TEST_CASE("device paths: means and variances are those of Serial, without paths that fail") {
    path_cases::check_means(EmulatedDevice{});
}

TEST_CASE("device paths: so are the mean of the loss and its gradient") {
    path_cases::check_gradients(EmulatedDevice{});
}

TEST_CASE("device paths: only means come back, or sums of runs from several devices") {
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
    // Of each lane four means and variances, and what became of its paths.
    CHECK(EmulatedRuntime::state.bytes_to_host ==
          2 * (8 * sizeof(double) + sizeof(eddy::LaneOutcome) + sizeof(std::int64_t)));
    CHECK(EmulatedRuntime::state.launches == 3);  // paths, runs, lanes
    EmulatedRuntime::reset(2);
    EmulatedRuntime::state.bytes_of_chunk = 8000;
    check(EmulatedDevice{});
    CHECK(EmulatedRuntime::state.launches > 3);
    EmulatedRuntime::reset(3);
    check(EmulatedDevice{.devices = {1, 0}});
    // Three runs of each lane: four numbers, and what became of their paths.
    CHECK(EmulatedRuntime::state.bytes_to_host ==
          6 * (4 * sizeof(eddy::detail::Moments) + sizeof(eddy::detail::PathTally)));
    CHECK(EmulatedRuntime::state.launches == 4);
    EmulatedRuntime::reset(4);
    EmulatedRuntime::state.bytes_of_chunk = 8000;
    check(EmulatedDevice{.devices = {1, 0}});
    CHECK(EmulatedRuntime::state.launches > 4);
    EmulatedRuntime::reset();
}

TEST_CASE("device paths: so of gradients, of parameters that lanes have, or share") {
    using support::EmulatedRuntime;
    auto options = path_cases::options;
    options.paths = 700;
    options.stable_gradients = false;
    const support::Array y0(2, 2, 0.3), p(2, 2, 2.), target(1, 2, 0.1);
    const auto compare = [&](const auto& parameters, std::size_t num_means) {
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
        // The total loss, what became of each lane's paths, and what all of it has cost.
        CHECK(EmulatedRuntime::state.bytes_to_host ==
              (num_means + 1) * sizeof(double) +
                  2 * (sizeof(eddy::LaneOutcome) + sizeof(std::int64_t)) +
                  sizeof(eddy::detail::BackCost));
        EmulatedRuntime::reset(2);
        EmulatedRuntime::state.bytes_of_chunk = 8000;
        check(EmulatedDevice{});
        CHECK(EmulatedRuntime::state.launches > 5);
        EmulatedRuntime::reset(3);
        check(EmulatedDevice{.devices = {1, 0}});
        // Six runs: the loss and its four derivatives, what became of their paths; what each device's part has cost.
        CHECK(EmulatedRuntime::state.bytes_to_host ==
              6 * (5 * sizeof(double) + sizeof(eddy::detail::PathTally)) +
                  2 * sizeof(eddy::detail::BackCost));
        EmulatedRuntime::reset(4);
        EmulatedRuntime::state.bytes_of_chunk = 8000;
        check(EmulatedDevice{.devices = {1, 0}});
        EmulatedRuntime::reset();
    };
    compare(p, 10);  // of each lane the loss, and of y0 and p
    compare(eddy::shared(std::vector<double>{2, 1.5}), 8);  // one row of p
}

namespace {

using support::Array;
using support::EmulatedRuntime;
using OnDevice = support::DeviceArray<double>;

/// Several parts to a lane, runs and what is left; or several lanes to a part, more than a block of them.
struct Shape {
    std::ptrdiff_t lanes;
    std::int64_t paths;
};
constexpr Shape shapes[] = {{2, 1300}, {300, 3}};
void reset_with_small_parts() {
    EmulatedRuntime::reset();
    EmulatedRuntime::state.bytes_of_chunk = 65'536;  // of 512 paths
}

Array varied(std::ptrdiff_t lanes, double first) {
    Array values(lanes, 2, first);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        values(lane, 0) += 1e-3 * static_cast<double>(lane);
    return values;
}
eddy::SolveOptions with_paths(eddy::SolveOptions options, std::int64_t paths) {
    options.paths = paths;
    options.stable_gradients = false;
    return options;
}

/// Arrays of a solve at two save points.
struct Means {
    OnDevice y0, p;
    std::vector<OnDevice> y, variance;

    explicit Means(std::ptrdiff_t lanes) : y0(varied(lanes, 0.3)), p(Array(lanes, 2, 2.)) {
        for (int k = 0; k < 2; ++k) {
            y.push_back(support::room(lanes, 2));
            variance.push_back(support::room(lanes, 2));
        }
    }
    [[nodiscard]] eddy::SolutionInto<double> into() { return {.y = y, .variance = variance}; }
    void check(const auto& expected) const {
        for (std::size_t k = 0; k < 2; ++k) {
            const auto save = static_cast<std::ptrdiff_t>(k);
            CHECK(support::same_array(y[k].values(), expected.mean(save)));
            CHECK(support::same_array(variance[k].values(), expected.variance(save)));
        }
    }
};
auto means_of(const eddy::SolveOptions& options, const auto& backend) {
    return eddy::ensemble_solver(path_cases::Pair{}, eddy::EulerMaruyama{}, options, backend);
}
void check_outcomes(const eddy::Outcomes& found, const eddy::Outcomes& expected) {
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane)
        different += found.failed_paths(lane) != expected.failed_paths(lane) ||
                     found.result(lane) != expected.result(lane) ||
                     found.failure(lane).t != expected.failure(lane).t ||
                     found.stats(lane).evaluations != expected.stats(lane).evaluations ||
                     found.stats(lane).rejected != expected.stats(lane).rejected;
    CHECK(different == 0);
}

/// Arrays of a gradient.
struct Gradients {
    OnDevice y0, p, target, of_y0, of_p, loss;

    Gradients(const Array& start, const Array& parameters, const Array& data)
        : y0(start),
          p(parameters),
          target(data),
          of_y0(support::room(start.rows(), start.cols())),
          of_p(support::room(parameters.rows(), parameters.cols())),
          loss(support::room(start.rows(), 1)) {}
    [[nodiscard]] eddy::GradientInto<double> into() {
        return {.y0 = of_y0, .p = of_p, .loss = loss};
    }
    void check(const auto& expected, const auto& found) const {
        found.report.wait();
        CHECK(support::same_array(of_y0.values(), expected.gradient.y0));
        CHECK(support::same_array(of_p.values(), expected.gradient.p));
        const Array losses = loss.values();
        std::ptrdiff_t different = 0;
        for (std::ptrdiff_t lane = 0; lane < losses.rows(); ++lane)
            different += !support::same_bits(losses(lane, 0), expected.loss(lane));
        CHECK(different == 0);
        CHECK(support::same_bits(found.loss.total, expected.loss.total));
    }
};
auto gradients_of(const eddy::SolveOptions& options, const auto& backend) {
    return eddy::gradient_solver(path_cases::Pair{}, eddy::EulerMaruyama{}, support::HalfSquares{},
                                 options, backend);
}
const EmulatedDevice at_once{.asynchronous = true};

}  // namespace

TEST_CASE("device paths: of arrays that lie there means are written there, with the same bits") {
    for (const auto& [lanes, paths] : shapes) {
        const auto options = with_paths(path_cases::saving, paths);
        auto serial = means_of(options, eddy::Serial{});
        const auto& expected = serial(varied(lanes, 0.3), Array(lanes, 2, 2.));
        CAPTURE(paths);
        for (const EmulatedDevice& device : {EmulatedDevice{}, at_once}) {
            reset_with_small_parts();
            Means there(lanes);
            auto solver = means_of(options, device);

            const auto& found = solver(there.y0, there.p, there.into());

            check_outcomes(found, expected);
            there.check(expected);
            CHECK_THROWS_WITH(found.variance(0), support::contains("read them there"));
        }
        // Where only one of them lies there, and results come to the host.
        const OnDevice y0{varied(lanes, 0.3)};
        auto solver = means_of(options, EmulatedDevice{});
        const auto& found = solver(y0, Array(lanes, 2, 2.));
        CHECK(support::same_array(found.mean(1), expected.mean(1)));
        CHECK(support::same_array(found.variance(0), expected.variance(0)));
    }
}

TEST_CASE(
    "device paths: a second asynchronous call takes and copies nothing, and waits for nothing") {
    const auto options = with_paths(path_cases::saving, 700);
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();
    Means there(2);
    auto solver = means_of(options, at_once);
    const auto again = [&]() -> auto& { return solver(there.y0, there.p, there.into()); };
    again().wait();
    EmulatedRuntime::reset();

    const auto& found = again();

    CHECK(state.allocations + state.copies + state.waits + state.questions == 0);
    found.wait();
    CHECK(state.waits == 1);
    // What became of each lane's paths.
    CHECK(state.bytes_to_host == 2 * (sizeof(eddy::LaneOutcome) + sizeof(std::int64_t)));

    EmulatedRuntime::reset();
    state.is_capturing = true;
    static_cast<void>(again());
    state.is_capturing = false;
    auto serial = means_of(options, eddy::Serial{});
    for (const double first : {0.2, 0.5}) {
        there.y0.assign(varied(2, first));
        EmulatedRuntime::launch_graph(0);
        found.wait();
        const auto& expected = serial(varied(2, first), Array(2, 2, 2.));
        there.check(expected);
        check_outcomes(found, expected);
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device paths: gradients of arrays that lie there, own and shared parameters") {
    for (const auto& [lanes, paths] : shapes) {
        const auto options = with_paths(path_cases::options, paths);
        const Array start = varied(lanes, 0.3), own(lanes, 2, 2.), row(1, 2, 1.5);
        auto serial = gradients_of(options, eddy::Serial{});
        const auto check = [&](const Array& rows, const Array& data, const auto& given) {
            const auto& expected = serial(data, start, given(rows));
            for (const EmulatedDevice& device : {EmulatedDevice{}, at_once}) {
                reset_with_small_parts();
                Gradients there(start, rows, data);
                auto solver = gradients_of(options, device);

                const auto& found = solver(there.target, there.y0, given(there.p), there.into());

                there.check(expected, found);
                check_outcomes(found.report, expected.report);
                CHECK(found.report.counters.pullbacks > 0);
                CHECK(found.report.checkpoints > 0);
            }
        };
        CAPTURE(paths);
        check(
            own, varied(lanes, 0.1), [](const auto& p) -> const auto& { return p; });
        check(row, Array(1, 2, 0.1), [](const auto& p) { return eddy::shared(p); });
    }
}

TEST_CASE("device paths: a gradient's second call takes nothing either, and a graph captures it") {
    const auto options = with_paths(path_cases::options, 700);
    auto& state = EmulatedRuntime::state;
    EmulatedRuntime::reset();
    const Array start = varied(2, 0.3), row(1, 2, 1.5), data(1, 2, 0.1);
    Gradients there(start, row, data);
    auto solver = gradients_of(options, at_once);
    const auto again = [&]() -> auto& {
        return solver(there.target, there.y0, eddy::shared(there.p), there.into());
    };
    again().report.wait();
    EmulatedRuntime::reset();
    state.is_capturing = true;

    const auto& found = again();

    state.is_capturing = false;
    CHECK(state.allocations + state.copies + state.waits + state.questions == 0);
    auto serial = gradients_of(options, eddy::Serial{});
    for (const double p : {0.6, 1.1}) {
        const Array other(1, 2, p);
        there.p.assign(other);
        EmulatedRuntime::launch_graph(0);
        there.check(serial(data, start, eddy::shared(other)), found);
    }
    EmulatedRuntime::reset();
}

TEST_CASE("device paths: numbers that are not finite are told where the call waits") {
    Array broken = varied(3, 0.3);
    broken(1, 1) = std::numeric_limits<double>::quiet_NaN();
    Means there(3);
    there.y0.assign(broken);
    const auto run = [&](const EmulatedDevice& device) {
        auto solver = means_of(with_paths(path_cases::saving, 70), device);
        const auto& found = solver(there.y0, there.p, there.into());
        return std::pair(found.result(1), found.failed_paths(1));
    };

    CHECK_THROWS_WITH(run(EmulatedDevice{}), support::contains("y0"));
    CHECK(run(at_once) == std::pair(eddy::Result::non_finite, std::int64_t{70}));
    CHECK(std::isnan(there.y[0].values()(1, 0)));
}

TEST_CASE("device paths: no lanes are a call without work") {
    EmulatedRuntime::reset();
    const Array none(0, 2);
    for (const EmulatedDevice& device : {EmulatedDevice{}, EmulatedDevice{.devices = {1, 0}}}) {
        auto solver = means_of(with_paths(path_cases::saving, 70), device);
        CHECK(solver(none, none).success());
        auto differentiator = gradients_of(with_paths(path_cases::options, 70), device);
        const auto& found = differentiator(Array(1, 2, 0.1), none, eddy::shared(Array(1, 2, 1.5)));
        CHECK(found.loss.total == 0);
        CHECK(found.gradient.p(0, 1) == 0);
    }
    CHECK(EmulatedRuntime::state.launches == 0);
}

TEST_CASE("device paths: of a call that is stopped there are the paths that have ended") {
    auto options = with_paths(path_cases::saving, 2000);
    int looks = 0;
    options.poll = [&] { return ++looks < 2; };
    Means there(3);
    reset_with_small_parts();
    auto solver = means_of(options, EmulatedDevice{});

    const auto& found = solver(there.y0, there.p, there.into());

    CHECK(found.result(2) == eddy::Result::cancelled);
    CHECK(found.failed_paths(2) == options.paths);
    CHECK(found.failed_paths(0) > 0);
    CHECK(std::isnan(there.y[1].values()(2, 0)));
}

namespace {

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

}  // namespace

TEST_CASE("device paths: many shared parameters are added there, of arrays of both memories") {
    const auto options = with_paths({.t1 = 1, .dt0 = 0.25, .seed = 3}, 4400);
    const auto gradient_by = [&](const auto& backend, const eddy::GatherSums& gather = {}) {
        auto gathering = options;
        gathering.gather_sums = gather;
        return eddy::gradient_solver(support::CrowdedNoise{}, eddy::EulerMaruyama{}, Square{},
                                     gathering, backend);
    };
    const Array start(2, 1, 0.8), row(1, 65, 0.01);
    auto serial = gradient_by(eddy::Serial{});
    const auto& exact = serial(start, eddy::shared(row));
    EmulatedRuntime::reset();
    auto on_host = gradient_by(EmulatedDevice{});
    const auto& expected = on_host(start, eddy::shared(row));
    // Means of each lane, one row of parameters, the total loss; outcomes and what it has cost.
    CHECK(EmulatedRuntime::state.bytes_to_host ==
          (4 + 65 + 1) * sizeof(double) + 2 * (sizeof(eddy::LaneOutcome) + sizeof(std::int64_t)) +
              sizeof(eddy::detail::BackCost));
    for (int i = 0; i < 65; ++i)
        CHECK(expected.gradient.p(0, i) ==
              Approx(exact.gradient.p(0, i)).epsilon(1e-12));  // groups are others
    CHECK(support::same_array(expected.gradient.y0, exact.gradient.y0));
    // Where the host gathers sums rows are made there: one device then adds a part's groups; of two, and of chunks,
    // they come back.
    const auto as_they_are = [](std::vector<double>&, std::ptrdiff_t) {};
    for (const EmulatedDevice& device : {EmulatedDevice{}, EmulatedDevice{.devices = {1, 0}}}) {
        for (const std::size_t bytes_of_chunk : {std::size_t{1} << 40, std::size_t{8000}}) {
            EmulatedRuntime::reset(2);
            EmulatedRuntime::state.bytes_of_chunk = bytes_of_chunk;
            auto solver = gradient_by(device, as_they_are);
            const auto& found = solver(start, eddy::shared(row));
            CHECK(support::same_array(found.gradient.p, expected.gradient.p));
            CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
        }
    }
    for (const EmulatedDevice& device : {EmulatedDevice{}, at_once}) {
        EmulatedRuntime::reset();
        Gradients there(start, row, row);
        auto solver = gradient_by(device);

        const auto& found = solver(there.y0, eddy::shared(there.p), there.into());

        there.check(expected, found);
    }
}

TEST_CASE("device paths: tangents of means, and of their gradients, of arrays that lie there") {
    const auto options = with_paths(path_cases::options, 700);
    const Array start = varied(3, 0.3), own(3, 2, 2.), row(1, 2, 1.5), target(1, 2, 0.1);
    const Array of_start = varied(3, 0.7), of_own = varied(3, -0.4), of_row(1, 2, 0.5);
    const OnDevice y0{start}, p{own}, shared_p{row}, y0_tangent{of_start}, p_tangent{of_own},
        shared_tangent{of_row}, data{target};
    EmulatedRuntime::reset();
    const auto tangents = [&](const auto& backend, const auto&... arrays) {
        return eddy::pushforward(path_cases::Pair{}, eddy::EulerMaruyama{}, arrays..., options,
                                 backend);
    };
    const auto expected = tangents(eddy::Serial{}, start, own, of_start, of_own),
               found = tangents(EmulatedDevice{}, y0, p, y0_tangent, p_tangent);
    CHECK(support::same_array(found.mean(), expected.mean()));
    CHECK(support::same_array(found.tangent(), expected.tangent()));
    check_outcomes(found, expected);

    const auto product = [&](const auto& backend, const auto&... arrays) {
        return eddy::hessian_vector_product(path_cases::Pair{}, eddy::EulerMaruyama{},
                                            support::HalfSquares{}, arrays..., options, backend);
    };
    const auto check = [](const auto& by_serial, const auto& by_device) {
        CHECK(support::same_array(by_device.product.y0, by_serial.product.y0));
        CHECK(support::same_array(by_device.product.p, by_serial.product.p));
        CHECK(support::same_array(by_device.gradient.p, by_serial.gradient.p));
        CHECK(support::same_bits(by_device.loss.total, by_serial.loss.total));
    };
    check(product(eddy::Serial{}, target, start, own, of_start, of_own),
          product(EmulatedDevice{}, data, y0, p, y0_tangent, p_tangent));
    check(product(eddy::Serial{}, target, start, eddy::shared(row), of_start, eddy::shared(of_row)),
          product(EmulatedDevice{}, data, y0, eddy::shared(shared_p), y0_tangent,
                  eddy::shared(shared_tangent)));
}
