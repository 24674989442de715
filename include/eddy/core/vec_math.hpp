#pragma once
// The functions of the DSL on Vecs, so that an equation runs on plain numbers as it is traced:
// elementwise mathematics, comparisons and select, and the reductions. Invariant: each computes
// what a program of the same function computes, in the same order (trace/evaluate.hpp).
// Test: tests/core/vec_math.cpp

#include <eddy/core/logistic.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/mixed_math.hpp>
#include <eddy/core/special.hpp>
#include <eddy/core/vec.hpp>

namespace eddy::inline v0 {

// One overload per elementwise function of one argument.
#define EDDY_VEC_FUNCTION(function)                                          \
    template <class T, int length>                                           \
    [[nodiscard]] EDDY_HD constexpr auto function(const Vec<T, length>& x) { \
        return map([](const auto& c) { return function(c); }, x);            \
    }
EDDY_VEC_FUNCTION(sqrt)
EDDY_VEC_FUNCTION(cbrt)
EDDY_VEC_FUNCTION(exp)
EDDY_VEC_FUNCTION(expm1)
EDDY_VEC_FUNCTION(log)
EDDY_VEC_FUNCTION(log1p)
EDDY_VEC_FUNCTION(sin)
EDDY_VEC_FUNCTION(cos)
EDDY_VEC_FUNCTION(tan)
EDDY_VEC_FUNCTION(asin)
EDDY_VEC_FUNCTION(acos)
EDDY_VEC_FUNCTION(atan)
EDDY_VEC_FUNCTION(sinh)
EDDY_VEC_FUNCTION(cosh)
EDDY_VEC_FUNCTION(tanh)
EDDY_VEC_FUNCTION(erf)
EDDY_VEC_FUNCTION(erfc)
EDDY_VEC_FUNCTION(erfcx)
EDDY_VEC_FUNCTION(log_erfc)
EDDY_VEC_FUNCTION(lgamma)
EDDY_VEC_FUNCTION(digamma)
EDDY_VEC_FUNCTION(abs)
EDDY_VEC_FUNCTION(fabs)
EDDY_VEC_FUNCTION(sign)
EDDY_VEC_FUNCTION(floor)
EDDY_VEC_FUNCTION(sigmoid)
EDDY_VEC_FUNCTION(softplus)
EDDY_VEC_FUNCTION(relu)
EDDY_VEC_FUNCTION(silu)
EDDY_VEC_FUNCTION(gelu)
EDDY_VEC_FUNCTION(stop_gradient)
#undef EDDY_VEC_FUNCTION

template <class T, int length>
[[nodiscard]] EDDY_HD constexpr auto polygamma(int n, const Vec<T, length>& x) {
    return map([n](const auto& c) { return polygamma(n, c); }, x);
}

// One overload per elementwise function of two arguments, Vecs or scalars.
#define EDDY_VEC_FUNCTION(function)                                                    \
    template <class A, class B>                                                        \
    requires detail::ElementwiseVecs<A, B>                                             \
    [[nodiscard]] EDDY_HD constexpr auto function(const A& a, const B& b) {            \
        return map([](const auto& x, const auto& y) { return function(x, y); }, a, b); \
    }
EDDY_VEC_FUNCTION(atan2)
EDDY_VEC_FUNCTION(min)
EDDY_VEC_FUNCTION(max)
#undef EDDY_VEC_FUNCTION

/// Componentwise powers; an int exponent stays one.
template <class A, class B>
requires detail::ElementwiseVecs<A, B>
[[nodiscard]] EDDY_HD constexpr auto pow(const A& x, const B& y) {
    if constexpr (std::is_same_v<B, int>) {
        return map([y](const auto& c) { return pow(c, y); }, x);
    } else {
        return map([](const auto& c, const auto& e) { return pow(c, e); }, x, y);
    }
}

// One overload per comparison; the result is a Vec of masks. Vecs are compared for equality as a
// whole (core/vec.hpp), a Vec and a scalar component by component.
#define EDDY_VEC_COMPARISON(operation)                                                \
    template <class A, class B>                                                       \
    requires detail::ElementwiseVecs<A, B>                                            \
    [[nodiscard]] EDDY_HD constexpr auto operator operation(const A& a, const B& b) { \
        return map([](const auto& x, const auto& y) { return x operation y; }, a, b); \
    }
EDDY_VEC_COMPARISON(<)
EDDY_VEC_COMPARISON(<=)
EDDY_VEC_COMPARISON(>)
EDDY_VEC_COMPARISON(>=)
#undef EDDY_VEC_COMPARISON

template <class T, int length, class B>
requires detail::VecPartner<B>
[[nodiscard]] EDDY_HD constexpr auto operator==(const Vec<T, length>& a, const B& b) {
    return map([](const auto& x, const auto& y) { return x == y; }, a, b);
}
template <class T, int length, class B>
requires detail::VecPartner<B>
[[nodiscard]] EDDY_HD constexpr auto operator!=(const Vec<T, length>& a, const B& b) {
    return map([](const auto& x, const auto& y) { return x != y; }, a, b);
}

template <class Mask, int length>
[[nodiscard]] EDDY_HD constexpr auto operator&&(const Vec<Mask, length>& a,
                                                const Vec<Mask, length>& b) {
    return map([](const auto& x, const auto& y) { return Mask(x & y); }, a, b);
}
template <class Mask, int length>
[[nodiscard]] EDDY_HD constexpr auto operator||(const Vec<Mask, length>& a,
                                                const Vec<Mask, length>& b) {
    return map([](const auto& x, const auto& y) { return Mask(x | y); }, a, b);
}
template <class Mask, int length>
[[nodiscard]] EDDY_HD constexpr auto operator!(const Vec<Mask, length>& a) {
    return map([](const auto& x) { return !x; }, a);
}

// One overload per elementwise function of three arguments, Vecs or scalars.
#define EDDY_VEC_FUNCTION(function)                                                               \
    template <class A, class B, class C>                                                          \
    requires detail::ElementwiseVecs<A, B, C>                                                     \
    [[nodiscard]] EDDY_HD constexpr auto function(const A& a, const B& b, const C& c) {           \
        return map([](const auto& x, const auto& y, const auto& z) { return function(x, y, z); }, \
                   a, b, c);                                                                      \
    }
EDDY_VEC_FUNCTION(fma)
EDDY_VEC_FUNCTION(clamp)
EDDY_VEC_FUNCTION(select)
#undef EDDY_VEC_FUNCTION

// `using std::max; max(x, y)` on Vecs of one type: std::max would be the better match, and compare
// what cannot be compared as a whole.
template <class T, int length>
[[nodiscard]] EDDY_HD constexpr auto min(const Vec<T, length>& a, const Vec<T, length>& b) {
    return map([](const auto& x, const auto& y) { return min(x, y); }, a, b);
}
template <class T, int length>
[[nodiscard]] EDDY_HD constexpr auto max(const Vec<T, length>& a, const Vec<T, length>& b) {
    return map([](const auto& x, const auto& y) { return max(x, y); }, a, b);
}

/// Σ x_i, summed from the first component on.
template <class T, int length>
requires(!is_symbolic<T>) [[nodiscard]] EDDY_HD constexpr T sum(const Vec<T, length>& x) {
    T total = x.data[0];
    for_components<length - 1>([&](int i) { total = total + x.data[i + 1]; });
    return total;
}

/// Σ a_i·b_i, summed from the first component on with fused multiply-adds.
template <class A, class B, int length>
requires(!is_symbolic<A> && !is_symbolic<B>) [[nodiscard]] EDDY_HD
    constexpr auto dot(const Vec<A, length>& a, const Vec<B, length>& b) {
    auto total = a.data[0] * b.data[0];
    for_components<length - 1>(
        [&](int i) { total = mul_add(a.data[i + 1], b.data[i + 1], total); });
    return total;
}

/// √(Σ x_i²). The tangent of a dual number's norm at x = 0 is zero.
template <class T, int length>
requires(!is_symbolic<T>) [[nodiscard]] EDDY_HD constexpr auto norm(const Vec<T, length>& x) {
    return root_of_squares(dot(x, x));
}

/// W x + b. The weights have rows·columns components, row-major. Row i is summed onto b[i] from the
/// first column on, with fused multiply-adds.
template <class W, int length, class B, int rows, class X, int columns>
requires(!is_symbolic<W> && !is_symbolic<B> && !is_symbolic<X>) [[nodiscard]] EDDY_HD
    constexpr auto dense(const Vec<W, length>& weights, const Vec<B, rows>& bias,
                         const Vec<X, columns>& x) {
    static_assert(length == rows * columns,
                  "dense: the weights must have |b| times |x| components, row-major");
    using Real = RichestOf<W, B, X>;
    Vec<Real, rows> result{};
    // A loop even over short rows: unrolled, a wide layer would be a program of its own size.
    for (int row = 0; row < rows; ++row) {
        Real total = bias[row];
        for (int c = 0; c < columns; ++c) total = mul_add(weights[row * columns + c], x[c], total);
        result[row] = total;
    }
    return result;
}

}  // namespace eddy::inline v0
