#pragma once
// Logarithms. x = 2^k·m with m in [√½, √2), f = m − 1, s = f/(2 + f):
// log m = 2s + s³·L(s²), arranged as f − (f²/2 − s·(f²/2 + s²·L)) so that f, which is exact,
// carries the result. Arrangement: Tang 1990, ACM TOMS 16, 378, without its tables.
// Test: tests/core/pack_math.cpp

#include <eddy/core/simd/coefficients.hpp>
#include <eddy/core/simd/double_word.hpp>
#include <eddy/core/simd/format.hpp>
#include <eddy/core/simd/polynomial.hpp>

namespace eddy::inline v0::simd {

/// k·ln 2 + log(1 + f) + correction.
template <class P>
EDDY_INLINE inline P log_sum(const P& k, const P& f, const P& correction) {
    using Real = typename P::value_type;
    const P s = f / (P(2) + f), z = s * s, half_square = P(Real(0.5)) * f * f;
    const P series = mul_add(z, polynomial<LogTail<Real>>(z), half_square);
    const P small = mul_add(s, series, mul_add(k, P(Format<Real>::ln2_lo), correction));
    return k * P(Format<Real>::ln2_hi) - ((half_square - small) - f);
}

/// What a logarithm of y is where y is not a positive finite number, `value` elsewhere.
template <class P>
EDDY_INLINE inline P log_special(const P& y, const P& value) {
    using Limits = std::numeric_limits<typename P::value_type>;
    const P at_end = select(y == P(0), P(-Limits::infinity()), P(Limits::quiet_NaN()));
    const P positive = select(y > P(Limits::max()), y, value);
    return select(y > P(0), positive, at_end);
}

template <class P>
EDDY_INLINE inline P log_kernel(const P& x) {
    const auto [k, m] = decompose(x);
    return log_special(x, log_sum(k, m - P(1), P(0)));
}

/// log(1 + x), where u = 1 + x is rounded and its error enters as a correction of first order.
template <class P>
EDDY_INLINE inline P log1p_kernel(const P& x) {
    const auto [u, error] = two_sum(P(1), x);
    const auto [k, m] = decompose(u);
    const auto near = k == P(0);  // there x itself is f, and exact
    const P value = log_sum(k, select(near, x, m - P(1)), select(near, P(0), error / u));
    return copysign(log_special(u, value), x);
}

}  // namespace eddy::inline v0::simd
