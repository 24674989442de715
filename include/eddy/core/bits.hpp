#pragma once
// The bits of a plain number as an integer, and back: the scalar twins of a pack's functions.
// Test: tests/core/random.cpp, tests/steppers/fast_log2.cpp

#include <bit>
#include <cstdint>
#include <eddy/core/host_device.hpp>

namespace eddy::inline v0::detail {

[[nodiscard]] EDDY_HD constexpr std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}
[[nodiscard]] EDDY_HD constexpr std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}
[[nodiscard]] EDDY_HD constexpr float from_bits(std::uint32_t x) { return std::bit_cast<float>(x); }
[[nodiscard]] EDDY_HD constexpr double from_bits(std::uint64_t x) {
    return std::bit_cast<double>(x);
}

}  // namespace eddy::inline v0::detail
