#pragma once
// The one operation that steps and interpolants are made of.
// Test: tests/steppers/explicit_rk.cpp, tests/steppers/taylor.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>

namespace eddy::inline v0::detail {

/// Adds weight·k to sum, componentwise. The weight may be a poorer type than the numbers: a pack
/// beside dual numbers, a number beside packs.
template <int size, class Number, class Weight>
EDDY_INLINE EDDY_HD constexpr void add_scaled(Vec<Number, size>& sum, const Weight& weight,
                                              const Vec<Number, size>& k) {
    for_components_of_sum<size>(
        [&](int i) EDDY_INLINE { sum.data[i] = mul_add(weight, k.data[i], sum.data[i]); });
}

/// weight·k, componentwise.
template <int size, class Number, class Weight>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vec<Number, size> scaled(const Weight& weight,
                                                                     const Vec<Number, size>& k) {
    Vec<Number, size> product;
    for_components_of_sum<size>([&](int i) EDDY_INLINE { product.data[i] = weight * k.data[i]; });
    return product;
}

}  // namespace eddy::inline v0::detail
