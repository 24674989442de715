// Events on emulated warps, and by the launcher of devices on them: each lane has the bits of Serial.

#include "solve/device_cases.hpp"
#include "solve/emulated_device.hpp"
#include "solve/event_references.hpp"
#include "solve/warp_backend.hpp"

namespace {

using oracle::Bouncing;
using oracle::Landing;
using oracle::Several;
using support::EmulatedDevice;
using support::Warps;

constexpr std::ptrdiff_t num_lanes = 101;
constexpr std::size_t budget_of(std::size_t rounds) { return 1 + rounds * 4 * 32 * sizeof(double); }
const std::vector<oracle::Way<Warps>> three_ways{
    {"all rounds kept", {}, 4096},
    {"three checkpoints, a short log", {2}, 3, budget_of(13)},
    {"eight checkpoints, no log", {3}, 8, budget_of(0)}};
const auto two_ways = oracle::two_ways<EmulatedDevice>(std::size_t{8} << 20, 40'000);

}  // namespace

TEST_CASE("event devices: warps have the gradients of Serial") {
    CHECK(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
              oracle::event_cases, three_ways, num_lanes) == oracle::bouncing_endings);
    CHECK(oracle::compare_event_gradients<Landing, eddy::Tsit5, float>(
              oracle::constant_event_cases, three_ways, num_lanes, eddy::ConstantController{})
              .contains(eddy::Result::event));
}

TEST_CASE("event devices: so have tangents and second derivatives") {
    CHECK(oracle::compare_event_tangents<Several>(three_ways, num_lanes) ==
          oracle::landing_endings);
}

TEST_CASE(
    "event devices: so has the launcher, solves and gradients of shared parameters with times") {
    CHECK(oracle::compare_event_solves<Several>(oracle::as_it_is<EmulatedDevice>(), num_lanes) ==
          oracle::landing_endings);
    CHECK(oracle::compare_shared_event_gradients<Several>(two_ways, num_lanes)
              .contains(eddy::Result::event));
}
