#pragma once
// A vector of static length whose components live in registers: a built-in array and elementwise
// arithmetic. The component type is any scalar: float, double, a SIMD pack, a dual number, a traced
// scalar.

#include <eddy/core/host_device.hpp>
#include <eddy/core/shape.hpp>
#include <eddy/core/static_for.hpp>
#include <type_traits>

namespace eddy {

template <class T, int length>
struct Vec {
    static_assert(length > 0, "Vec: the length must be positive");
    T data[length];

    using value_type = T;
    [[nodiscard]] EDDY_HD static constexpr int size() { return length; }
    [[nodiscard]] EDDY_HD constexpr T& operator[](int i) { return data[i]; }
    [[nodiscard]] EDDY_HD constexpr const T& operator[](int i) const { return data[i]; }
    [[nodiscard]] EDDY_HD constexpr T* begin() { return data; }
    [[nodiscard]] EDDY_HD constexpr T* end() { return data + length; }
    [[nodiscard]] EDDY_HD constexpr const T* begin() const { return data; }
    [[nodiscard]] EDDY_HD constexpr const T* end() const { return data + length; }

    friend constexpr bool operator==(const Vec&, const Vec&) = default;
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

/// The i-th component of a Vec; a scalar is every component of itself.
template <class T>
EDDY_HD constexpr const auto& component(const T& x, [[maybe_unused]] int i) {
    if constexpr (is_vec<T>) {
        return x[i];
    } else {
        return x;
    }
}

/// Two Vecs of one length, or a Vec and a scalar. Symbolic values have operators of their own.
template <class A, class B>
concept ElementwiseVecs = !is_symbolic<A> && !is_symbolic<B> &&
                          ((is_vec<A> && is_vec<B> && vec_length<A> == vec_length<B>) ||
                           (is_vec<A> && !is_vec<B> && !requires(B b) { b[0]; }) ||
                           (is_vec<B> && !is_vec<A> && !requires(A a) { a[0]; }));

}  // namespace detail

/// Applies `f` to the components of Vecs of one length; scalars are broadcast.
template <class F, class... Arguments>
[[nodiscard]] EDDY_HD constexpr auto map(F f, const Arguments&... x) {
    constexpr int lengths[] = {detail::vec_length<Arguments>...};
    constexpr int length = [&] {
        int longest = 0;
        for (int l : lengths) longest = l > longest ? l : longest;
        return longest;
    }();
    using T = std::remove_cvref_t<decltype(f(detail::component(x, 0)...))>;
    Vec<T, length> result{};
    static_for<0, length>([&]<int i>() { result.data[i] = f(detail::component(x, i)...); });
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

/// A Vec of its arguments, converted to their common type.
template <class... T>
requires(sizeof...(T) > 0 && !(is_symbolic<T> || ...)) [[nodiscard]] EDDY_HD
    constexpr auto vec(const T&... x) {
    using Common = std::common_type_t<T...>;
    return Vec<Common, static_cast<int>(sizeof...(T))>{{static_cast<Common>(x)...}};
}

/// Σ x_i, summed from the first component on.
template <class T, int length>
[[nodiscard]] EDDY_HD constexpr T sum(const Vec<T, length>& x) {
    T total = x.data[0];
    static_for<1, length>([&]<int i>() { total = total + x.data[i]; });
    return total;
}

/// Components [first, first + count) of x.
template <int first, int count, class T, int length>
[[nodiscard]] EDDY_HD constexpr Vec<T, count> slice(const Vec<T, length>& x) {
    static_assert(first >= 0 && count > 0 && first + count <= length,
                  "slice: the range reads past the end of the vector");
    Vec<T, count> part{};
    static_for<0, count>([&]<int i>() { part.data[i] = x.data[first + i]; });
    return part;
}

/// The components of a, then those of b.
template <class T, int length_a, int length_b>
[[nodiscard]] EDDY_HD constexpr Vec<T, length_a + length_b> concat(const Vec<T, length_a>& a,
                                                                   const Vec<T, length_b>& b) {
    Vec<T, length_a + length_b> joined{};
    static_for<0, length_a>([&]<int i>() { joined.data[i] = a.data[i]; });
    static_for<0, length_b>([&]<int i>() { joined.data[length_a + i] = b.data[i]; });
    return joined;
}

}  // namespace eddy
