// Events of Cpu are those of Serial, bit for bit, with what follows from them: whatever the width of vectors,
// the threads, the number of checkpoints and the memory for logs. Each way of a call with a field that proves most.

#include <eddy/solvers/rodas5p.hpp>

#include "solve/cpu_ways.hpp"
#include "solve/event_layouts.hpp"
#include "solve/event_references.hpp"
#include "support/sanitized.hpp"

namespace {

using oracle::Bouncing;
using oracle::Landing;
using oracle::many_ways;
using oracle::Several;
using oracle::two_threads;

constexpr std::ptrdiff_t num_lanes = support::sanitized ? 31 : 101;

}  // namespace

TEST_CASE("event oracle: Cpu finds the events of Serial, and the states behind them") {
    CHECK(oracle::compare_event_solves<Several>(two_threads, num_lanes) == oracle::landing_endings);
}

TEST_CASE("event oracle: gradients are those of Serial") {
    CHECK(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
              oracle::event_cases, many_ways, num_lanes) == oracle::bouncing_endings);
}

TEST_CASE("event oracle: so are tangents and second derivatives") {
    CHECK(oracle::compare_event_tangents<Several>(many_ways, num_lanes) == oracle::landing_endings);
}

TEST_CASE("event oracle: so are those of methods that carry more than the state") {
    static_cast<void>(oracle::compare_event_gradients<Bouncing, eddy::Rodas5P, double>(
        oracle::event_cases, many_ways, 23));
}

TEST_CASE("event oracle: so are those of shared parameters, with times") {
    CHECK(oracle::compare_shared_event_gradients<Several>(many_ways, num_lanes)
              .contains(eddy::Result::event));
}

TEST_CASE("event oracle: so are those by steps of constant size, in single precision") {
    CHECK(oracle::compare_event_gradients<Landing, eddy::Tsit5, float>(
              oracle::constant_event_cases, many_ways, num_lanes, eddy::ConstantController{})
              .contains(eddy::Result::event));
}

TEST_CASE("event oracle: whatever the number of lanes") {
    const std::vector<oracle::Case> first{oracle::event_cases.front()};
    for (const std::ptrdiff_t count : {1, 3, 64, 1009}) {
        INFO(count << " lanes");
        static_cast<void>(oracle::compare_event_gradients<Bouncing, eddy::Tsit5, double>(
            first, two_threads, count));
    }
}
