#pragma once
// The members of an aggregate, found from the struct itself: a test that goes through them meets a
// member added tomorrow without being told. Counting asks how many initialisers the struct takes;
// naming them is a structured binding.

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace fuzz {

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// An initialiser of any member. An optional takes it as its value: its own constructor would make
/// the conversion ambiguous.
struct Anything {
    template <class T>
    requires(!is_optional<T>) operator T() const;
};

template <class Struct, std::size_t... indices>
constexpr bool takes(std::index_sequence<indices...>) {
    return requires { Struct{(void(indices), Anything{})...}; };
}

template <class Struct, std::size_t count = 0>
constexpr std::size_t count_members() {
    if constexpr (takes<Struct>(std::make_index_sequence<count + 1>())) {
        return count_members<Struct, count + 1>();
    } else {
        return count;
    }
}

}  // namespace detail

template <class Struct>
inline constexpr std::size_t num_members = detail::count_members<Struct>();

/// Calls visit(member) for each member in turn, references into `object`.
template <class Struct, class Visit>
void for_each_member(Struct& object, Visit&& visit) {
    constexpr std::size_t count = num_members<std::remove_const_t<Struct>>;
    static_assert(std::is_aggregate_v<Struct>);
    static_assert(count >= 1 && count <= 27, "for_each_member: add a structured binding");
    const auto all = [&](auto&... members) { (visit(members), ...); };
    if constexpr (count == 1) {
        auto& [a] = object;
        all(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = object;
        all(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = object;
        all(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = object;
        all(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = object;
        all(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = object;
        all(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, f, g] = object;
        all(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, f, g, h] = object;
        all(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = object;
        all(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = object;
        all(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (count == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
        all(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (count == 12) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (count == 13) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m);
    } else if constexpr (count == 14) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    } else if constexpr (count == 15) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    } else if constexpr (count == 16) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    } else if constexpr (count == 17) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    } else if constexpr (count == 18) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
    } else if constexpr (count == 19) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
    } else if constexpr (count == 20) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
    } else if constexpr (count == 21) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
    } else if constexpr (count == 22) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
    } else if constexpr (count == 23) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
    } else if constexpr (count == 24) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
    } else if constexpr (count == 25) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y);
    } else if constexpr (count == 26) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] =
            object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);
    } else {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, last] =
            object;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, last);
    }
}

}  // namespace fuzz
