#pragma once
// erf x = x·(1 + p(x²)) up to 1 and 1 − exp(−x²)·g((x−2)/(x+2)) beyond, where g is smooth and the
// second term small, so that neither the rounding of x² nor that of the exponential is seen.
// Test: tests/core/special.cpp, tests/core/pack_math.cpp

#include <eddy/core/simd/exp.hpp>

namespace eddy::inline v0::simd {

template <class P>
EDDY_INLINE inline P erf_kernel(const P& x) {
    using Real = typename P::value_type;
    constexpr Real end = sizeof(Real) == 8 ? Real(6) : Real(4);  // erf is 1 from there
    const P magnitude = abs(x), square = magnitude * magnitude;
    const P near = mul_add(magnitude, polynomial<ErfCentre<Real>>(square), magnitude);
    const P clipped = min(magnitude, P(end));
    const P complement = exp_kernel(-(clipped * clipped)) *
                         polynomial<ErfcTail<Real>>((clipped - P(2)) / (clipped + P(2)));
    return copysign(select(magnitude <= P(1), near, P(1) - complement), x);
}

}  // namespace eddy::inline v0::simd
