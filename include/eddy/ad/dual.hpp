#pragma once
// Dual numbers: a value and its tangent, pushed forward through every function of the DSL by the
// rules of ad/rules/, the same texts that reverse and forward mode use on graphs. Dual<Dual<T>>
// holds second derivatives, Dual<Pack> one direction for each lane. A plain number beside a dual
// one has no tangent: it costs nothing and its derivative is never asked for, so pow(x, 2.0) at x <
// 0 or sqrt(p) at p = 0 make no NaN. Comparisons compare values; min, max, relu and select pick the
// tangent with the value.
// Test: tests/ad/dual.cpp, tests/ad/edges.cpp

#include <eddy/ad/rules/all.hpp>
#include <eddy/core/float_float.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/trace/apply.hpp>

namespace eddy::inline v0 {

template <class T>
struct Dual;

namespace detail {

template <class T>
inline constexpr bool is_dual = false;
template <class T>
inline constexpr bool is_dual<Dual<T>> = true;

template <class T>
concept Number = std::is_arithmetic_v<T> ||(richness<T> > 0);

/// A scalar that Dual<T> holds as a value without tangent.
template <class Lower, class T>
concept PlainBeside = std::is_arithmetic_v<Lower> || std::is_same_v<Lower, FloatFloat> ||
    (richness<Lower> > 0 && richness<Lower> <= richness<T>);

}  // namespace detail

/// A number `value` with its derivative `tangent`, for forward mode.
template <class T>
struct Dual {
    T value;
    T tangent;

    using value_type = T;
    Dual() = default;
    EDDY_HD constexpr Dual(const T& value_, const T& tangent_) : value(value_), tangent(tangent_) {}
    /// A constant: its tangent is zero.
    template <detail::PlainBeside<T> Plain>
    EDDY_HD constexpr Dual(const Plain& constant)
        : value(convert<T>(constant)), tangent(convert<T>(0)) {}

