// More of stochastic equations on a device: the strong methods of Itô's calculus by adaptive steps, tangents
// along a path, many paths that are stopped.
#include <chrono>
#include <eddy/backends/cuda.hpp>
#include <eddy/solvers/sosri.hpp>
#include <eddy/solvers/spark.hpp>
#include <stop_token>
#include <thread>

#include "device/on_device.hpp"
#include "solve/noise_cases.hpp"
#include "solve/path_cases.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::Array;
using namespace std::chrono_literals;

const std::vector<oracle::Way<eddy::Cuda>> as_it_is{{"", {}}};

/// The rough equation, each component with a noise of its own.
struct Diagonal {
    static constexpr int state_size = 2, parameter_size = 3;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto t, const auto& y, const auto& p) const {
        return oracle::Rough{}(t, y, p);
    }
    constexpr auto diffusion(auto t, const auto& y, const auto& p) const {
        return eddy::vec(0.2 * p[0] * y[0], (0.1 + t) / (2 + y[1] * y[1]));
    }
};

}  // namespace

TEST_CASE("device paths: gradients of SOSRI, which chooses its steps") {
    CHECK(oracle::compare_noise<eddy::SOSRI, Diagonal>(oracle::with_noise(oracle::adaptive_cases),
                                                       as_it_is, 101, eddy::pi_controller())
              .count(eddy::Result::success) == 1);
}

TEST_CASE("device paths: tangents, with the steps that carry them") {
    const oracle::Lanes<double> lanes(517);
    const auto endings = oracle::compare(
        oracle::with_noise(oracle::adaptive_cases), as_it_is,
        [&](eddy::SolveOptions options, const auto& backend) {
            options.save_steps = true;
            return eddy::pushforward(oracle::RoughNoise{}, eddy::SPaRK{}, lanes.y0, lanes.p,
                                     lanes.y0_direction, lanes.p_direction, options,
                                     eddy::observe(oracle::Observed{}), eddy::pi_controller(),
                                     backend);
        },
        [](const auto& expected, const auto& got) { oracle::check_same(expected, got, true); });
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.count(eddy::Result::non_finite) == 1);
}

TEST_CASE(
    "device paths: of arrays that lie there, in calls that do not wait, with the bits of Serial") {
    auto options = path_cases::options;
    options.paths = 100'000;  // two parts
    const Array start(3, 2, 0.3), rates(3, 2, 2.), target(1, 2, 0.1);
    const auto means = [&](const auto& backend) {
        return eddy::ensemble_solver(path_cases::Pair{}, eddy::EulerMaruyama{}, options, backend);
    };
    const auto gradients = [&](const auto& backend) {
        return eddy::gradient_solver(path_cases::Pair{}, eddy::EulerMaruyama{},
                                     support::HalfSquares{}, options, backend);
    };
    const device::OnDevice y0(start), p(rates), data(target), y(start), variance(start),
        of_y0(start), of_p(start), loss(Array(3, 1));
    auto y_view = y.view(), variance_view = variance.view(), of_y0_view = of_y0.view(),
         of_p_view = of_p.view(), loss_view = loss.view();

    auto solver = means(eddy::Cuda{.asynchronous = true});
    const auto& found = solver(y0.view(), p.view(),
                               eddy::SolutionInto<double>{.y = y_view, .variance = variance_view});
    auto differentiator = gradients(eddy::Cuda{.asynchronous = true});
    const auto& gradient = differentiator(
        data.view(), y0.view(), p.view(),
        eddy::GradientInto<double>{.y0 = of_y0_view, .p = of_p_view, .loss = loss_view});

    const auto expected = means(eddy::Serial{})(start, rates);
    const auto expected_gradient = gradients(eddy::Serial{})(target, start, rates);
    for (int lane = 0; lane < 3; ++lane) {
        CHECK(found.failed_paths(lane) == expected.failed_paths(lane));
        CHECK(gradient.report.failed_paths(lane) == expected_gradient.report.failed_paths(lane));
        CHECK(support::same_bits(loss.values()(lane, 0), expected_gradient.loss(lane)));
    }
    CHECK(support::same_array(y.values(), expected.mean()));
    CHECK(support::same_array(variance.values(), expected.variance()));
    CHECK(support::same_array(of_y0.values(), expected_gradient.gradient.y0));
    CHECK(support::same_array(of_p.values(), expected_gradient.gradient.p));
    CHECK(support::same_bits(gradient.loss.total_of_successful,
                             expected_gradient.loss.total_of_successful));
}

TEST_CASE("device paths: ten billion of them are stopped from another thread") {
    std::stop_source source;
    auto options = path_cases::saving;
    options.paths = 10'000'000'000;
    options.cancelled = source.get_token();
    Array rates(1, 2, 2.);
    rates(0, 0) = 0;  // no path fails by itself
    std::thread other([&] {
        std::this_thread::sleep_for(500ms);
        source.request_stop();
    });

    const auto found = eddy::solve(path_cases::Pair{}, eddy::EulerMaruyama{}, Array(1, 2, 0.3),
                                   rates, options, eddy::Cuda{});

    other.join();
    CHECK(found.result(0) == eddy::Result::cancelled);
    CHECK(found.stats(0).accepted < options.paths);  // or each path has made a step
}
