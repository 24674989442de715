// Cuda on a device, on the cases that every backend is compared with Serial on, bit for bit: the host
// part of this program must be compiled with fused multiply-adds.
#include <eddy/backends/cuda.hpp>

#include "solve/oracle_cases.hpp"

namespace {

using Ways = std::vector<oracle::Way<eddy::Cuda>>;
const Ways as_it_is{{"", {}}};
const Ways two_ways{{"all rounds kept", {}, 4096, std::size_t{64} << 20},
                    {"three checkpoints, a short log", {}, 3, 400'000}};
/// No lane of a device is solved again.
const std::vector<oracle::Case> adaptive_cases = [] {
    std::vector<oracle::Case> cases = oracle::adaptive_cases;
    for (oracle::Case& one : cases) one.options.stable_gradients = false;
    return cases;
}();
const std::vector<oracle::Case> jumps{adaptive_cases.at(3)};

}  // namespace

TEST_CASE("device: solves have the bits of Serial, with and without their steps") {
    CHECK(oracle::compare_solves(as_it_is, 101) == oracle::adaptive_endings);
}

TEST_CASE("device: gradients have the bits of Serial, lanes that fail among them") {
    CHECK(oracle::compare_gradients<eddy::Tsit5, double>(adaptive_cases, two_ways, 101) ==
          oracle::adaptive_endings);
}

TEST_CASE("device: so have those of shared parameters, with times") {
    CHECK(oracle::compare_shared_gradients(adaptive_cases, two_ways, 101) ==
          oracle::adaptive_endings);
}

TEST_CASE("device: whatever the number of lanes") {
    for (const std::ptrdiff_t count : {1, 31, 32, 33, 1009, 100'003}) {
        INFO(count << " lanes");
        static_cast<void>(oracle::compare_gradients<eddy::Tsit5, double>(jumps, as_it_is, count));
        static_cast<void>(oracle::compare_shared_gradients(jumps, as_it_is, count));
    }
}
