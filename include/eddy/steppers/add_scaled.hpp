#pragma once
// The one operation that steps and interpolants are made of.

#include <eddy/core/vec.hpp>

namespace eddy::detail {

/// Adds weight·k to sum, componentwise.
template <int size, class Real>
[[gnu::always_inline]] EDDY_HD constexpr void add_scaled(Vec<Real, size>& sum, const Real& weight,
                                                         const Vec<Real, size>& k) {
    static_for<0, size>([&]<int i>() __attribute__((always_inline)) {
        sum.data[i] = mul_add(weight, k.data[i], sum.data[i]);
    });
}

}  // namespace eddy::detail
