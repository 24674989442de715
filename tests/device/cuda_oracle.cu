// Cuda on a device, on the cases that every backend is compared with Serial on, bit for bit: the host
// part of this program must be compiled with fused multiply-adds.
#include <eddy/backends/cuda.hpp>

#include "solve/device_cases.hpp"

namespace {

const auto as_it_is = oracle::as_it_is<eddy::Cuda>();
const auto two_ways = oracle::two_ways<eddy::Cuda>(std::size_t{64} << 20, 400'000);

}  // namespace

TEST_CASE("device: solves have the bits of Serial, with and without their steps") {
    CHECK(oracle::compare_solves(as_it_is, 101) == oracle::adaptive_endings);
}

TEST_CASE("device: gradients have the bits of Serial, lanes that fail among them") {
    CHECK(oracle::compare_gradients<eddy::Tsit5, double>(oracle::device_cases, two_ways, 101) ==
          oracle::adaptive_endings);
}

TEST_CASE("device: so have those of shared parameters, with times") {
    CHECK(oracle::compare_shared_gradients(oracle::device_cases, two_ways, 101) ==
          oracle::adaptive_endings);
}

TEST_CASE("device: whatever the number of lanes") {
    for (const std::ptrdiff_t count : {1, 31, 32, 33, 1009, 100'003}) {
        INFO(count << " lanes");
        static_cast<void>(
            oracle::compare_gradients<eddy::Tsit5, double>(oracle::device_jumps, as_it_is, count));
        static_cast<void>(oracle::compare_shared_gradients(oracle::device_jumps, as_it_is, count));
    }
}
