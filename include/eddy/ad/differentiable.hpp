#pragma once
// The algebra of differentiation: a Differentiable has a value and a pullback. Traced programs,
// loops and scans are Differentiables, so they compose and nest. `linearize(x)` evaluates once and
// keeps what the way back needs.
// Test: tests/ad/linearize.cpp, tests/checkpoint/while_loop.cpp

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// What `linearize` returns: a `value` and `pullback(cotangent of the value) -> cotangent of the
/// input`. A pullback may consume what was kept: call it once per linearization. Where the pullback
/// does not read `value`, a linearization may offer `take_value()`, which moves it out: compositions
/// then hold each state once.
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

template <class Recipe>
struct Program;
template <class P, class Policy, int... argument>
struct DifferentiableProgram;

namespace detail {

struct EverythingSaveable;

/// The function itself, or a traced program as a Differentiable that keeps whatever is read.
template <class F>
[[nodiscard]] constexpr F as_differentiable(F f) {
    return f;
}
template <class Recipe>
[[nodiscard]] constexpr auto as_differentiable(const Program<Recipe>&) {
    return DifferentiableProgram<Program<Recipe>, EverythingSaveable>{};
}

/// The value of a linearization, moved out where its pullback can do without.
template <class L>
[[nodiscard]] constexpr auto take_value(L& linearization) {
    if constexpr (requires { linearization.take_value(); }) {
        return linearization.take_value();
    } else {
        return linearization.value;
    }
}

/// The pullback at x where the value is not asked for: by `f.pullback_at(cotangent, x...)` where f has
/// it, which need not evaluate to the end.
template <class F, class Cotangent, class... Inputs>
[[nodiscard]] constexpr auto pull_back_at(const F& f, const Cotangent& cotangent, Inputs&&... x) {
    if constexpr (requires { f.pullback_at(cotangent, std::forward<Inputs>(x)...); }) {
        return f.pullback_at(cotangent, std::forward<Inputs>(x)...);
    } else {
        return f.linearize(std::forward<Inputs>(x)...).pullback(cotangent);
    }
}

template <class Outer, class Inner, class Value>
struct ComposedLinearization {
    Outer outer;
    Inner inner;
    Value value;

    template <class Cotangent>
    auto pullback(const Cotangent& cotangent) {
        return inner.pullback(outer.pullback(cotangent));
    }
    Value take_value() { return std::move(value); }
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

    /// Moves what is passed by rvalue, and each value to the function that takes it.
    template <class... Inputs>
    auto linearize(Inputs&&... x) const {
        auto first = inner.linearize(std::forward<Inputs>(x)...);
        auto second = outer.linearize(detail::take_value(first));
        auto value = detail::take_value(second);
        return detail::ComposedLinearization<decltype(second), decltype(first), decltype(value)>{
            std::move(second), std::move(first), std::move(value)};
    }

    /// The same pullback without the value: the last function is not evaluated where its own
    /// pullback does not need that.
    template <class Cotangent, class... Inputs>
    auto pullback_at(const Cotangent& cotangent, Inputs&&... x) const {
        auto first = inner.linearize(std::forward<Inputs>(x)...);
        return first.pullback(detail::pull_back_at(outer, cotangent, detail::take_value(first)));
    }
};

/// Composes differentiable functions, the last applied first: `compose(h, g, f)(x) = h(g(f(x)))`.
/// Traced programs are taken as they are.
template <class F>
[[nodiscard]] constexpr auto compose(F f) {
    return detail::as_differentiable(std::move(f));
}
template <class Outer, class... Rest>
[[nodiscard]] constexpr auto compose(Outer outer, Rest... rest) {
    auto inner = compose(std::move(rest)...);
    auto last = detail::as_differentiable(std::move(outer));
    return Composition<decltype(last), decltype(inner)>{std::move(last), std::move(inner)};
}

}  // namespace eddy::inline v0
