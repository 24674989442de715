// What event_oracle.cpp shows, of lanes that end at their first event, and in single precision: no other memory and no
// other threads.

#include "solve/event_ways.hpp"

namespace {

using oracle::Bouncing;
using oracle::event_launches;
using oracle::event_warps;
using oracle::Landing;
using oracle::many_ways;
using oracle::num_event_lanes;

}  // namespace

TEST_CASE(
    "event variants: gradients of lanes that end are those of Serial, in packs and by warps") {
    CHECK(oracle::compare_event_gradients<Landing, eddy::Tsit5, double>(
              oracle::event_cases, many_ways, num_event_lanes) == oracle::landing_endings);
    CHECK(oracle::compare_event_gradients<Landing, eddy::Tsit5, double>(
              oracle::event_cases, event_warps, num_event_lanes) == oracle::landing_endings);
}

TEST_CASE("event variants: so are those of shared parameters, with times, by the launcher too") {
    CHECK(oracle::compare_shared_event_gradients<Landing>(many_ways, num_event_lanes)
              .contains(eddy::Result::event));
    CHECK(oracle::compare_shared_event_gradients<Landing>(event_launches, num_event_lanes)
              .contains(eddy::Result::event));
}

TEST_CASE("event variants: so are those by steps of constant size, in single precision") {
    CHECK(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, float>(
              oracle::constant_event_cases, many_ways, num_event_lanes, eddy::ConstantController{})
              .contains(eddy::Result::success));
    CHECK(oracle::compare_event_gradients<Landing, eddy::Tsit5, float>(
              oracle::constant_event_cases, many_ways, num_event_lanes, eddy::ConstantController{})
              .contains(eddy::Result::event));
}
