#pragma once
// The members of a struct as a tuple of references, so that sums, hashes and programs go through a
// struct as they go through a tuple. A type lists its members,
//     static constexpr auto members = std::tuple(&Layer::weights, &Layer::bias);
// or is an aggregate of at most twelve, without bases and built-in arrays. Nobody can tell whether it
// has those before it is taken apart, so aggregates without a list are taken apart only where nothing
// else could be done with them.
// Test: tests/checkpoint/structured.cpp, tests/checkpoint/disk_store.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/core/range.hpp>
#include <eddy/core/vec.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0::detail {

template <class T>
concept ListsMembers = requires {
    std::tuple_size<std::remove_cvref_t<decltype(T::members)>>::value;
};

/// A struct that is neither a number nor a container, and may be taken apart.
template <class T>
concept PlainStruct = std::is_class_v<T> && !is_vec<T> && !is_symbolic<T> && (richness<T> == 0) &&
                      !std::is_empty_v<T> && !requires(const T& x) {
    x[0];
}
&&!requires { std::tuple_size<T>::value; }
&&!SizedRange<T> && (std::is_aggregate_v<T> || ListsMembers<T>);

struct Anything {
    template <class T>
    constexpr operator T() const;
};

template <class T, class... Given>
consteval int count_members() {
    if constexpr (requires { T{Given{}..., Anything{}}; })
        return count_members<T, Given..., Anything>();
    else
        return static_cast<int>(sizeof...(Given));
}

/// References to the members of x.
template <class T>
[[nodiscard]] constexpr auto tie_members(T& x) {
    using Plain = std::remove_const_t<T>;
    if constexpr (ListsMembers<Plain>) {
        return std::apply([&](auto... member) { return std::tie(x.*member...); }, Plain::members);
    } else {
        constexpr int count = count_members<Plain>();
        static_assert(count >= 1 && count <= 12,
                      "members: a struct of more than twelve members lists them, as static "
                      "constexpr auto members = std::tuple(&Struct::a, &Struct::b)");
        if constexpr (count == 1) {
            auto& [a] = x;
            return std::tie(a);
        } else if constexpr (count == 2) {
            auto& [a, b] = x;
            return std::tie(a, b);
        } else if constexpr (count == 3) {
            auto& [a, b, c] = x;
            return std::tie(a, b, c);
        } else if constexpr (count == 4) {
            auto& [a, b, c, d] = x;
            return std::tie(a, b, c, d);
        } else if constexpr (count == 5) {
            auto& [a, b, c, d, e] = x;
            return std::tie(a, b, c, d, e);
        } else if constexpr (count == 6) {
            auto& [a, b, c, d, e, f] = x;
            return std::tie(a, b, c, d, e, f);
        } else if constexpr (count == 7) {
            auto& [a, b, c, d, e, f, g] = x;
            return std::tie(a, b, c, d, e, f, g);
        } else if constexpr (count == 8) {
            auto& [a, b, c, d, e, f, g, h] = x;
            return std::tie(a, b, c, d, e, f, g, h);
        } else if constexpr (count == 9) {
            auto& [a, b, c, d, e, f, g, h, i] = x;
            return std::tie(a, b, c, d, e, f, g, h, i);
        } else if constexpr (count == 10) {
            auto& [a, b, c, d, e, f, g, h, i, j] = x;
            return std::tie(a, b, c, d, e, f, g, h, i, j);
        } else if constexpr (count == 11) {
            auto& [a, b, c, d, e, f, g, h, i, j, k] = x;
            return std::tie(a, b, c, d, e, f, g, h, i, j, k);
        } else {
            auto& [a, b, c, d, e, f, g, h, i, j, k, l] = x;
            return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
        }
    }
}

/// The types of the members.
template <class T>
struct MembersOf;
template <class... T>
struct MembersOf<std::tuple<T&...>> {
    using type = std::tuple<std::remove_const_t<T>...>;
};
template <class T>
using MemberTypes = typename MembersOf<decltype(tie_members(std::declval<T&>()))>::type;

}  // namespace eddy::inline v0::detail
