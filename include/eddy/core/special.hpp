#pragma once
// The functions of likelihoods: log Γ and its derivatives, and the error function's complement. One text
// for float, double, packs and devices; a lane's bits depend on its own argument alone. Reference values
// and the errors that are granted: tests/core/special.cpp.
//
// log Γ(z) = (z − 1)·(z − 2)·p(z) and ψ(z) = (z − root)·q(z) on [1, 2], so that their zeros there are
// zeros of the text; from there by the recurrence of Γ up to 8, whose terms have one sign; beyond by
// Stirling's series (Abramowitz & Stegun 1964, 6.1.41, 6.3.18, 6.4.11). ψ⁽ⁿ⁾, which has no zero, is the
// series above 10 + n and the recurrence below. Arguments below zero are reflected (6.1.17, 6.3.7, 6.4.7).
// Test: tests/core/special.cpp

#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/special_coefficients.hpp>
#include <iterator>
#include <type_traits>

namespace eddy::inline v0 {
namespace detail::special {

/// A constant of any type of number.
template <class Number>
[[nodiscard]] EDDY_HD constexpr Number number(double x) {
    return Number(static_cast<ScalarOf<Number>>(x));
}

template <class Mask>
[[nodiscard]] EDDY_HD bool is_any(const Mask& mask) {
    if constexpr (std::is_same_v<Mask, bool>)
        return mask;
    else
        return any(mask);
}

/// Σ c[i]·x^i. That of simd/polynomial.hpp is for hosts: nvcc compiles no template for both that packs go
/// through.
template <class Table, int first = 0, class Number>
[[nodiscard]] EDDY_HD Number series(const Number& x) {
    constexpr int degree = static_cast<int>(std::size(Table::coefficients)) - 1;
    if constexpr (first == degree)
        return number<Number>(Table::coefficients[degree]);
    else
        return mul_add(series<Table, first + 1>(x), x, number<Number>(Table::coefficients[first]));
}

/// B_2k / (2k·(2k − 1)).
struct LgammaTail {
    static constexpr double coefficients[] = {1. / 12,    -1. / 360,      1. / 1260,
                                              -1. / 1680, 1. / 1188,      -691. / 360360,
                                              1. / 156,   -3617. / 122400};
};
/// B_2k / 2k.
struct DigammaTail {
    static constexpr double coefficients[] = {
        1. / 12,       -1. / 120, 1. / 252,      -1. / 240,      1. / 132,
        -691. / 32760, 1. / 12,   -3617. / 8160, 43867. / 14364, -174611. / 6600};
};

/// Of the derivatives of ψ below zero.
inline constexpr int highest_order = 16;
inline constexpr double pi = 3.14159265358979323846;

/// The distance of x from the nearest whole number, with its sign.
template <class Number>
[[nodiscard]] EDDY_HD Number to_nearest(const Number& x) {
    const Number all_whole = number<Number>(sizeof(ScalarOf<Number>) == 8 ? 0x1p52 : 0x1p23);
    return select(abs(x) >= all_whole, number<Number>(0), x - floor(x + number<Number>(0.5)));
}

/// z in [1, 2), or below 1 as it is, with what recurrences need on the way there.
template <class Number>
struct Reduced {
    Number z, product, reciprocals;
};
template <class Number>
[[nodiscard]] EDDY_HD Reduced<Number> reduce(const Number& x) {
    const Number one = number<Number>(1), two = number<Number>(2);
    Reduced<Number> r{select(x >= number<Number>(8), one, x), one, number<Number>(0)};
    for (int k = 0; k < 6; ++k) {
        const auto goes_on = r.z >= two;
        r.z = select(goes_on, r.z - one, r.z);
        r.product = select(goes_on, r.product * r.z, r.product);
        r.reciprocals = select(goes_on, r.reciprocals + one / r.z, r.reciprocals);
    }
    return r;
}

template <class Number>
[[nodiscard]] EDDY_HD Number lgamma_of_positive(const Number& x) {
    const Number one = number<Number>(1), two = number<Number>(2);
    const Reduced<Number> r = reduce(x);
    const auto is_small = x < one, is_large = x >= number<Number>(8);
    // Of z + 1 where z < 1, without adding.
    const Number centre =
        series<LgammaCentre<ScalarOf<Number>>>(
            r.z - select(is_small, number<Number>(0.5), number<Number>(1.5))) *
        (select(is_small, r.z, r.z - one) * select(is_small, r.z - one, r.z - two));
    const Number logarithm = log(select(is_small | is_large, x, r.product));
    const Number inverse = one / x;
    const Number tail =
        mul_add(x - number<Number>(0.5), logarithm - one, number<Number>(0.41893853320467274178)) +
        series<LgammaTail>(inverse * inverse) * inverse;
    return select(is_large, tail, select(is_small, centre - logarithm, centre + logarithm));
}

template <class Number>
[[nodiscard]] EDDY_HD Number digamma_of_positive(const Number& x) {
    using Real = ScalarOf<Number>;
    constexpr double root = 1.4616321449683622, rest_of_root = 9.5499954299656977152e-17;
    constexpr Real high = static_cast<Real>(root),
                   low = static_cast<Real>(root - high + rest_of_root);
    const Number one = number<Number>(1);
    const Reduced<Number> r = reduce(x);
    const auto is_small = x < one, is_large = x >= number<Number>(8);
    const Number distance = (r.z - select(is_small, Number(high - 1), Number(high))) - Number(low);
    const Number centre = series<DigammaCentre<Real>>(
                              r.z - select(is_small, number<Number>(0.5), number<Number>(1.5))) *
                          distance;
    const Number inverse = one / x;
    const Number tail = log(x) - inverse * mul_add(series<DigammaTail>(inverse * inverse), inverse,
                                                   number<Number>(0.5));
    return select(is_large, tail, select(is_small, centre - inverse, centre + r.reciprocals));
}

/// (−1)ⁿ⁺¹·ψ⁽ⁿ⁾(x), n ≥ 1.
template <class Number>
[[nodiscard]] EDDY_HD Number polygamma_of_positive(int n, const Number& x) {
    constexpr double bernoulli[] = {1. / 6,       -1. / 30,      1. / 42, -1. / 30,
                                    5. / 66,      -691. / 2730,  7. / 6,  -3617. / 510,
                                    43867. / 798, -174611. / 330};
    const Number one = number<Number>(1), end = number<Number>(10 + n);
    Number z = x, powers = number<Number>(0);
    for (int k = 0; k < 10 + n; ++k) {
        const auto goes_on = z < end;
        powers = select(goes_on, powers + power_by_squaring(one / z, n + 1), powers);
        z = select(goes_on, z + one, z);
    }
    const Number inverse = one / z, square = inverse * inverse;
    Number sum = mul_add(number<Number>(0.5 * n), inverse, one), power = square;
    double rising = 0.5 * n * (n + 1),
           factorial = 1;  // n (n + 1) … (n + 2k − 1) / (2k)!;  (n − 1)!
    for (int k = 1; k <= 10; ++k) {
        sum = mul_add(number<Number>(bernoulli[k - 1] * rising), power, sum);
        power = power * square;
        rising *= (n + 2. * k) * (n + 2. * k + 1) / ((2. * k + 1) * (2. * k + 2));
    }
    for (int k = 2; k < n; ++k) factorial *= k;
    return number<Number>(factorial) *
           mul_add(number<Number>(n), powers, sum * power_by_squaring(inverse, n));
}

template <class Number>
[[nodiscard]] EDDY_HD Number lgamma_of(const Number& x) {
    const auto is_positive = x > number<Number>(0);
    const Number value = lgamma_of_positive(select(is_positive, x, number<Number>(1) - x));
    if (!is_any(!is_positive)) return value;
    const Number sine = abs(sin(number<Number>(pi) * to_nearest(x)));
    const Number zero = number<Number>(0), pole = number<Number>(__builtin_huge_val());
    return select(is_positive, value,
                  select(sine == zero, pole, log(number<Number>(pi) / sine) - value));
}

template <class Number>
[[nodiscard]] EDDY_HD Number digamma_of(const Number& x) {
    const auto is_positive = x > number<Number>(0);
    const Number value = digamma_of_positive(select(is_positive, x, number<Number>(1) - x));
    if (!is_any(!is_positive)) return value;
    const Number angle = number<Number>(pi) * to_nearest(x);
    return select(is_positive, value, value - number<Number>(pi) / tan(angle));
}

/// π⁻ⁿ⁻¹ times the derivative of order n of π·cot(πx), in c = cot(πx): P_0 = c, P_n+1 = −(1 + c²)·P_n′, whose
/// terms have one sign.
template <class Number>
[[nodiscard]] EDDY_HD Number cotangent_derivative(int n, const Number& c) {
    double a[highest_order + 2] = {0, 1}, next[highest_order + 2] = {};
    for (int order = 0; order < n; ++order) {
        for (int k = 0; k <= order + 2; ++k)
            next[k] = -((k <= order ? (k + 1) * a[k + 1] : 0.) + (k > 0 ? (k - 1) * a[k - 1] : 0.));
        for (int k = 0; k <= order + 2; ++k) a[k] = next[k];
    }
    Number result = number<Number>(a[n + 1]);
    for (int k = n; k >= 0; --k) result = result * c + number<Number>(a[k]);
    return result;
}

template <class Number>
[[nodiscard]] EDDY_HD Number polygamma_of(int n, const Number& x) {
    const auto is_positive = x > number<Number>(0);
    const Number size = polygamma_of_positive(n, select(is_positive, x, number<Number>(1) - x));
    const Number value = n % 2 == 0 ? -size : size;
    if (!is_any(!is_positive)) return value;
    if (n > highest_order) return select(is_positive, value, number<Number>(__builtin_nan("")));
    const Number angle = number<Number>(pi) * to_nearest(x);
    const Number reflected = -size - power_by_squaring(number<Number>(pi), n + 1) *
                                         cotangent_derivative(n, cos(angle) / sin(angle));
    return select(is_positive, value, reflected);
}

/// exp(±x²), without the error of the rounded square.
template <int sign, class Number>
[[nodiscard]] EDDY_HD Number exp_of_square(const Number& x) {
    const Number square = x * x;
    Number rest;  // x² − square
    if constexpr (fma_is_fast) {
        rest = fma(x, x, -square);
    } else {
        const Number scaled =
            x * number<Number>(sizeof(ScalarOf<Number>) == 8 ? 0x1p27 + 1 : 0x1p12 + 1);
        const Number high = scaled - (scaled - x), low = x - high;
        rest = ((high * high - square) + number<Number>(2) * (high * low)) + low * low;
    }
    const Number power = exp(sign < 0 ? -square : square);
    // Not where the square is infinite.
    return select(square < number<Number>(800), mul_add(power, sign < 0 ? -rest : rest, power),
                  power);
}

/// exp(x²)·erfc(x), x ≥ 0.
template <class Number>
[[nodiscard]] EDDY_HD Number scaled_erfc(const Number& x) {
    const Number one = number<Number>(1), k = number<Number>(3.75);
    const Number t = one - number<Number>(2) * (k / (x + k));
    return series<ScaledErfc<ScalarOf<Number>>>(t) / mul_add(number<Number>(2), x, one);
}

template <class Number>
[[nodiscard]] EDDY_HD Number erfcx_of(const Number& x) {
    const Number value = scaled_erfc(abs(x));
    const auto is_negative = x < number<Number>(0);
    if (!is_any(is_negative)) return value;
    return select(is_negative, mul_add(number<Number>(2), exp_of_square<1>(x), -value), value);
}

/// That of packs; numbers have the library's. Up to 1/2 from erf, where erfc is no small difference.
template <class Number>
[[nodiscard]] EDDY_HD Number erfc_of(const Number& x) {
    const auto is_small = x < number<Number>(0.5);
    const Number large = select(is_small, number<Number>(1), x);
    return select(is_small, number<Number>(1) - erf(x),
                  scaled_erfc(large) * exp_of_square<-1>(large));
}

/// Up to 1/2 from erf, which is accurate where erfc is close to 1 or to 2; beyond, −x² apart.
template <class Number>
[[nodiscard]] EDDY_HD Number log_erfc_of(const Number& x) {
    const auto is_small = x < number<Number>(0.5);
    return select(is_small, log1p(-erf(x)), log(scaled_erfc(abs(x))) - x * x);
}

}  // namespace detail::special

/// log |Γ(x)|; +∞ at 0, −1, −2, …. Unlike std::lgamma it writes no global variable.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real lgamma(Real x) {
    return detail::special::lgamma_of(x);
}
/// ψ(x), the derivative of log Γ(x).
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real digamma(Real x) {
    return detail::special::digamma_of(x);
}
/// The derivative of order n ≥ 1 of ψ(x); NaN for n > 16 and x < 0.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real polygamma(int n, Real x) {
    return detail::special::polygamma_of(n, x);
}
/// The complement of the error function, 1 − erf(x).
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real erfc(Real x) {
    return std::erfc(x);
}
/// exp(x²)·erfc(x), which neither underflows nor overflows for x > −26.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real erfcx(Real x) {
    return detail::special::erfcx_of(x);
}
/// log(erfc(x)), also where erfc(x) underflows.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real log_erfc(Real x) {
    return detail::special::log_erfc_of(x);
}

/// ψ′(x), of any type of number.
template <class T>
[[nodiscard]] EDDY_HD constexpr auto trigamma(const T& x) {
    return polygamma(1, x);
}

}  // namespace eddy::inline v0