    template <class Other>
    EDDY_HD constexpr Dual& operator+=(const Other& other) {
        return *this = *this + other;
    }
    template <class Other>
    EDDY_HD constexpr Dual& operator-=(const Other& other) {
        return *this = *this - other;
    }
    template <class Other>
    EDDY_HD constexpr Dual& operator*=(const Other& other) {
        return *this = *this * other;
    }
    template <class Other>
    EDDY_HD constexpr Dual& operator/=(const Other& other) {
        return *this = *this / other;
    }
};

template <class T>
struct ScalarType<Dual<T>> {
    using type = ScalarOf<T>;
};
template <class T>
struct PrimalType<Dual<T>> {
    using type = PrimalOf<T>;
};
/// Two above its values, so that a dual number of scalars is richer than a pack.
template <class T>
inline constexpr int richness<Dual<T>> = richness<T> + 2;

namespace detail {

template <class... T>
concept DualCall = (is_dual<T> || ...) && (Number<T> && ...);

/// x without the tangent that it has as a Real = Dual<T>; a plain number as a number of that
/// precision.
template <class Real, class X>
[[nodiscard]] EDDY_HD constexpr auto value_in(const X& x) {
    if constexpr (std::is_same_v<X, Real>) {
        return x.value;
    } else if constexpr (std::is_arithmetic_v<X>) {
        return convert<PrimalOf<Real>>(x);
    } else {
        return x;
    }
}

template <class Real, class X>
[[nodiscard]] EDDY_HD constexpr auto tangent_in(const X& x) {
    if constexpr (std::is_same_v<X, Real>) {
        return x.tangent;
    } else {
        return convert<typename Real::value_type>(0);
    }
}

/// The tangent of an operand that has none.
struct NoTangent {};
template <class T>
[[nodiscard]] EDDY_HD constexpr T operator+(NoTangent, const T& tangent) {
    return tangent;
}
template <class T>
requires(!std::is_same_v<T, NoTangent>) [[nodiscard]] EDDY_HD constexpr T operator+(
    const T& tangent, NoTangent) {
    return tangent;
}

/// What operand k contributes to the tangent of the result.
template <class Real, Op op, int k, class X, class... Values>
[[nodiscard]] EDDY_HD constexpr auto contribution(int index, const X& operand,
                                                  const typename Real::value_type& result,
                                                  const Values&... values) {
    if constexpr (std::is_same_v<X, Real>) {
        return Rule<op>::template action<k>(index, operand.tangent, result, values...);
    } else {
        return NoTangent{};
    }
}

template <class Real, Op op, int... k, class... X>
[[nodiscard]] EDDY_HD constexpr Real with_tangent(std::integer_sequence<int, k...>, int index,
                                                  const typename Real::value_type& result,
                                                  const X&... x) {
    return {result, (contribution<Real, op, k>(index, x, result, value_in<Real>(x)...) + ...)};
}

/// The result of an operation with a Rule: its value by `apply`, its tangent by the rule.
template <Op op, class... X>
[[nodiscard]] EDDY_HD constexpr auto dual_apply(const X&... x) {
    using Real = RichestOf<X...>;
    return with_tangent<Real, op>(std::make_integer_sequence<int, static_cast<int>(sizeof...(X))>{},
                                  0, apply<op>(value_in<Real>(x)...), x...);
}

/// The result of an operation that picks one of its operands, tangent and all.
template <Op op, class A, class B>
[[nodiscard]] EDDY_HD constexpr auto dual_choose(const A& a, const B& b) {
    using Real = RichestOf<A, B>;
    static_assert(Rule<op>::when_true == 1 && Rule<op>::when_false == 0);
    const auto value_a = value_in<Real>(a);
    const auto value_b = value_in<Real>(b);
    return Real(apply<op>(value_a, value_b), select(Rule<op>::choose(value_a, value_b),
                                                    tangent_in<Real>(b), tangent_in<Real>(a)));
}

/// The result of an operation whose derivative is zero everywhere.
template <Op op, class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> dual_constant(const Dual<T>& x) {
    return Dual<T>(apply<op>(x.value));
}

}  // namespace detail

#define EDDY_DUAL_OPERATOR(op, operation)                                             \
    template <class A, class B>                                                       \
    requires detail::DualCall<A, B>                                                   \
    [[nodiscard]] EDDY_HD constexpr auto operator operation(const A& a, const B& b) { \
        return detail::dual_apply<Op::op>(a, b);                                      \
    }
EDDY_DUAL_OPERATOR(add, +)
EDDY_DUAL_OPERATOR(sub, -)
EDDY_DUAL_OPERATOR(mul, *)
EDDY_DUAL_OPERATOR(div, /)
#undef EDDY_DUAL_OPERATOR

template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> operator-(const Dual<T>& x) {
    return detail::dual_apply<Op::neg>(x);
}
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> operator+(const Dual<T>& x) {
    return x;
}

#define EDDY_DUAL_COMPARISON(operation)                                               \
    template <class A, class B>                                                       \
    requires detail::DualCall<A, B>                                                   \
    [[nodiscard]] EDDY_HD constexpr auto operator operation(const A& a, const B& b) { \
        using Real = RichestOf<A, B>;                                                 \
        return detail::value_in<Real>(a) operation detail::value_in<Real>(b);         \
    }
EDDY_DUAL_COMPARISON(<)
EDDY_DUAL_COMPARISON(<=)
EDDY_DUAL_COMPARISON(>)
EDDY_DUAL_COMPARISON(>=)
EDDY_DUAL_COMPARISON(==)
EDDY_DUAL_COMPARISON(!=)
#undef EDDY_DUAL_COMPARISON

#define EDDY_DUAL_FUNCTION(function)                                     \
    template <class T>                                                   \
    [[nodiscard]] EDDY_HD constexpr Dual<T> function(const Dual<T>& x) { \
        return detail::dual_apply<Op::function>(x);                      \
    }
EDDY_DUAL_FUNCTION(sqrt)
EDDY_DUAL_FUNCTION(cbrt)
EDDY_DUAL_FUNCTION(exp)
EDDY_DUAL_FUNCTION(expm1)
EDDY_DUAL_FUNCTION(log)
EDDY_DUAL_FUNCTION(log1p)
EDDY_DUAL_FUNCTION(sin)
EDDY_DUAL_FUNCTION(cos)
EDDY_DUAL_FUNCTION(tan)
EDDY_DUAL_FUNCTION(asin)
EDDY_DUAL_FUNCTION(acos)
EDDY_DUAL_FUNCTION(atan)
EDDY_DUAL_FUNCTION(sinh)
EDDY_DUAL_FUNCTION(cosh)
EDDY_DUAL_FUNCTION(tanh)
EDDY_DUAL_FUNCTION(erf)
EDDY_DUAL_FUNCTION(erfc)
EDDY_DUAL_FUNCTION(erfcx)
EDDY_DUAL_FUNCTION(log_erfc)
EDDY_DUAL_FUNCTION(lgamma)
EDDY_DUAL_FUNCTION(digamma)
EDDY_DUAL_FUNCTION(abs)
EDDY_DUAL_FUNCTION(sigmoid)
EDDY_DUAL_FUNCTION(softplus)
#undef EDDY_DUAL_FUNCTION

template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> fabs(const Dual<T>& x) {
    return abs(x);
}
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> sign(const Dual<T>& x) {
    return detail::dual_constant<Op::sign>(x);
}
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> floor(const Dual<T>& x) {
    return detail::dual_constant<Op::floor>(x);
}
/// The value of x, as a constant.
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> stop_gradient(const Dual<T>& x) {
    return detail::dual_constant<Op::stop_gradient>(x);
}
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> relu(const Dual<T>& x) {
    return {apply<Op::relu>(x.value),
            select(Rule<Op::relu>::choose(x.value), x.tangent, convert<T>(0))};
}
/// √s of a sum of squares, whose tangent at 0 is 0 (the rule of norm).
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> root_of_squares(const Dual<T>& s) {
    const Dual<T> root = sqrt(s);
    return {root.value, select(root.value == 0, convert<T>(0), root.tangent)};
}

#define EDDY_DUAL_FUNCTION(function, derive)                                \
    template <class A, class B>                                             \
    requires detail::DualCall<A, B>                                         \
    [[nodiscard]] EDDY_HD constexpr auto function(const A& a, const B& b) { \
        return detail::derive<Op::function>(a, b);                          \
    }
EDDY_DUAL_FUNCTION(atan2, dual_apply)
EDDY_DUAL_FUNCTION(min, dual_choose)
EDDY_DUAL_FUNCTION(max, dual_choose)
#undef EDDY_DUAL_FUNCTION

// `using std::max; max(x, y)` on two of one type: std::max would be the better match, and branch.
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> min(const Dual<T>& a, const Dual<T>& b) {
    return detail::dual_choose<Op::min>(a, b);
}
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> max(const Dual<T>& a, const Dual<T>& b) {
    return detail::dual_choose<Op::max>(a, b);
}

/// x to an integer power.
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> pow(const Dual<T>& x, std::same_as<int> auto exponent) {
    const T result = pow(x.value, exponent);
    return {result, Rule<Op::powi>::template action<0>(exponent, x.tangent, result, x.value)};
}
/// The derivative of order n ≥ 1 of digamma.
template <class T>
[[nodiscard]] EDDY_HD constexpr Dual<T> polygamma(int n, const Dual<T>& x) {
    const T result = polygamma(n, x.value);
    return {result, Rule<Op::polygamma>::template action<0>(n, x.tangent, result, x.value)};
}
/// x to a real power.
template <class A, class B>
requires(detail::DualCall<A, B> && !std::is_same_v<B, int>) [[nodiscard]] EDDY_HD
    constexpr auto pow(const A& x, const B& y) {
    return detail::dual_apply<Op::pow>(x, y);
}

template <class A, class B, class C>
requires detail::DualCall<A, B, C>
[[nodiscard]] EDDY_HD constexpr auto fma(const A& a, const B& b, const C& c) {
    return detail::dual_apply<Op::fma>(a, b, c);
}
template <class A, class B, class C>
requires detail::DualCall<A, B, C>
[[nodiscard]] EDDY_HD constexpr auto mul_add(const A& a, const B& b, const C& c) {
    return detail::dual_apply<Op::mul_add>(a, b, c);
}
template <class X, class Low, class High>
requires detail::DualCall<X, Low, High>
[[nodiscard]] EDDY_HD constexpr auto clamp(const X& x, const Low& low, const High& high) {
    return min(max(x, low), high);
}
/// `a` where the mask holds, else `b`, each with its tangent.
template <class MaskType, class A, class B>
requires(detail::DualCall<A, B> && !is_vec<MaskType>) [[nodiscard]] EDDY_HD
    constexpr auto select(const MaskType& mask, const A& a, const B& b) {
    using Real = RichestOf<A, B>;
    using T = typename Real::value_type;
    return Real(
        select(mask, convert<T>(detail::value_in<Real>(a)), convert<T>(detail::value_in<Real>(b))),
        select(mask, detail::tangent_in<Real>(a), detail::tangent_in<Real>(b)));
}

}  // namespace eddy::inline v0
