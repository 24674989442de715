#pragma once
// Numbers of twice a double's precision: the functions of the DSL on them are the reference for
// values, and their central differences for derivatives. Binary128 from the C library where there
// is one, else long double; `epsilon` says which, and tolerances follow it.

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace support {

#if defined(__SIZEOF_FLOAT128__) && defined(__GLIBC__)
using Wide = __float128;
inline constexpr double wide_epsilon = 0x1p-112;
// The C library has them under names of their own; clang 14 does not declare those.
#define EDDY_WIDE_FUNCTION(name) extern "C" Wide wide_##name(Wide) noexcept __asm__(#name "f128");
#define EDDY_WIDE_FUNCTION2(name) \
    extern "C" Wide wide_##name(Wide, Wide) noexcept __asm__(#name "f128");
#else
using Wide = long double;
inline constexpr double wide_epsilon = static_cast<double>(std::numeric_limits<Wide>::epsilon());
#define EDDY_WIDE_FUNCTION(name) \
    inline Wide wide_##name(Wide x) { return std::name(x); }
#define EDDY_WIDE_FUNCTION2(name) \
    inline Wide wide_##name(Wide x, Wide y) { return std::name(x, y); }
#endif

EDDY_WIDE_FUNCTION(sqrt)
EDDY_WIDE_FUNCTION(cbrt)
EDDY_WIDE_FUNCTION(exp)
EDDY_WIDE_FUNCTION(expm1)
EDDY_WIDE_FUNCTION(log)
EDDY_WIDE_FUNCTION(log1p)
EDDY_WIDE_FUNCTION(sin)
EDDY_WIDE_FUNCTION(cos)
EDDY_WIDE_FUNCTION(tan)
EDDY_WIDE_FUNCTION(asin)
EDDY_WIDE_FUNCTION(acos)
EDDY_WIDE_FUNCTION(atan)
EDDY_WIDE_FUNCTION(sinh)
EDDY_WIDE_FUNCTION(cosh)
EDDY_WIDE_FUNCTION(tanh)
EDDY_WIDE_FUNCTION(erf)
EDDY_WIDE_FUNCTION(erfc)
EDDY_WIDE_FUNCTION(lgamma)
EDDY_WIDE_FUNCTION(fabs)
EDDY_WIDE_FUNCTION(floor)
EDDY_WIDE_FUNCTION2(atan2)
EDDY_WIDE_FUNCTION2(pow)
#undef EDDY_WIDE_FUNCTION
#undef EDDY_WIDE_FUNCTION2

struct Quad {
    Wide value = 0;

    Quad() = default;
    template <class Number>
    requires(std::is_arithmetic_v<Number> || std::same_as<Number, Wide>) Quad(Number number)
        : value(number) {}
    explicit operator double() const { return static_cast<double>(value); }

    friend Quad operator+(Quad a, Quad b) { return a.value + b.value; }
    friend Quad operator-(Quad a, Quad b) { return a.value - b.value; }
    friend Quad operator*(Quad a, Quad b) { return a.value * b.value; }
    friend Quad operator/(Quad a, Quad b) { return a.value / b.value; }
    friend Quad operator-(Quad a) { return -a.value; }
    friend bool operator<(Quad a, Quad b) { return a.value < b.value; }
    friend bool operator>(Quad a, Quad b) { return a.value > b.value; }
    friend bool operator<=(Quad a, Quad b) { return a.value <= b.value; }
    friend bool operator>=(Quad a, Quad b) { return a.value >= b.value; }
    friend bool operator==(Quad a, Quad b) { return a.value == b.value; }
    friend bool operator!=(Quad a, Quad b) { return a.value != b.value; }

#define EDDY_QUAD_FUNCTION(name) \
    friend Quad name(Quad x) { return wide_##name(x.value); }
    EDDY_QUAD_FUNCTION(sqrt)
    EDDY_QUAD_FUNCTION(cbrt)
    EDDY_QUAD_FUNCTION(exp)
    EDDY_QUAD_FUNCTION(expm1)
    EDDY_QUAD_FUNCTION(log)
    EDDY_QUAD_FUNCTION(log1p)
    EDDY_QUAD_FUNCTION(sin)
    EDDY_QUAD_FUNCTION(cos)
    EDDY_QUAD_FUNCTION(tan)
    EDDY_QUAD_FUNCTION(asin)
    EDDY_QUAD_FUNCTION(acos)
    EDDY_QUAD_FUNCTION(atan)
    EDDY_QUAD_FUNCTION(sinh)
    EDDY_QUAD_FUNCTION(cosh)
    EDDY_QUAD_FUNCTION(tanh)
    EDDY_QUAD_FUNCTION(erf)
    EDDY_QUAD_FUNCTION(erfc)
    EDDY_QUAD_FUNCTION(lgamma)
    EDDY_QUAD_FUNCTION(fabs)
    EDDY_QUAD_FUNCTION(floor)
#undef EDDY_QUAD_FUNCTION
    friend Quad abs(Quad x) { return fabs(x); }
    friend Quad sign(Quad x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
    friend Quad atan2(Quad y, Quad x) { return wide_atan2(y.value, x.value); }
    friend Quad pow(Quad x, Quad y) { return wide_pow(x.value, y.value); }
    friend Quad min(Quad a, Quad b) { return b < a ? b : a; }
    friend Quad max(Quad a, Quad b) { return a < b ? b : a; }
    friend Quad clamp(Quad x, Quad low, Quad high) { return x < low ? low : x > high ? high : x; }
    friend Quad fma(Quad a, Quad b, Quad c) { return a * b + c; }
    friend Quad mul_add(Quad a, Quad b, Quad c) { return a * b + c; }
    friend Quad select(bool condition, Quad a, Quad b) { return condition ? a : b; }
    // By their textbook definitions, not those of core/logistic.hpp.
    friend Quad relu(Quad x) { return x > 0 ? x : 0; }
    friend Quad sigmoid(Quad x) { return 1 / (1 + exp(-x)); }
    friend Quad softplus(Quad x) { return log(1 + exp(x)); }
    friend Quad silu(Quad x) { return x / (1 + exp(-x)); }
    friend Quad gelu(Quad x) { return x * (1 + erf(x / sqrt(Quad(2)))) / 2; }
    friend Quad erfcx(Quad x) { return exp(x * x) * erfc(x); }
    friend Quad log_erfc(Quad x) { return log(erfc(x)); }
    friend Quad digamma(Quad x) { return polygamma(0, x); }
    /// By the recurrence up to 60, whatever the sign, and Stirling's series from there.
    friend Quad polygamma(int n, Quad x) {
        constexpr double bernoulli[][2] = {{1, 6},
                                           {-1, 30},
                                           {1, 42},
                                           {-1, 30},
                                           {5, 66},
                                           {-691, 2730},
                                           {7, 6},
                                           {-3617, 510},
                                           {43867, 798},
                                           {-174611, 330},
                                           {854513, 138},
                                           {-236364091, 2730},
                                           {8553103, 6},
                                           {-23749461029, 870},
                                           {8615841276005, 14322}};
        Quad factorial = 1, steps = 0;  // n!
        for (int k = 2; k <= n; ++k) factorial = factorial * k;
        for (; x < 60; x = x + 1) steps = steps + 1 / power(x, n + 1);
        // (n − 1)! (1 + n / 2x + Σ B_2k n (n + 1) … (n + 2k − 1) / (2k)! x^2k) / xⁿ, or its limit.
        Quad series = n == 0 ? -log(x) + 1 / (2 * x) : 1 + n / (2 * x);
        Quad rising = n == 0 ? Quad(1) / 2 : Quad(n) * (n + 1) / 2;
        for (int k = 1; k <= 15; ++k) {
            series =
                series + bernoulli[k - 1][0] * rising / (bernoulli[k - 1][1] * power(x, 2 * k));
            rising = rising * (n + 2 * k) * (n + 2 * k + 1) / ((2 * k + 1) * (2 * k + 2));
        }
        const Quad tail = n == 0 ? series : factorial / n * series / power(x, n);
        const Quad size = factorial * steps + tail;
        return n % 2 == 0 ? -size : size;
    }
    static Quad power(Quad x, int n) {
        Quad result = 1;
        for (int k = 0; k < n; ++k) result = result * x;
        return result;
    }
};

/// f'(0) by a central difference; relative error about wide_epsilon^(2/3).
template <class F>
Quad derivative(F f) {
    const Quad h = std::cbrt(wide_epsilon);
    return (f(h) - f(-h)) / (2 * h);
}

/// The second derivative ∂²f/∂a∂b at (0, 0), by differences of differences; relative error about
/// wide_epsilon^(1/2).
template <class F>
Quad mixed_derivative(F f) {
    const Quad h = std::sqrt(std::sqrt(wide_epsilon));
    return (f(h, h) - f(h, -h) - f(-h, h) + f(-h, -h)) / (4 * h * h);
}

}  // namespace support
