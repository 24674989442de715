// Stochastic equations on the table of cases that every backend is compared on: Cpu and emulated warps
// compute what Serial does, bit for bit, by dyadic steps and by constant ones, whatever is kept.

#include <eddy/backends/cpu.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/spark.hpp>

#include "solve/noise_cases.hpp"
#include "solve/warp_backend.hpp"

namespace {

using oracle::compare_noise;
using support::Warps;

constexpr std::ptrdiff_t num_lanes = 37;
const std::vector<oracle::Way<eddy::Cpu>> many_ways{
    {"two threads", {.threads = 2}},          {"one checkpoint", {.threads = 1}, 1},
    {"three checkpoints", {.threads = 2}, 3}, {"no log", {.threads = 1}, 0, 1},
    {"a short log", {.threads = 1}, 4, 6000},
};
const std::vector<oracle::Way<Warps>> warps{{"all rounds kept", {}, 4096},
                                            {"three checkpoints, a short log", {2}, 3, 13400}};

}  // namespace

TEST_CASE("oracle: gradients by dyadic steps of noise are those of Serial") {
    const auto cases = oracle::with_noise(oracle::adaptive_cases);
    const auto endings =
        compare_noise<eddy::SPaRK>(cases, many_ways, num_lanes, eddy::pi_controller());
    CHECK(endings == oracle::adaptive_endings);
    CHECK(compare_noise<eddy::SPaRK>(cases, warps, num_lanes, eddy::pi_controller()) == endings);
}

TEST_CASE("oracle: so are those by steps of noise of constant size") {
    const auto cases = oracle::with_noise(oracle::constant_cases);
    const auto endings =
        compare_noise<eddy::Heun>(cases, many_ways, num_lanes, eddy::ConstantController{});
    CHECK(endings == oracle::constant_endings);
}
