#pragma once
// Values with their numbers in another type, and back: numbers, vectors, ranges, tuples and structs of
// such. What is no floating-point number stays as it is.
// Test: tests/ad/hooks.cpp

#include <array>
#include <concepts>
#include <cstddef>
#include <eddy/core/bytes_of.hpp>
#include <eddy/core/list.hpp>
#include <eddy/core/members.hpp>
#include <eddy/core/range.hpp>
#include <eddy/core/small_float.hpp>
#include <eddy/core/vec.hpp>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

template <class T>
inline constexpr std::size_t fixed_length = 0;
template <class T, int length>
inline constexpr std::size_t fixed_length<Vec<T, length>> = static_cast<std::size_t>(length);
template <class T, std::size_t length>
inline constexpr std::size_t fixed_length<std::array<T, length>> = length;

template <class T>
concept ResizableRange = SizedRange<T> && requires(T& x, std::size_t size) {
    x.resize(size);
};

template <class Number, class T>
[[nodiscard]] auto narrowed(const T& x) {
    constexpr auto part = [](const auto& value) { return narrowed<Number>(value); };
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<Number>(x);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        return x;
    } else if constexpr (fixed_length<T> > 0) {
        std::array<decltype(part(*x.begin())), fixed_length<T>> numbers{};
        auto to = numbers.begin();
        for (const auto& number : x) *to++ = part(number);
        return numbers;
    } else if constexpr (has_parts<T>) {
        return std::apply([&](const auto&... parts) { return std::tuple(part(parts)...); }, x);
    } else if constexpr (ResizableRange<T>) {
        List<decltype(part(*std::begin(x)))> numbers;
        numbers.reserve(std::size(x));
        for (const auto& number : x) numbers.push_back(part(number));
        return numbers;
    } else {
        static_assert(
            PlainStruct<T>,
            "save_as: the value is neither a number nor a vector, range, tuple or struct of "
            "numbers; give hooks(pack, unpack) of your own");
        return std::apply([&](const auto&... parts) { return std::tuple(part(parts)...); },
                          tie_members(x));
    }
}

/// The inverse: `x` gets the numbers.
template <class Narrow, class T>
void widen(const Narrow& numbers, T& x) {
    if constexpr (std::is_floating_point_v<T>) {
        x = static_cast<T>(numbers);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        x = numbers;
    } else if constexpr (fixed_length<T> > 0 || ResizableRange<T>) {
        if constexpr (ResizableRange<T>) x.resize(numbers.size());
        auto from = numbers.begin();
        for (auto& number : x) widen(*from++, number);
    } else {
        const auto all = [&](auto&&... parts) {
            std::apply([&](const auto&... narrow) { (widen(narrow, parts), ...); }, numbers);
        };
        if constexpr (has_parts<T>)
            std::apply(all, x);
        else
            std::apply(all, tie_members(x));
    }
}

}  // namespace eddy::inline v0::detail
