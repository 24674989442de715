#pragma once
// A vector of static length whose components live in registers: a built-in array and elementwise
// arithmetic. The component type is any scalar: float, double, a SIMD pack, a dual number, a traced
// scalar.
// Test: tests/core/vec_math.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/shape.hpp>
#include <eddy/core/static_for.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// A vector of `length` numbers of one type: float, double, packs, duals or traced scalars.
template <class T, int length>
struct Vec {
    static_assert(length > 0, "Vec: the length must be positive");
    T data[length];  ///< the components

    using value_type = T;
    /// The number of components.
    [[nodiscard]] EDDY_HD static constexpr int size() { return length; }
    [[nodiscard]] EDDY_HD constexpr T& operator[](int i) { return data[i]; }
    [[nodiscard]] EDDY_HD constexpr const T& operator[](int i) const { return data[i]; }
    /// The first component.
    [[nodiscard]] EDDY_HD constexpr T* begin() { return data; }
    /// The end of the components.
    [[nodiscard]] EDDY_HD constexpr T* end() { return data + length; }
    [[nodiscard]] EDDY_HD constexpr const T* begin() const { return data; }
    [[nodiscard]] EDDY_HD constexpr const T* end() const { return data + length; }

    friend bool operator==(const Vec&, const Vec&) = default;
};

template <class T>
inline constexpr bool is_vec = false;
template <class T, int length>
inline constexpr bool is_vec<Vec<T, length>> = true;

namespace detail {

template <class T>
inline constexpr int vec_length = 0;
template <class T, int length>
inline constexpr int vec_length<Vec<T, length>> = length;

/// What may stand beside a Vec and is every component of itself. Packs are scalars, though they
/// have lanes to index.
template <class T>
concept VecPartner = !is_vec<T> && !is_symbolic<T> && (richness<T> > 0 || !requires(T x) { x[0]; });

template <class... T>
constexpr int common_length() {
    int longest = 0;
    ((longest = vec_length<T> > longest ? vec_length<T> : longest), ...);
    return longest;
}

/// The number inside a Vec's components; what is not a Vec does not decide and has bool.
template <class T>
struct VecScalar {
    using type = bool;
};
template <class T, int length>
struct VecScalar<Vec<T, length>> {
    using type = ScalarOf<T>;
};
template <class T>
using VecScalarOf = typename VecScalar<T>::type;

/// The numbers inside all Vecs among T, or bool where some hold anything but numbers.
template <class... T>
constexpr auto common_scalar() {
    if constexpr ((std::is_arithmetic_v<VecScalarOf<T>> && ...)) {
        return std::common_type_t<VecScalarOf<T>...>{};
    } else {
        return false;
    }
}
template <class... T>
using CommonScalar = decltype(common_scalar<T...>());

/// The i-th component of a vector. A scalar is every component of itself; a plain number as a
/// Scalar.
template <class Scalar, class T>
EDDY_HD constexpr decltype(auto) component(const T& x, [[maybe_unused]] int i) {
    if constexpr (is_vec<T> || (is_symbolic<T> && requires { x[i]; })) {
        return x[i];
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                         std::is_floating_point_v<Scalar>) {
        return static_cast<Scalar>(x);
    } else {
        return (x);
    }
}

/// What a compound assignment reads on its right: a scalar may be a component of the vector that
/// changes, so it is copied first.
template <class T>
using AssignedFrom =
    std::conditional_t<is_vec<T> || (is_symbolic<T> && requires(const T& x) { x.size(); }),
                       const T&, const T>;

/// Vecs of one length and scalars, at least one a Vec. Symbolic values have operators of their own.
template <class... T>
concept ElementwiseVecs = (is_vec<T> || ...) &&
                          ((VecPartner<T> || vec_length<T> == common_length<T...>()) && ...);

}  // namespace detail

/// Applies `f` to the components of Vecs of one length; scalars are broadcast, and plain numbers
/// take the precision of the components.
template <class F, class... Arguments>
[[nodiscard]] EDDY_HD constexpr auto map(F f, const Arguments&... x) {
    constexpr int length = detail::common_length<Arguments...>();
    using Scalar = detail::CommonScalar<Arguments...>;
    using T = std::remove_cvref_t<decltype(f(detail::component<Scalar>(x, 0)...))>;
    Vec<T, length> result{};
    for_components<length>([&](int i) { result.data[i] = f(detail::component<Scalar>(x, i)...); });
    return result;
}

