// Events of every backend are those of Serial, bit for bit, with what follows from them. One source, so that what
// Serial does is compiled once; kinds that ask for no memory of their own are in event_variants.cpp.

#include <eddy/solvers/rodas5p.hpp>

#include "solve/event_ways.hpp"

namespace {

using oracle::Bouncing;
using oracle::EmulatedDevice;
using oracle::event_launches;
using oracle::event_warps;
using oracle::Landing;
using oracle::many_ways;
using oracle::num_event_lanes;
using oracle::Several;
using oracle::two_threads;

}  // namespace

TEST_CASE("event oracle: Cpu finds the events of Serial, and the states behind them") {
    CHECK(oracle::compare_event_solves<Bouncing>(two_threads, num_event_lanes) ==
          oracle::bouncing_endings);
    CHECK(oracle::compare_event_solves<Landing>(two_threads, num_event_lanes) ==
          oracle::landing_endings);
}

TEST_CASE("event oracle: so does the launcher") {
    const auto launcher = oracle::as_it_is<EmulatedDevice>();
    CHECK(oracle::compare_event_solves<Bouncing>(launcher, num_event_lanes) ==
          oracle::bouncing_endings);
    CHECK(oracle::compare_event_solves<Landing>(launcher, num_event_lanes) ==
          oracle::landing_endings);
}

TEST_CASE("event oracle: gradients are those of Serial, in packs and by warps") {
    CHECK(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
              oracle::event_cases, many_ways, num_event_lanes) == oracle::bouncing_endings);
    CHECK(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
              oracle::event_cases, event_warps, num_event_lanes) == oracle::bouncing_endings);
}

TEST_CASE("event oracle: so are those of several functions") {
    CHECK(oracle::compare_event_gradients<Several, eddy::Tsit5, double>(
              oracle::event_cases, many_ways, num_event_lanes) == oracle::landing_endings);
    CHECK(oracle::compare_event_gradients<Several, eddy::Tsit5, double>(
              oracle::event_cases, event_warps, num_event_lanes) == oracle::landing_endings);
}

TEST_CASE("event oracle: so are tangents and second derivatives") {
    CHECK(oracle::compare_event_tangents<Several>(many_ways, num_event_lanes) ==
          oracle::landing_endings);
    CHECK(oracle::compare_event_tangents<Several>(event_warps, num_event_lanes) ==
          oracle::landing_endings);
}

TEST_CASE("event oracle: so are those of methods that carry more than the state") {
    static_cast<void>(oracle::compare_event_gradients<Bouncing, eddy::Rodas5P, double>(
        oracle::event_cases, many_ways, 23));
}

TEST_CASE("event oracle: so are those of shared parameters, with times, by the launcher too") {
    CHECK(oracle::compare_shared_event_gradients<Bouncing>(many_ways, num_event_lanes)
              .contains(eddy::Result::success));
    CHECK(oracle::compare_shared_event_gradients<Bouncing>(event_launches, num_event_lanes)
              .contains(eddy::Result::success));
}

TEST_CASE("event oracle: whatever the number of lanes") {
    const std::vector<oracle::Case> first{oracle::event_cases.front()};
    for (const std::ptrdiff_t count : {1, 3, 64, 1009}) {
        INFO(count << " lanes");
        static_cast<void>(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
            first, two_threads, count));
    }
}
