// Gradients of Cpu have the bits of Serial: whatever the width of vectors, the threads, the number of
// checkpoints and the memory for logs.

#include "solve/cpu_ways.hpp"

namespace {

using oracle::adaptive_cases;
using oracle::constant_cases;
using oracle::many_ways;
using oracle::two_threads;

constexpr std::ptrdiff_t num_lanes = 101;

}  // namespace

TEST_CASE("oracle: gradients of Cpu are those of Serial") {
    const auto endings =
        oracle::compare_gradients<eddy::Tsit5, double>(adaptive_cases, many_ways, num_lanes);
    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("oracle: so are those by steps of constant size, with times, in single precision") {
    const auto endings = oracle::compare_gradients<eddy::Tsit5, float>(
        constant_cases, many_ways, num_lanes, eddy::ConstantController{},
        eddy::differentiate_times);
    CHECK(endings == oracle::constant_endings);
}

TEST_CASE("oracle: so are those of shared parameters, with times") {
    const auto endings = oracle::compare_shared_gradients(adaptive_cases, many_ways, num_lanes);
    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("oracle: so are those of one lane, and of more than sums over lanes keep apart") {
    const std::vector<oracle::Case> first{adaptive_cases.front()};
    for (const std::ptrdiff_t count : {1, 3, 64, 1009, 4500}) {
        INFO(count << " lanes");
        static_cast<void>(
            oracle::compare_gradients<eddy::Tsit5, double>(first, two_threads, count));
        static_cast<void>(oracle::compare_shared_gradients(first, two_threads, count));
    }
}
