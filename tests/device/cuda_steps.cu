// Methods and controllers of other kinds on a device: steps of constant size in single precision, series of
// Taylor, controllers of other coefficients, moments far from zero. All have the bits of Serial.
#include <eddy/backends/cuda.hpp>
#include <eddy/solvers/taylor.hpp>

#include "solve/device_cases.hpp"

namespace {

using oracle::constant_cases;
using oracle::device_cases;

const auto as_it_is = oracle::as_it_is<eddy::Cuda>();
const auto two_ways = oracle::two_ways<eddy::Cuda>(std::size_t{64} << 20, 400'000);

}  // namespace

TEST_CASE("device steps: of constant size in single precision, with times") {
    const auto endings = oracle::compare_gradients<eddy::Tsit5, float>(
        constant_cases, two_ways, 1009, eddy::ConstantController{}, eddy::differentiate_times);
    CHECK(endings == oracle::constant_endings);
}

TEST_CASE("device steps: many of constant size, in the memory of a few") {
    const oracle::Lanes<float> lanes(33);
    const eddy::SolveOptions options{.t1 = 0.4, .dt0 = 1. / 8192};
    const std::vector<oracle::Case> many{{"3,277 steps", options}};
    const std::vector<oracle::Way<eddy::Cuda>> ways{
        {"four checkpoints", {}, 4}, {"20,000 bytes", {}, 0, 20'000}, {"as much as it likes", {}}};
    CHECK(oracle::compare_gradients<eddy::Tsit5, float>(many, ways, 33, eddy::ConstantController{},
                                                        eddy::differentiate_times)
              .count(eddy::Result::success) == 1);
}

TEST_CASE("device steps: series of Taylor") {
    const auto endings =
        oracle::compare_gradients<eddy::Taylor<7>, double>(device_cases, two_ways, 101);
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.count(eddy::Result::max_steps_reached) == 1);
}

TEST_CASE("device steps: chosen by controllers of other coefficients") {
    for (const eddy::PIDController& controller :
         {eddy::i_controller(), eddy::pid_controller(),
          eddy::PIDController{.pcoeff = 0.2, .icoeff = 0.4, .safety = 0.8, .max_factor = 3}}) {
        CAPTURE(controller.pcoeff, controller.icoeff, controller.dcoeff);
        CHECK(oracle::compare_gradients<eddy::Tsit5, double>(
                  device_cases, as_it_is, 101, controller) == oracle::adaptive_endings);
    }
}
