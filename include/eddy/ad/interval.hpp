#pragma once
// Bounds of a program's values over all arguments within bounds: interval arithmetic (Moore 1966, Interval Analysis),
// with the functions of the language. Bounds are outward by more than rounding and a library's functions lose, but
// for operations that are exact; so where they leave zero out, no value is zero. An interval also knows whether its
// values are a continuous function: not over a jump of floor, sign or select, a pole, or the end of a domain.
//
// Invariant: low <= high, neither is NaN. What nothing is known of is the whole line.
// Test: tests/ad/interval.cpp

#include <cmath>
#include <eddy/core/lanes.hpp>
#include <eddy/core/logistic.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/special.hpp>
#include <limits>
#include <numbers>

namespace eddy::inline v0::detail {

/// What an interval's values are as a function: all else, numbers that may jump, a continuous function.
enum class Values : unsigned char { unknown, jump, continuous };

/// What a comparison of intervals can be.
struct IntervalMask {
    bool may_hold, may_fail;

    EDDY_HD friend IntervalMask operator&(const IntervalMask& a, const IntervalMask& b) {
        return {a.may_hold && b.may_hold, a.may_fail || b.may_fail};
    }
    EDDY_HD friend IntervalMask operator|(const IntervalMask& a, const IntervalMask& b) {
        return {a.may_hold || b.may_hold, a.may_fail && b.may_fail};
    }
    EDDY_HD friend IntervalMask operator!(const IntervalMask& a) {
        return {a.may_fail, a.may_hold};
    }
};

struct Interval {
    double low, high;
    Values values;

    Interval() = default;
    EDDY_HD explicit Interval(double x) : low(x), high(x), values(Values::continuous) {
        if (x != x) *this = line();
    }
    /// Bounds that are exact.
    EDDY_HD Interval(double from, double to, Values are = Values::continuous)
        : low(from), high(to), values(are) {
        if (!(from <= to)) *this = line();
    }
    [[nodiscard]] EDDY_HD static Interval line() {
        return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                Values::unknown};
    }
    /// Bounds that have been rounded, by a few units in the last place.
    [[nodiscard]] EDDY_HD static Interval rounded(double from, double to, Values are) {
        return {from - lost * eddy::abs(from), to + lost * eddy::abs(to), are};
    }
    [[nodiscard]] EDDY_HD bool is_continuous() const { return values == Values::continuous; }
    [[nodiscard]] EDDY_HD bool are_numbers() const { return values != Values::unknown; }
    [[nodiscard]] EDDY_HD bool excludes_zero() const { return low > 0 || high < 0; }
    [[nodiscard]] EDDY_HD bool is_zero() const { return low == 0 && high == 0; }
    [[nodiscard]] EDDY_HD double magnitude() const {
        return eddy::max(eddy::abs(low), eddy::abs(high));
    }

    EDDY_HD friend Interval operator-(const Interval& x) { return {-x.high, -x.low, x.values}; }
    EDDY_HD friend Interval operator+(const Interval& a, const Interval& b) {
        return rounded(a.low + b.low, a.high + b.high, both(a, b));
    }
    EDDY_HD friend Interval operator-(const Interval& a, const Interval& b) { return a + -b; }
    EDDY_HD friend Interval operator*(const Interval& a, const Interval& b) {
        return corners(a, b, [](double x, double y) { return x * y; });
    }
    EDDY_HD friend Interval operator/(const Interval& a, const Interval& b) {
        if (!b.excludes_zero()) return line();
        return corners(a, b, [](double x, double y) { return x / y; });
    }
    EDDY_HD friend Interval fma(const Interval& a, const Interval& b, const Interval& c) {
        return a * b + c;
    }
    EDDY_HD friend Interval mul_add(const Interval& a, const Interval& b, const Interval& c) {
        return a * b + c;
    }

    EDDY_HD friend IntervalMask operator<(const Interval& a, const Interval& b) {
        return {a.low < b.high, a.high >= b.low || both(a, b) == Values::unknown};
    }
    EDDY_HD friend IntervalMask operator<=(const Interval& a, const Interval& b) {
        return {a.low <= b.high, a.high > b.low || both(a, b) == Values::unknown};
    }
    EDDY_HD friend IntervalMask operator>(const Interval& a, const Interval& b) { return b < a; }
    EDDY_HD friend IntervalMask operator>=(const Interval& a, const Interval& b) { return b <= a; }
    EDDY_HD friend IntervalMask operator==(const Interval& a, const Interval& b) {
        return {a.low <= b.high && b.low <= a.high, !(a.low == b.high && b.low == a.high)};
    }
    EDDY_HD friend IntervalMask operator!=(const Interval& a, const Interval& b) {
        return !(a == b);
    }
    EDDY_HD friend Interval select(const IntervalMask& mask, const Interval& a, const Interval& b) {
        if (!mask.may_fail) return a;
        if (!mask.may_hold) return b;
        return {eddy::min(a.low, b.low), eddy::max(a.high, b.high), jumping(both(a, b))};
    }