template <class A, class B>
requires detail::ElementwiseVecs<A, B>
[[nodiscard]] EDDY_HD constexpr auto operator+(const A& a, const B& b) {
    return map([](const auto& x, const auto& y) { return x + y; }, a, b);
}
template <class A, class B>
requires detail::ElementwiseVecs<A, B>
[[nodiscard]] EDDY_HD constexpr auto operator-(const A& a, const B& b) {
    return map([](const auto& x, const auto& y) { return x - y; }, a, b);
}
template <class A, class B>
requires detail::ElementwiseVecs<A, B>
[[nodiscard]] EDDY_HD constexpr auto operator*(const A& a, const B& b) {
    return map([](const auto& x, const auto& y) { return x * y; }, a, b);
}
template <class A, class B>
requires detail::ElementwiseVecs<A, B>
[[nodiscard]] EDDY_HD constexpr auto operator/(const A& a, const B& b) {
    return map([](const auto& x, const auto& y) { return x / y; }, a, b);
}
template <class T, int length>
[[nodiscard]] EDDY_HD constexpr auto operator-(const Vec<T, length>& a) {
    return map([](const auto& x) { return -x; }, a);
}
template <class T, int length>
[[nodiscard]] EDDY_HD constexpr Vec<T, length> operator+(const Vec<T, length>& a) {
    return a;
}

/// Componentwise assignment; the right-hand side may also be a traced vector.
#define EDDY_VEC_ASSIGNMENT(operation)                                                           \
    template <class T, int length, class Other>                                                  \
    EDDY_HD constexpr Vec<T, length>& operator operation##=(Vec<T, length>& a, const Other& b) { \
        detail::AssignedFrom<Other> from = b;                                                    \
        for_components<length>([&](int i) {                                                      \
            a.data[i] = a.data[i] operation detail::component<ScalarOf<T>>(from, i);             \
        });                                                                                      \
        return a;                                                                                \
    }
EDDY_VEC_ASSIGNMENT(+)
EDDY_VEC_ASSIGNMENT(-)
EDDY_VEC_ASSIGNMENT(*)
EDDY_VEC_ASSIGNMENT(/)
#undef EDDY_VEC_ASSIGNMENT

/// A Vec of its arguments, converted to their common type.
template <class... T>
requires(sizeof...(T) > 0 && !(is_symbolic<T> || ...)) [[nodiscard]] EDDY_HD
    constexpr auto vec(const T&... x) {
    using Common = std::common_type_t<T...>;
    return Vec<Common, static_cast<int>(sizeof...(T))>{{static_cast<Common>(x)...}};
}

/// The right-hand side of `count` components that do not change, such as parameters kept in the
/// state: `eddy::concat(dydt, eddy::constant<3>)`. It is zero. Components whose right-hand side is
/// zero in every state have no error, and error norms leave them out.
template <int count>
inline constexpr Vec<double, count> constant{};

/// Components [first, first + count) of x.
template <int first, int count, class T, int length>
[[nodiscard]] EDDY_HD constexpr Vec<T, count> slice(const Vec<T, length>& x) {
    static_assert(first >= 0 && count > 0 && first + count <= length,
                  "slice: the range reads past the end of the vector");
    Vec<T, count> part{};
    for_components<count>([&](int i) { part.data[i] = x.data[first + i]; });
    return part;
}

/// The components of a, then those of b; a scalar is one component.
template <class A, class B>
requires((is_vec<A> || detail::VecPartner<A>)&&(is_vec<B> || detail::VecPartner<B>))
    [[nodiscard]] EDDY_HD constexpr auto concat(const A& a, const B& b) {
    constexpr int length_a = is_vec<A> ? detail::vec_length<A> : 1;
    constexpr int length_b = is_vec<B> ? detail::vec_length<B> : 1;
    using Scalar = detail::CommonScalar<A, B>;
    using T = std::common_type_t<std::remove_cvref_t<decltype(detail::component<Scalar>(a, 0))>,
                                 std::remove_cvref_t<decltype(detail::component<Scalar>(b, 0))>>;
    Vec<T, length_a + length_b> joined{};
    for_components<length_a>(
        [&](int i) { joined.data[i] = static_cast<T>(detail::component<Scalar>(a, i)); });
    for_components<length_b>([&](int i) {
        joined.data[length_a + i] = static_cast<T>(detail::component<Scalar>(b, i));
    });
    return joined;
}

}  // namespace eddy::inline v0
