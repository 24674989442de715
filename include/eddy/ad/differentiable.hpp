#pragma once
// The algebra of differentiation: a Differentiable has a value and a pullback. Traced programs,
// loops and scans are Differentiables, so they compose and nest. `linearize(x)` evaluates once and
// keeps what the way back needs.

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// What `linearize` returns: a `value` and `pullback(cotangent of the value) -> cotangent of the
/// input`. A pullback may consume what was kept: call it once per linearization.
template <class L>
concept Linearization = requires(L linearization) {
    linearization.value;
    linearization.pullback(linearization.value);
};

/// `f(x...)` is the value, `f.linearize(x...)` the value with its pullback, which returns the
/// cotangent of a single input as it is, those of several as a std::tuple. Cotangents have the type
/// of what they belong to.
template <class F, class... Inputs>
concept Differentiable = requires(const F& f, const Inputs&... x) {
    f(x...);
    { f.linearize(x...) } -> Linearization;
};

namespace detail {

template <class Outer, class Inner>
struct ComposedLinearization {
    Outer outer;
    Inner inner;
    std::remove_cvref_t<decltype(std::declval<Outer&>().value)> value = outer.value;

    template <class Cotangent>
    auto pullback(const Cotangent& cotangent) {
        return inner.pullback(outer.pullback(cotangent));
    }
};

}  // namespace detail

/// x... -> outer(inner(x...)), differentiable when both are.
template <class Outer, class Inner>
struct Composition {
    Outer outer;
    Inner inner;

    template <class... Inputs>
    auto operator()(const Inputs&... x) const {
        return outer(inner(x...));
    }

    template <class... Inputs>
    auto linearize(const Inputs&... x) const {
        auto first = inner.linearize(x...);
        auto second = outer.linearize(first.value);
        return detail::ComposedLinearization<decltype(second), decltype(first)>{std::move(second),
                                                                                std::move(first)};
    }
};

/// Composes differentiable functions, the last applied first: `compose(h, g, f)(x) = h(g(f(x)))`.
template <class F>
[[nodiscard]] constexpr F compose(F f) {
    return f;
}
template <class Outer, class... Rest>
[[nodiscard]] constexpr auto compose(Outer outer, Rest... rest) {
    auto inner = compose(std::move(rest)...);
    return Composition<Outer, decltype(inner)>{std::move(outer), std::move(inner)};
}

}  // namespace eddy::inline v0
