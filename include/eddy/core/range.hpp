#pragma once
// Ranges as templates ask for them, by what <iterator> has: <ranges> itself takes a compiler a tenth of a
// second.
// Test: tests/solve/arrays.cpp, tests/checkpoint/determinism.cpp

#include <iterator>
#include <span>
#include <utility>

namespace eddy::inline v0::detail {

/// What can be walked through and knows its size: std::ranges::sized_range.
template <class T>
concept SizedRange = requires(T& range) {
    std::ranges::begin(range);
    std::ranges::end(range);
    std::ranges::size(range);
};
template <SizedRange T>
using RangeValueOf = std::iter_value_t<decltype(std::ranges::begin(std::declval<T&>()))>;

/// What refers to elements instead of keeping them: std::ranges::view, by the mark that spans have.
template <class T>
concept View = SizedRange<T> && std::ranges::enable_view<T>;

/// What refers to elements that outlive it, such as a span: std::ranges::borrowed_range. Else no
/// temporary has a begin.
template <class T>
concept BorrowedRange = requires {
    std::ranges::begin(std::declval<T>());
    std::ranges::end(std::declval<T>());
};

}  // namespace eddy::inline v0::detail