    EDDY_HD friend Interval abs(const Interval& x) {
        const bool has_zero = !x.excludes_zero();
        const double least = has_zero ? 0 : eddy::min(eddy::abs(x.low), eddy::abs(x.high));
        return {least, x.magnitude(), x.values};
    }
    EDDY_HD friend Interval min(const Interval& a, const Interval& b) {
        return {eddy::min(a.low, b.low), eddy::min(a.high, b.high), both(a, b)};
    }
    EDDY_HD friend Interval max(const Interval& a, const Interval& b) {
        return {eddy::max(a.low, b.low), eddy::max(a.high, b.high), both(a, b)};
    }
    EDDY_HD friend Interval relu(const Interval& x) { return max(x, Interval(0)); }
    EDDY_HD friend Interval sign(const Interval& x) {
        const double from = eddy::sign(x.low), to = eddy::sign(x.high);
        return {from, to, from == to ? x.values : jumping(x.values)};
    }
    EDDY_HD friend Interval floor(const Interval& x) {
        const double from = eddy::floor(x.low), to = eddy::floor(x.high);
        return {from, to, from == to ? x.values : jumping(x.values)};
    }

    EDDY_HD friend Interval pow(const Interval& x, int exponent) {
        if (exponent < 0) return Interval(1) / pow(x, -exponent);
        const auto power = [exponent](double of) { return power_by_squaring(of, exponent); };
        // As many products as the exponent has bits, twice: each may lose a rounding.
        const double from = exponent % 2 == 0 ? abs(x).low : x.low;
        const double to = exponent % 2 == 0 ? x.magnitude() : x.high;
        const double loss = lost * (1 + 0.25 * exponent);
        const double least = power(from), most = power(to);
        return {least - loss * eddy::abs(least), most + loss * eddy::abs(most), x.values};
    }
    EDDY_HD friend Interval pow(const Interval& x, const Interval& y) {
        if (!(x.low > 0 || (x.low == 0 && y.low > 0))) return line();
        return corners(x, y, [](double a, double b) { return eddy::pow(a, b); });
    }
    EDDY_HD friend Interval atan2(const Interval& y, const Interval& x) {
        if (!(x.low > 0 || y.excludes_zero())) {
            const double half = std::numbers::pi * (1 + lost);
            return {-half, half, jumping(both(x, y))};
        }
        return corners(y, x, [](double a, double b) { return eddy::atan2(a, b); });
    }

    EDDY_HD friend Interval sin(const Interval& x) { return x.wave(0.5 * std::numbers::pi); }
    EDDY_HD friend Interval cos(const Interval& x) { return x.wave(0); }
    EDDY_HD friend Interval tan(const Interval& x) {
        if (x.meets(0.5 * std::numbers::pi, std::numbers::pi)) return line();
        return x.rising([](double of) { return eddy::tan(of); });
    }
    EDDY_HD friend Interval cosh(const Interval& x) {
        return abs(x).rising([](double of) { return eddy::cosh(of); });
    }
    EDDY_HD friend Interval acos(const Interval& x) {
        return (-x.within(-1, 1)).rising([](double of) { return eddy::acos(-of); });
    }
    EDDY_HD friend Interval asin(const Interval& x) {
        return x.within(-1, 1).rising([](double of) { return eddy::asin(of); });
    }
    EDDY_HD friend Interval sqrt(const Interval& x) {
        return x.within(0, std::numeric_limits<double>::infinity()).rising([](double of) {
            return eddy::sqrt(of);
        });
    }
    EDDY_HD friend Interval log(const Interval& x) {
        return x.within(0, std::numeric_limits<double>::infinity()).rising([](double of) {
            return eddy::log(of);
        });
    }
    EDDY_HD friend Interval log1p(const Interval& x) {
        return x.within(-1, std::numeric_limits<double>::infinity()).rising([](double of) {
            return eddy::log1p(of);
        });
    }
#define EDDY_INTERVAL_FUNCTION(function)                               \
    EDDY_HD friend Interval function(const Interval& x) {              \
        return x.rising([](double of) { return eddy::function(of); }); \
    }
    EDDY_INTERVAL_FUNCTION(exp)
    EDDY_INTERVAL_FUNCTION(expm1)
    EDDY_INTERVAL_FUNCTION(cbrt)
    EDDY_INTERVAL_FUNCTION(atan)
    EDDY_INTERVAL_FUNCTION(sinh)
    EDDY_INTERVAL_FUNCTION(tanh)
    EDDY_INTERVAL_FUNCTION(erf)
    EDDY_INTERVAL_FUNCTION(sigmoid)
    EDDY_INTERVAL_FUNCTION(softplus)
#undef EDDY_INTERVAL_FUNCTION

