#pragma once
// Numbers compared bit for bit, but for NaN: its sign and payload are no promise of any processor or
// compiler, so that two NaN are equal.

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace support {

/// The same bits, or NaN both; 0 is not −0.
template <std::floating_point Real>
[[nodiscard]] constexpr bool same_bits(Real a, Real b) {
    using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
    if (a != a || b != b) return a != a && b != b;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

}  // namespace support
