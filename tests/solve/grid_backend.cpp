// Cuda but for its runtime: the launcher, the memory and the teams of a grid backend on emulated warps,
// on the cases that every backend is compared with Serial on. Each lane has the bits of Serial,
// whatever the number of lanes, of warps, and whoever goes first.

#include "solve/device_cases.hpp"
#include "solve/emulated_device.hpp"
#include "support/sanitized.hpp"

namespace {

using oracle::constant_cases;
using support::EmulatedDevice;
using support::EmulatedRuntime;

constexpr std::ptrdiff_t num_lanes = 101;
const auto as_it_is = oracle::as_it_is<EmulatedDevice>();
const auto two_ways = oracle::two_ways<EmulatedDevice>(std::size_t{8} << 20, 40'000);

}  // namespace

TEST_CASE("grid backend: solves have the bits of Serial, with and without their steps") {
    CHECK(oracle::compare_solves(as_it_is, num_lanes) == oracle::adaptive_endings);
}

TEST_CASE("grid backend: gradients have the bits of Serial, lanes that fail among them") {
    const auto endings =
        oracle::compare_gradients<eddy::Tsit5, double>(oracle::device_cases, two_ways, num_lanes);
    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("grid backend: so have those of shared parameters, with times") {
    const auto endings =
        oracle::compare_shared_gradients(oracle::device_cases, two_ways, num_lanes);
    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("grid backend: so have those by steps of constant size, with times") {
    const auto endings = oracle::compare_gradients<eddy::Tsit5, float>(
        constant_cases, two_ways, num_lanes, eddy::ConstantController{}, eddy::differentiate_times);
    CHECK(endings == oracle::constant_endings);
}

TEST_CASE("grid backend: whatever the number of lanes, of warps, and whoever goes first") {
    const std::vector<std::ptrdiff_t> counts =
        support::sanitized ? std::vector<std::ptrdiff_t>{1, 33, 257}
                           : std::vector<std::ptrdiff_t>{1, 31, 32, 33, 257, 600};
    for (const std::ptrdiff_t count : counts) {
        for (const std::uint64_t seed : {1u, 2u}) {
            EmulatedRuntime::reset(seed);
            EmulatedRuntime::state.processors = static_cast<int>(2 * seed - 1);
            INFO(count << " lanes, seed " << seed);
            static_cast<void>(oracle::compare_gradients<eddy::Tsit5, double>(oracle::device_jumps,
                                                                             two_ways, count));
            static_cast<void>(
                oracle::compare_shared_gradients(oracle::device_jumps, as_it_is, count));
        }
    }
    EmulatedRuntime::reset();
}