    EDDY_HD friend Interval erfc(const Interval& x) {
        return x.falling([](double of) { return eddy::erfc(of); });
    }
    EDDY_HD friend Interval erfcx(const Interval& x) {
        return x.falling([](double of) { return eddy::erfcx(of); });
    }
    EDDY_HD friend Interval log_erfc(const Interval& x) {
        return x.falling([](double of) { return eddy::log_erfc(of); });
    }
    /// Of positive numbers: between its poles elsewhere nothing is said.
    EDDY_HD friend Interval lgamma(const Interval& x) {
        if (!(x.low > 0)) return line();
        constexpr double lowest = 1.4616321449683623, least = -0.12148629053584961;
        const double a = eddy::lgamma(x.low), b = eddy::lgamma(x.high);
        const bool has_lowest = x.low <= lowest && x.high >= lowest;
        return roughly(has_lowest ? least : eddy::min(a, b), eddy::max(a, b), x.values);
    }
    EDDY_HD friend Interval digamma(const Interval& x) {
        if (!(x.low > 0)) return line();
        return roughly(eddy::digamma(x.low), eddy::digamma(x.high), x.values);
    }
    EDDY_HD friend Interval polygamma(int order, const Interval& x) {
        if (!(x.low > 0)) return line();
        const double a = eddy::polygamma(order, x.low), b = eddy::polygamma(order, x.high);
        return roughly(eddy::min(a, b), eddy::max(a, b), x.values);
    }

  private:
    static constexpr double lost = 0x1p-50;
    /// Of functions that are zero somewhere, where only the error itself is small.
    [[nodiscard]] EDDY_HD static Interval roughly(double from, double to, Values are) {
        return {from - 1e-13 * (1 + eddy::abs(from)), to + 1e-13 * (1 + eddy::abs(to)), are};
    }
    template <class Function>
    [[nodiscard]] EDDY_HD Interval falling(const Function& f) const {
        const double from = f(high), to = f(low);
        return {from - 1e-13 * eddy::abs(from), to + 1e-13 * eddy::abs(to), values};
    }

    [[nodiscard]] EDDY_HD static Values both(const Interval& a, const Interval& b) {
        return a.values < b.values ? a.values : b.values;
    }
    [[nodiscard]] EDDY_HD static Values jumping(Values are) {
        return are == Values::unknown ? are : Values::jump;
    }
    /// Of a function of two numbers whose extremes are at ends of both.
    template <class Function>
    [[nodiscard]] EDDY_HD static Interval corners(const Interval& a, const Interval& b,
                                                  const Function& f) {
        const double w[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
        double from = w[0], to = w[0];
        for (const double x : w) {
            if (x != x) return line();  // 0 · ∞
            from = eddy::min(from, x);
            to = eddy::max(to, x);
        }
        return rounded(from, to, both(a, b));
    }
    template <class Function>
    [[nodiscard]] EDDY_HD Interval rising(const Function& f) const {
        return rounded(f(low), f(high), values);
    }
    /// What of it lies within a function's domain.
    [[nodiscard]] EDDY_HD Interval within(double least, double most) const {
        return {eddy::max(low, least), eddy::min(high, most),
                low >= least && high <= most ? values : Values::unknown};
    }
    /// May there be a number first + k period in it?
    [[nodiscard]] EDDY_HD bool meets(double first, double period) const {
        const double slack = 4 * lost * (magnitude() + 1);
        return !(eddy::floor((high + slack - first) / period) ==
                 eddy::floor((low - slack - first) / period));
    }
    /// Of the cosine that is 1 at `top`.
    [[nodiscard]] EDDY_HD Interval wave(double top) const {
        const auto at = [&](double x) { return top == 0 ? eddy::cos(x) : eddy::sin(x); };
        const double period = 2 * std::numbers::pi, a = at(low), b = at(high);
        if (!(magnitude() < 0x1p50)) return {-1, 1, values};
        const double spread = 4 * lost;  // near zero sin is as wrong as its argument
        const double from = meets(top + std::numbers::pi, period) ? -1 : eddy::min(a, b);
        const double to = meets(top, period) ? 1 : eddy::max(a, b);
        return {eddy::max(from - spread * eddy::abs(from), -1.),
                eddy::min(to + spread * eddy::abs(to), 1.), values};
    }
};

}  // namespace eddy::inline v0::detail

namespace eddy::inline v0 {

template <>
struct ScalarType<detail::Interval> {
    using type = double;
};
template <>
inline constexpr int richness<detail::Interval> = 1;

}  // namespace eddy::inline v0
