#pragma once
// A number as the unevaluated sum of two floats, some 48 bits of it: time on devices whose double
// precision is slow. Error-free sums and products as in Dekker 1971 (Numer. Math. 18, 224) and Knuth; the sum
// is the accurate one, of 20 operations, whose relative error is at most three units of 2⁻⁴⁸, also where it
// cancels (Joldes, Muller & Popescu 2017, ACM Trans. Math. Softw. 44, 15: algorithms 6 and 9).
// Invariant: high is the float nearest to the sum, or not finite, and low is 0 then.
// Test: tests/core/float_float.cpp

#include <cstdint>
#include <eddy/core/lanes.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <limits>

namespace eddy::inline v0 {

struct FloatFloat {
    float high = 0, low = 0;

    FloatFloat() = default;
    EDDY_HD constexpr FloatFloat(float high_part, float low_part)
        : high(high_part), low(low_part) {}
    template <class Real>
    requires std::is_arithmetic_v<Real> EDDY_INLINE EDDY_HD constexpr explicit FloatFloat(Real x)
        : high(static_cast<float>(x)) {
        // Beyond the floats lies infinity, and x − ∞ would be another.
        if constexpr (!std::is_same_v<Real, float>) {
            const auto rest = static_cast<double>(x) - static_cast<double>(high);
            low = rest - rest == 0 ? static_cast<float>(rest) : 0.f;
        }
    }
    EDDY_INLINE EDDY_HD constexpr explicit operator double() const {
        return static_cast<double>(high) + static_cast<double>(low);
    }
    EDDY_INLINE EDDY_HD constexpr explicit operator float() const { return high; }

    EDDY_INLINE EDDY_HD friend constexpr FloatFloat operator-(FloatFloat a) {
        return {-a.high, -a.low};
    }
    EDDY_INLINE EDDY_HD friend constexpr FloatFloat operator+(FloatFloat a, FloatFloat b) {
        const FloatFloat highs = sum(a.high, b.high), lows = sum(a.low, b.low);
        const FloatFloat partial = ordered_sum(highs.high, highs.low + lows.high);
        return ordered_sum(partial.high, lows.low + partial.low);
    }
    EDDY_INLINE EDDY_HD friend constexpr FloatFloat operator-(FloatFloat a, FloatFloat b) {
        return a + -b;
    }
    EDDY_INLINE EDDY_HD friend FloatFloat operator*(FloatFloat a, FloatFloat b) {
        const float product = a.high * b.high;
        const float rest = eddy::fma(a.high, b.high, -product);
        return ordered_sum(product, rest + eddy::fma(a.high, b.low, a.low * b.high));
    }
    EDDY_INLINE EDDY_HD friend FloatFloat operator/(FloatFloat a, FloatFloat b) {
        const float quotient = a.high / b.high;
        const FloatFloat rest = a - b * FloatFloat(quotient);
        return ordered_sum(quotient, rest.high / b.high);
    }
    friend constexpr bool operator==(FloatFloat, FloatFloat) = default;
    EDDY_INLINE EDDY_HD friend constexpr bool operator<(FloatFloat a, FloatFloat b) {
        return a.high < b.high || (a.high == b.high && a.low < b.low);
    }
    EDDY_INLINE EDDY_HD friend constexpr bool operator>(FloatFloat a, FloatFloat b) {
        return b < a;
    }
    EDDY_INLINE EDDY_HD friend constexpr bool operator<=(FloatFloat a, FloatFloat b) {
        return a.high < b.high || (a.high == b.high && a.low <= b.low);
    }
    EDDY_INLINE EDDY_HD friend constexpr bool operator>=(FloatFloat a, FloatFloat b) {
        return b <= a;
    }

  private:
    /// a + b exactly, whichever is larger.
    EDDY_INLINE EDDY_HD static constexpr FloatFloat sum(float a, float b) {
        const float s = a + b, of_b = s - a;
        return {s, (a - (s - of_b)) + (b - of_b)};
    }
    /// a + b exactly, where a is the larger one, or 0.
    EDDY_INLINE EDDY_HD static constexpr FloatFloat ordered_sum(float a, float b) {
        const float s = a + b;
        return {s, b - (s - a)};
    }
};

[[nodiscard]] EDDY_INLINE EDDY_HD constexpr FloatFloat select(bool condition, FloatFloat if_true,
                                                              FloatFloat if_false) {
    return condition ? if_true : if_false;
}
/// As those of float and double: the first argument where either is NaN.
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr FloatFloat min(FloatFloat a, FloatFloat b) {
    return b < a ? b : a;
}
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr FloatFloat max(FloatFloat a, FloatFloat b) {
    return a < b ? b : a;
}
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr FloatFloat abs(FloatFloat x) {
    return x.high < 0 ? -x : x;
}
[[nodiscard]] EDDY_INLINE EDDY_HD inline FloatFloat mul_add(FloatFloat a, FloatFloat b,
                                                            FloatFloat c) {
    return a * b + c;
}
[[nodiscard]] EDDY_INLINE EDDY_HD inline FloatFloat sqrt(FloatFloat x) {
    const float root = eddy::sqrt(x.high);
    if (!(root > 0)) return FloatFloat(root);
    const FloatFloat rest = x - FloatFloat(root) * FloatFloat(root);
    return FloatFloat(root) + FloatFloat(rest.high / (2 * root));
}
[[nodiscard]] EDDY_INLINE EDDY_HD inline FloatFloat floor(FloatFloat x) {
    const float whole = eddy::floor(x.high);
    return whole == x.high ? FloatFloat(whole) + FloatFloat(eddy::floor(x.low)) : FloatFloat(whole);
}

// One lane, which whoever asks for it gets as a double.
namespace detail {
template <>
struct LaneType<FloatFloat> {
    using type = double;
};
}  // namespace detail
[[nodiscard]] EDDY_HD constexpr double get_lane(FloatFloat x, int) {
    return static_cast<double>(x);
}
EDDY_HD constexpr void set_lane(FloatFloat& x, int, double value) { x = FloatFloat(value); }

}  // namespace eddy::inline v0
