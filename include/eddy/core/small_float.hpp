#pragma once
// Numbers of two bytes, for what is stored and not computed with: IEEE 754 binary16, and the upper half
// of binary32. From a number of any width they are rounded once, to the nearest, ties to even.
// Test: tests/ad/hooks.cpp

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

namespace eddy::inline v0 {

/// A floating-point number of two bytes: a sign, and bits of the exponent and of the fraction.
template <int exponent_bits, int fraction_bits>
class SmallFloat {
    static_assert(exponent_bits + fraction_bits == 15, "SmallFloat: a number has 16 bits");
    static constexpr int bias = (1 << (exponent_bits - 1)) - 1, least_exponent = 1 - bias;
    static constexpr int double_bias = 1023, double_fraction_bits = 52;
    static constexpr std::uint64_t infinity = std::uint64_t{(1 << exponent_bits) - 1}
                                              << fraction_bits;

  public:
    SmallFloat() = default;
    template <std::floating_point Real>
    constexpr explicit SmallFloat(Real x) : bits_(encode(static_cast<double>(x))) {}
    template <std::floating_point Real>
    [[nodiscard]] constexpr explicit operator Real() const {
        return static_cast<Real>(decode(bits_));
    }

    /// The number that is stored as these bits.
    [[nodiscard]] static constexpr SmallFloat from_bits(std::uint16_t bits) {
        SmallFloat x{};
        x.bits_ = bits;
        return x;
    }
    /// The bits that it is stored as.
    [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }

  private:
    static constexpr std::uint16_t encode(double x) {
        const auto bits = std::bit_cast<std::uint64_t>(x);
        const std::uint64_t sign = bits >> 63 << 15, fraction = bits << 12 >> 12;
        const int exponent = static_cast<int>(bits << 1 >> 53) - double_bias;
        std::uint64_t size = 0;
        if (exponent > bias) {
            const bool is_nan = exponent == double_bias + 1 && fraction != 0;
            size = infinity | (is_nan ? std::uint64_t{1} << (fraction_bits - 1) : 0);
        } else if (exponent >= least_exponent - fraction_bits - 1) {
            const int shift =
                double_fraction_bits - fraction_bits + std::max(0, least_exponent - exponent);
            const std::uint64_t significand = fraction | std::uint64_t{1} << double_fraction_bits,
                                half = std::uint64_t{1} << (shift - 1),
                                rest = significand & (2 * half - 1);
            size = significand >> shift;
            if (rest > half || (rest == half && size % 2 == 1)) ++size;
            // The leading one, and a carry, count in the exponent.
            if (exponent > least_exponent)
                size += static_cast<std::uint64_t>(exponent - least_exponent) << fraction_bits;
        }
        return static_cast<std::uint16_t>(sign | size);
    }
    static constexpr double decode(std::uint16_t bits) {
        constexpr int shift = double_fraction_bits - fraction_bits;
        const std::uint64_t sign = std::uint64_t{bits} >> 15 << 63, size = bits & 0x7fffU,
                            exponent = size >> fraction_bits,
                            fraction = size & ((std::uint64_t{1} << fraction_bits) - 1);
        std::uint64_t wide = 0;
        if (exponent == 0) {
            constexpr double least = std::bit_cast<double>(
                static_cast<std::uint64_t>(double_bias + least_exponent - fraction_bits)
                << double_fraction_bits);
            wide = std::bit_cast<std::uint64_t>(static_cast<double>(fraction) * least);
        } else if (size >= infinity) {
            wide = std::uint64_t{2 * double_bias + 1} << double_fraction_bits | fraction << shift;
        } else {
            wide = ((exponent + double_bias - bias) << double_fraction_bits) | fraction << shift;
        }
        return std::bit_cast<double>(sign | wide);
    }

    std::uint16_t bits_;
};

/// IEEE 754 binary16: 11 significant bits, up to 65,504.
using float16 = SmallFloat<5, 10>;
/// The upper half of a float: 8 significant bits, and the range of float.
using bfloat16 = SmallFloat<8, 7>;

}  // namespace eddy::inline v0
