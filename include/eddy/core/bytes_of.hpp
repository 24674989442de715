#pragma once
// How many bytes a value takes, for budgets: those of a plain value, of the elements of a range, of the
// parts of a pair, a tuple or an optional. What keeps values for a backward pass says it itself, by
// `kept_bytes()`, and `fixed_bytes` where all values of its type take as many. For another type that
// owns memory specialise BytesOf.
// Test: tests/checkpoint/sequence.cpp

#include <cstdint>
#include <eddy/core/range.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// The customization point for types that own memory: `static std::int64_t count(const T&)`.
template <class T>
struct BytesOf {};

namespace detail {

template <class T>
concept CountedBytes = requires(const T& x) {
    BytesOf<T>::count(x);
};
template <class T>
concept KeepsBytes = requires(const T& x) {
    x.kept_bytes();
};
template <class T>
concept DenseElements = requires(const T& x) {
    typename T::Scalar;
    x.data();
    x.size();
};
template <class T>
inline constexpr bool has_parts = false;
template <class... Parts>
inline constexpr bool has_parts<std::tuple<Parts...>> = true;
template <class First, class Second>
inline constexpr bool has_parts<std::pair<First, Second>> = true;

/// Do all values of the type take as many bytes?
template <class T>
inline constexpr bool has_fixed_bytes =
    std::is_trivially_copyable_v<T> && !CountedBytes<T> && !KeepsBytes<T>;

template <class T>
[[nodiscard]] constexpr std::int64_t fixed_bytes_of_one() {
    if constexpr (requires { T::fixed_bytes; })
        return T::fixed_bytes;
    else if constexpr (!has_fixed_bytes<T>)
        return -1;
    else
        return std::is_empty_v<T> ? 0 : static_cast<std::int64_t>(sizeof(T));
}
/// The bytes of a value of each type together, where all values take as many; else -1.
template <class... T>
[[nodiscard]] constexpr std::int64_t fixed_bytes_of() {
    if (((fixed_bytes_of_one<T>() < 0) || ...)) return -1;
    return (fixed_bytes_of_one<T>() + ... + std::int64_t{0});
}

}  // namespace detail

/// The bytes of a value: of a range its elements', of a view or a pointer its own.
template <class T>
[[nodiscard]] constexpr std::int64_t bytes_of(const T& x) {
    if constexpr (detail::CountedBytes<T>) {
        return BytesOf<T>::count(x);
    } else if constexpr (detail::KeepsBytes<T>) {
        return x.kept_bytes();
    } else if constexpr (std::is_empty_v<T>) {
        return 0;
    } else if constexpr (std::is_trivially_copyable_v<T> || detail::View<T>) {
        return static_cast<std::int64_t>(sizeof(T));
    } else if constexpr (detail::has_parts<T>) {
        return std::apply(
            [](const auto&... parts) { return (bytes_of(parts) + ... + std::int64_t{0}); }, x);
    } else if constexpr (detail::DenseElements<T>) {
        return static_cast<std::int64_t>(x.size()) *
               static_cast<std::int64_t>(sizeof(typename T::Scalar));
    } else if constexpr (detail::SizedRange<const T>) {
        using Element = detail::RangeValueOf<const T>;
        if constexpr (detail::has_fixed_bytes<Element>) {
            return static_cast<std::int64_t>(std::ranges::size(x)) *
                   static_cast<std::int64_t>(sizeof(Element));
        } else {
            std::int64_t bytes = 0;
            for (const auto& element : x) bytes += bytes_of(element);
            return bytes;
        }
    } else {
        return static_cast<std::int64_t>(sizeof(T));
    }
}

}  // namespace eddy::inline v0
