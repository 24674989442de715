#pragma once
// Logistic functions that neither overflow nor cancel, for any scalar type with exp, log1p, abs and
// select.
// Test: tests/ad/edges.cpp, tests/core/vec_math.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>

namespace eddy::inline v0 {

/// 1 / (1 + e^−x), to full relative accuracy on both sides.
template <class Real>
[[nodiscard]] EDDY_HD constexpr Real sigmoid(const Real& x) {
    const Real decay = exp(-abs(x));
    const Real large_half = Real(1) / (Real(1) + decay);
    return select(x < Real(0), decay * large_half, large_half);
}

/// log(1 + e^x), without overflow for large x.
template <class Real>
[[nodiscard]] EDDY_HD constexpr Real softplus(const Real& x) {
    return max(x, Real(0)) + log1p(exp(-abs(x)));
}

/// max(x, 0); NaN stays NaN. Its derivative at 0 is 0.
template <class Real>
[[nodiscard]] EDDY_HD constexpr Real relu(const Real& x) {
    return max(x, Real(0));
}

/// x·sigmoid(x).
template <class Real>
[[nodiscard]] EDDY_HD constexpr Real silu(const Real& x) {
    return x * sigmoid(x);
}

/// x·Φ(x), with the error function (not the tanh approximation).
template <class Real>
[[nodiscard]] EDDY_HD constexpr Real gelu(const Real& x) {
    using Number = ScalarOf<Real>;
    return Number(0.5) * x * (Number(1) + erf(x * Number(0.70710678118654752440)));
}

}  // namespace eddy::inline v0
