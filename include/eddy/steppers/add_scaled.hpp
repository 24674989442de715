#pragma once
// The one operation that steps and interpolants are made of.
// Test: tests/steppers/explicit_rk.cpp, tests/steppers/taylor.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// Adds weight·k to sum, componentwise. The weight may be a poorer type than the numbers: a pack
/// beside dual numbers, a number beside packs.
template <int size, class Number, class Weight>
EDDY_INLINE EDDY_HD constexpr void add_scaled(Vec<Number, size>& sum, const Weight& weight,
                                              const Vec<Number, size>& k) {
    for_components_of_sum<size>(
        [&](int i) EDDY_INLINE { sum.data[i] = mul_add(weight, k.data[i], sum.data[i]); });
}

/// Are vectors of this length gone through once for all terms of a sum, rather than once for each? Not on a
/// device, where nobody has measured it.
template <int size>
inline constexpr bool sums_by_component = size > longest_unrolled_sum && !compiling_for_device;

/// Those i in [0, count) whose Row::at(i) is not zero, in order.
template <class Row, int count>
struct TermsOf {
    int number = 0;
    int at[count > 0 ? count : 1] = {};

    constexpr TermsOf() {
        for (int i = 0; i < count; ++i) {
            if (Row::at(i) != 0) at[number++] = i;
        }
    }
};
template <class Row, int count, int... k>
[[nodiscard]] constexpr auto terms_of(std::integer_sequence<int, k...>) {
    return std::integer_sequence<int, TermsOf<Row, count>{}.at[k]...>{};
}

/// Adds the terms i of a row to sum. One function for all of them: compilers take their time for each.
template <class Row, int length, class Number, class Size, int room, int... i>
EDDY_INLINE EDDY_HD constexpr void add_terms(
    [[maybe_unused]] Vec<Number, length>& sum, [[maybe_unused]] const Size& size,
    [[maybe_unused]] const Vec<Number, length> (&vectors)[room], std::integer_sequence<int, i...>) {
    (add_scaled(sum, Row::template weight<i>(size), vectors[Row::stage(i)]), ...);
}

/// from + Σ_i Row::weight<i>(size) vectors[Row::stage(i)] over those i in [0, count) whose Row::at(i) is not zero, in
/// that order. Of a long vector each component once: term by term, the sum would go through memory as often as there
/// are terms. Rows say it rather than functions of i, which compilers would make anew for each caller and each i.
template <class Row, int count, int length, class Number, class Size, int room>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vec<Number, length> weighted_sum(
    const Vec<Number, length>& from, [[maybe_unused]] const Size& size,
    [[maybe_unused]] const Vec<Number, length> (&vectors)[room]) {
    Vec<Number, length> sum;
    if constexpr (!sums_by_component<length> || count == 0) {
        sum = from;
        add_terms<Row>(sum, size, vectors,
                       decltype(terms_of<Row, count>(
                           std::make_integer_sequence<int, TermsOf<Row, count>{}.number>{})){});
    } else {
        std::remove_cvref_t<decltype(Row::template weight<0>(size))> weights[count]{};
        static_for<0, count>([&]<int i>() EDDY_INLINE {
            if constexpr (Row::at(i) != 0) weights[i] = Row::template weight<i>(size);
        });
        loop_over(length, [&](int c) EDDY_INLINE {
            Number total = from.data[c];
            static_for<0, count>([&]<int i>() EDDY_INLINE {
                if constexpr (Row::at(i) != 0)
                    total = mul_add(weights[i], vectors[Row::stage(i)].data[c], total);
            });
            sum.data[c] = total;
        });
    }
    return sum;
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
