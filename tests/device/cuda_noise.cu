// Stochastic equations on a device: every lane follows the path that it follows on the host, and gradients
// of what it computes have the bits of Serial.
#include <eddy/backends/cuda.hpp>
#include <eddy/solvers/dri1.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/spark.hpp>

#include "solve/noise_cases.hpp"
#include "solve/path_cases.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using oracle::compare_noise;
using support::Array;

const auto as_it_is = std::vector<oracle::Way<eddy::Cuda>>{{"", {}}};
const std::vector<oracle::Way<eddy::Cuda>> two_ways{
    {"all rounds kept", {}, 4096, std::size_t{64} << 20},
    {"three checkpoints, a short log", {}, 3, 400'000}};

auto growth(std::ptrdiff_t lanes, eddy::SolveOptions options, const auto& backend) {
    options.t1 = 1;
    options.dt0 = 1. / 16;
    return eddy::solve(support::GeometricBrownian{}, eddy::EulerMaruyama{}, Array(lanes, 1, 1.0),
                       eddy::shared(std::vector<double>{0.4, 0.3}), options, backend);
}

}  // namespace

TEST_CASE("device noise: gradients by dyadic steps, chosen by a controller") {
    CHECK(compare_noise<eddy::SPaRK>(oracle::with_noise(oracle::adaptive_cases), two_ways, 101,
                                     eddy::pi_controller()) == oracle::adaptive_endings);
}

TEST_CASE("device noise: gradients by steps of constant size") {
    CHECK(compare_noise<eddy::Heun>(oracle::with_noise(oracle::constant_cases), two_ways, 101,
                                    eddy::ConstantController{}) == oracle::constant_endings);
}

TEST_CASE("device noise: gradients of DRI1, of noises that do not commute") {
    const auto endings = compare_noise<eddy::DRI1, support::MixedNoise>(
        oracle::with_noise(oracle::constant_cases), as_it_is, 101, eddy::ConstantController{});
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.count(eddy::Result::max_steps_reached) == 1);
}

TEST_CASE("device noise: a lane follows its path, by seed and number") {
    constexpr std::ptrdiff_t lanes = 1009;
    for (const eddy::SolveOptions& options :
         {eddy::SolveOptions{.seed = 0}, eddy::SolveOptions{.seed = 0x123456789abcdef},
          eddy::SolveOptions{.seed = 7, .first_path = std::int64_t{1} << 40},
          eddy::SolveOptions{.seed = 7, .antithetic = true},
          eddy::SolveOptions{.seed = 7, .noise_cell = 1. / 4}}) {
        CAPTURE(options.seed, options.first_path, options.antithetic, options.noise_cell);
        CHECK(support::same_array(growth(lanes, options, eddy::Cuda{}).y(),
                                  growth(lanes, options, eddy::Serial{}).y()));
    }
    const auto all = growth(lanes, {.seed = 7, .first_path = 0}, eddy::Cuda{}),
               later = growth(lanes - 500, {.seed = 7, .first_path = 500}, eddy::Cuda{}),
               other = growth(lanes, {.seed = 8}, eddy::Cuda{});
    CHECK(later.y()(3, 0) == all.y()(503, 0));
    CHECK(other.y()(3, 0) != all.y()(3, 0));
}

TEST_CASE("device noise: many paths to a lane, their means and variances, paths that fail") {
    path_cases::check_means(eddy::Cuda{});
}

TEST_CASE("device noise: the mean of the loss over paths, and its gradient") {
    path_cases::check_gradients(eddy::Cuda{});
}
