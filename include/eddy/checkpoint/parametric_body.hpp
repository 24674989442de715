#pragma once
// A Differentiable whose further inputs are the same in every step of a loop: it keeps them, and
// sums their cotangents over the steps.
// Test: tests/checkpoint/parameters.cpp, tests/checkpoint/sequence.cpp

#include <cstdint>
#include <eddy/ad/cotangent.hpp>
#include <eddy/ad/differentiable.hpp>
#include <eddy/core/bytes_of.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

struct NothingKept {};

/// The residuals of a program's step, with its first argument where the pullback reads that.
template <class Residuals, class X, bool reads_x>
struct KeptOfProgram {
    [[no_unique_address]] Residuals residuals;
    [[no_unique_address]] std::conditional_t<reads_x, X, NothingKept> x;

    static constexpr bool has_argument = reads_x;
    static constexpr std::int64_t fixed_bytes =
        fixed_bytes_of<Residuals, std::conditional_t<reads_x, X, NothingKept>>();

    template <class Argument>
    KeptOfProgram(Argument&& argument, Residuals kept)
        : residuals(std::move(kept)), x(keep(std::forward<Argument>(argument))) {}
    [[nodiscard]] std::int64_t kept_bytes() const { return bytes_of(residuals) + bytes_of(x); }
    [[nodiscard]] decltype(auto) argument() const {
        if constexpr (reads_x) {
            return static_cast<const X&>(x);
        } else if constexpr (std::is_default_constructible_v<X>) {
            return X{};
        } else {
            return NothingKept{};
        }
    }
    /// A hint that it is read next.
    void will_read() const requires(requires(const Residuals& kept) { kept.will_read(); }) {
        residuals.will_read();
    }

  private:
    template <class Argument>
    static auto keep(Argument&& argument) {
        if constexpr (reads_x) {
            return X(std::forward<Argument>(argument));
        } else {
            return NothingKept{};
        }
    }
};

/// Body as a function of x alone, given its parameters.
template <class Body, class X, class... Parameters>
class ParametricBody {
  public:
    using Input = X;
    using Value = std::remove_cvref_t<decltype(std::declval<const Body&>()(
        std::declval<const X&>(), std::declval<const Parameters&>()...))>;

    explicit ParametricBody(Body body, Parameters... parameters)
        : body_(std::move(body)), parameters_(std::move(parameters)...) {}

    [[nodiscard]] Value operator()(const X& x) const {
        return std::apply([&](const Parameters&... p) { return body_(x, p...); }, parameters_);
    }

    /// The cotangent of x; those of the parameters are added to their sums. `observe` sees the value.
    template <class Observer>
    [[nodiscard]] X pullback(const X& x, const Value& cotangent, const Observer& observe) {
        if constexpr (requires { Body::passes_hooks; }) {  // those of the loop, not of this step
            auto [value, kept] = record(x);
            observe(std::as_const(value));
            return pull_recorded(kept, cotangent);
        } else {
            return collect(std::apply(
                [&](const Parameters&... p) {
                    auto linearization = body_.linearize(x, p...);
                    observe(std::as_const(linearization.value));
                    return linearization.pullback(cotangent);
                },
                parameters_));
        }
    }
    [[nodiscard]] X pullback(const X& x, const Value& cotangent) {
        if constexpr (requires { Body::passes_hooks; }) {
            return pullback(x, cotangent, [](const Value&) {});
        } else {
            return collect(std::apply(
                [&](const Parameters&... p) {
                    return body_.linearize(x, p...).pullback(cotangent);
                },
                parameters_));
        }
    }

    /// The same where nobody asks for the value.
    [[nodiscard]] X pullback_at(const X& x, const Value& cotangent) {
        if constexpr (requires { Body::passes_hooks; }) {
            return pullback(x, cotangent);
        } else {
            return collect(std::apply(
                [&](const Parameters&... p) { return pull_back_at(body_, cotangent, x, p...); },
                parameters_));
        }
    }

    /// The value, and what the pullback of this step reads: of a program x, if need be, and its
    /// residuals; of another Differentiable its linearization. An x that is passed by rvalue is moved.
    template <class Given>
    [[nodiscard]] auto record(Given&& x) const {
        return std::apply(
            [&](const Parameters&... p) {
                if constexpr (requires { body_.record(x, p...); }) {
                    auto [value, residuals] = body_.record(x, p...);
                    using Kept = KeptOfProgram<decltype(residuals), X, Body::reads(0)>;
                    return std::pair{std::move(value),
                                     Kept(std::forward<Given>(x), std::move(residuals))};
                } else {
                    auto linearization = body_.linearize(std::forward<Given>(x), p...);
                    auto value = take_value(linearization);
                    return std::pair{std::move(value), std::move(linearization)};
                }
            },
            parameters_);
    }
    template <class Kept>
    [[nodiscard]] X pull_recorded(Kept& kept, const Value& cotangent) {
        if constexpr (requires { kept.argument(); }) {
            return collect(std::apply(
                [&](const Parameters&... p) {
                    return body_.pull_recorded(kept.residuals, cotangent, kept.argument(), p...);
                },
                parameters_));
        } else {
            return collect(kept.pullback(cotangent));
        }
    }

    /// `first` as it is where there are no parameters, else a std::tuple of it and the parameters'
    /// cotangents.
    template <class First>
    [[nodiscard]] auto with_parameter_cotangents(First first) const {
        if constexpr (sizeof...(Parameters) == 0) {
            return first;
        } else {
            return std::tuple_cat(std::tuple<First>(std::move(first)), parameter_cotangents());
        }
    }
    /// A std::tuple of the parameters' cotangents.
    [[nodiscard]] auto parameter_cotangents() const {
        if constexpr (sizeof...(Parameters) == 0) {
            return std::tuple<>();
        } else {
            return std::apply([&](const Parameters&... p) { return sums_.total(p...); },
                              parameters_);
        }
    }

  private:
    using Pulled =
        decltype(std::declval<const Body&>()
                     .linearize(std::declval<const X&>(), std::declval<const Parameters&>()...)
                     .pullback(std::declval<const Value&>()));
    [[nodiscard]] X collect(Pulled pulled) {
        if constexpr (sizeof...(Parameters) == 0) {
            return pulled;
        } else {
            sums_.add(tail(pulled));
            return std::get<0>(std::move(pulled));
        }
    }

    Body body_;
    std::tuple<Parameters...> parameters_;
    typename SumOfRest<std::conditional_t<sizeof...(Parameters) == 0, void, Pulled>>::type sums_;
};

}  // namespace eddy::inline v0::detail
