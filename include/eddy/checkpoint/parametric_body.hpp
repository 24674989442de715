#pragma once
// A Differentiable whose further inputs are the same in every step of a loop: it keeps them, and
// sums their cotangents over the steps.

#include <eddy/ad/cotangent.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// Body as a function of x alone, given its parameters.
template <class Body, class X, class... Parameters>
class ParametricBody {
  public:
    using Value = std::remove_cvref_t<decltype(std::declval<const Body&>()(
        std::declval<const X&>(), std::declval<const Parameters&>()...))>;

    explicit ParametricBody(Body body, Parameters... parameters)
        : body_(std::move(body)), parameters_(std::move(parameters)...) {}

    [[nodiscard]] Value operator()(const X& x) const {
        return std::apply([&](const Parameters&... p) { return body_(x, p...); }, parameters_);
    }

    /// The cotangent of x; those of the parameters are added to their sums.
    [[nodiscard]] X pullback(const X& x, const Value& cotangent) {
        Pulled pulled = std::apply(
            [&](const Parameters&... p) { return body_.linearize(x, p...).pullback(cotangent); },
            parameters_);
        if constexpr (sizeof...(Parameters) == 0) {
            return pulled;
        } else {
            sums_.add(tail(pulled));
            return std::get<0>(std::move(pulled));
        }
    }

    /// `first` as it is where there are no parameters, else a std::tuple of it and the parameters'
    /// cotangents.
    template <class First>
    [[nodiscard]] auto with_parameter_cotangents(First first) const {
        if constexpr (sizeof...(Parameters) == 0) {
            return first;
        } else {
            return std::tuple_cat(
                std::tuple<First>(std::move(first)),
                std::apply([&](const Parameters&... p) { return sums_.total(p...); }, parameters_));
        }
    }

  private:
    using Pulled =
        decltype(std::declval<const Body&>()
                     .linearize(std::declval<const X&>(), std::declval<const Parameters&>()...)
                     .pullback(std::declval<const Value&>()));
    Body body_;
    std::tuple<Parameters...> parameters_;
    typename SumOfRest<std::conditional_t<sizeof...(Parameters) == 0, void, Pulled>>::type sums_;
};

}  // namespace eddy::inline v0::detail
