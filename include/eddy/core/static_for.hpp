#pragma once
// Loops whose index is a template parameter. Compilers unroll run-time loops over register arrays
// only when they feel like it; these are unrolled always, so the arrays stay in registers on every
// compiler. Long ranges are folded in chunks, since clang accepts at most 256 operands in one fold
// expression, and chunks in chunks: each level is inlined into the one above, and copied then.
// Test: tests/core/static_for.cpp

#include <eddy/core/host_device.hpp>
#include <utility>

namespace eddy::inline v0 {
namespace detail {

inline constexpr int fold_chunk = 128;

/// The indices of a part, where a range of so many has at most `fold_chunk` parts.
[[nodiscard]] constexpr int part_of_range(int count) {
    int part = fold_chunk;
    while (part < (count - 1) / fold_chunk + 1) part *= fold_chunk;
    return part;
}
[[nodiscard]] constexpr int parts_of_range(int count) {
    return (count - 1) / part_of_range(count) + 1;
}

template <int first, class Body, int... offsets>
EDDY_INLINE EDDY_HD constexpr void static_for_chunk(Body& body,
                                                    std::integer_sequence<int, offsets...>) {
    (body.template operator()<first + offsets>(), ...);
}

/// The same for a body that takes the index as an argument: there is nothing of it to instantiate.
template <class Body, int... indices>
EDDY_INLINE EDDY_HD constexpr void for_each_index([[maybe_unused]] Body& body,
                                                  std::integer_sequence<int, indices...>) {
    (body(indices), ...);
}

}  // namespace detail

/// Calls `body.template operator()<i>()` for i in [first, last), in order.
template <int first, int last, class Body>
EDDY_INLINE EDDY_HD constexpr void static_for(Body&& body);

namespace detail {
template <int first, int last, class Body, int... parts>
EDDY_INLINE EDDY_HD constexpr void static_for_parts(Body& body,
                                                    std::integer_sequence<int, parts...>) {
    constexpr int part = part_of_range(last - first);
    (static_for<first + parts * part,
                (last - first - parts * part < part ? last : first + (parts + 1) * part)>(body),
     ...);
}
}  // namespace detail

template <int first, int last, class Body>
EDDY_INLINE EDDY_HD constexpr void static_for(Body&& body) {
    if constexpr (last - first > detail::fold_chunk) {
        detail::static_for_parts<first, last>(
            body, std::make_integer_sequence<int, detail::parts_of_range(last - first)>{});
    } else if constexpr (last > first) {
        detail::static_for_chunk<first>(body, std::make_integer_sequence<int, last - first>{});
    }
}

/// Vectors up to this length are kept in registers and unrolled.
inline constexpr int longest_unrolled = 16;

/// Calls body(i) for i in [0, size): unrolled for short vectors, a loop for long ones.
template <int size, class Body>
EDDY_INLINE EDDY_HD constexpr void for_components(Body&& body) {
    if constexpr (size == 1) {  // nothing to instantiate
        body(0);
    } else if constexpr (size == 2) {
        body(0), body(1);
    } else if constexpr (size == 3) {
        body(0), body(1), body(2);
    } else if constexpr (size <= longest_unrolled) {
        detail::for_each_index(body, std::make_integer_sequence<int, size>{});
    } else {
        detail::loop_over(size, body);
    }
}

/// The same for sums over the stages of a step: they stay unrolled up to longer vectors, whose
/// components are in different registers from one stage to the next. On a device those would not fit.
inline constexpr int longest_unrolled_sum = compiling_for_device ? longest_unrolled : 64;
template <int size, class Body>
EDDY_INLINE EDDY_HD constexpr void for_components_of_sum(Body&& body) {
    if constexpr (size <= longest_unrolled) {
        for_components<size>(body);
    } else if constexpr (size <= longest_unrolled_sum) {
        detail::for_each_index(body, std::make_integer_sequence<int, size>{});
    } else {
        detail::loop_over(size, body);
    }
}

}  // namespace eddy::inline v0
