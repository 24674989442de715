// Events on a device: their times, the states behind them and gradients through them have the bits of Serial.
#include <eddy/backends/cuda.hpp>

#include "solve/device_cases.hpp"
#include "solve/event_cases.hpp"

namespace {

using oracle::Bouncing;
using oracle::Landing;

constexpr std::ptrdiff_t num_lanes = 1009;
const auto as_it_is = oracle::as_it_is<eddy::Cuda>();
const auto two_ways = oracle::two_ways<eddy::Cuda>(std::size_t{64} << 20, 400'000);

}  // namespace

TEST_CASE("cuda events: solves have the bits of Serial") {
    CHECK(oracle::compare_event_solves<Bouncing>(as_it_is, num_lanes) == oracle::bouncing_endings);
    CHECK(oracle::compare_event_solves<Landing>(as_it_is, num_lanes) == oracle::landing_endings);
}

TEST_CASE("cuda events: so have gradients") {
    CHECK(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
              oracle::event_cases, two_ways, num_lanes) == oracle::bouncing_endings);
    CHECK(oracle::compare_shared_event_gradients<Landing>(two_ways, num_lanes)
              .contains(eddy::Result::event));
}
