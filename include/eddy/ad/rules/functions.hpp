#pragma once
// Rules of the elementwise functions. What happens at the edges of their domains is in
// docs/design/semantics.md.
// Test: tests/ad/operations_first.cpp, tests/ad/operations_second.cpp

#include <eddy/ad/rules/rule.hpp>

namespace eddy::inline v0 {

// Rule of a function of one argument: c · f'(x), in terms of c, the value v = f(x) and x.
#define EDDY_UNARY_RULE(function, expression)                                                    \
    template <>                                                                                  \
    struct Rule<Op::function> {                                                                  \
        static constexpr bool is_linear = false;                                                 \
        template <int k>                                                                         \
        EDDY_HD static constexpr auto action(int, const auto& c, [[maybe_unused]] const auto& v, \
                                             [[maybe_unused]] const auto& x) {                   \
            return expression;                                                                   \
        }                                                                                        \
    };
EDDY_UNARY_RULE(sqrt, c / (2 * v))
EDDY_UNARY_RULE(cbrt, c / (3 * (v * v)))
EDDY_UNARY_RULE(exp, c* v)
EDDY_UNARY_RULE(expm1, c*(v + 1))
EDDY_UNARY_RULE(log, c / x)
EDDY_UNARY_RULE(log1p, c / (1 + x))
EDDY_UNARY_RULE(sin, c* cos(x))
EDDY_UNARY_RULE(cos, -(c* sin(x)))
EDDY_UNARY_RULE(tan, c*(1 + v * v))
EDDY_UNARY_RULE(asin, c / sqrt((1 - x) * (1 + x)))
EDDY_UNARY_RULE(acos, -(c / sqrt((1 - x) * (1 + x))))
EDDY_UNARY_RULE(atan, c / (1 + x * x))
EDDY_UNARY_RULE(sinh, c* cosh(x))
EDDY_UNARY_RULE(cosh, c* sinh(x))
EDDY_UNARY_RULE(tanh, c*(1 - v * v))
EDDY_UNARY_RULE(erf, c*(like(x, 1.12837916709551257390) * exp(-(x * x))))
EDDY_UNARY_RULE(erfc, -(c*(like(x, 1.12837916709551257390) * exp(-(x * x)))))
EDDY_UNARY_RULE(erfcx, c*(2 * (x * v) - like(x, 1.12837916709551257390)))
EDDY_UNARY_RULE(log_erfc, -(c*(like(x, 1.12837916709551257390) / erfcx(x))))
EDDY_UNARY_RULE(lgamma, c* digamma(x))
EDDY_UNARY_RULE(digamma, c* polygamma(1, x))
EDDY_UNARY_RULE(abs, c* sign(x))
EDDY_UNARY_RULE(sigmoid, c*(v*(1 - v)))
EDDY_UNARY_RULE(softplus, c* sigmoid(x))
#undef EDDY_UNARY_RULE

template <>
struct Rule<Op::polygamma> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int n, const auto& c, const auto&, const auto& x) {
        return c * polygamma(n + 1, x);
    }
};

/// x^y. In x: y·x^(y−1), zero for y = 0 whatever x. In y: x^y·log x, zero for x = 0.
template <>
struct Rule<Op::pow> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto& v, const auto& x,
                                         const auto& y) {
        if constexpr (k == 0)
            return c * (y * pow(x, select(y == 0, like(y, 1), y - 1)));
        else
            return c * select(x == 0, like(x, 0), v * log(x));
    }
};

template <>
struct Rule<Op::atan2> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto&, const auto& y,
                                         const auto& x) {
        if constexpr (k == 0)
            return c * (x / (x * x + y * y));
        else
            return -(c * (y / (x * x + y * y)));
    }
};

/// max(a, b) is b where a < b, else a: the derivative goes with the value.
template <>
struct Rule<Op::max> {
    static constexpr int when_true = 1, when_false = 0;
    EDDY_HD static constexpr auto choose(const auto& a, const auto& b) { return a < b; }
};
/// min(a, b) is b where b < a, else a.
template <>
struct Rule<Op::min> {
    static constexpr int when_true = 1, when_false = 0;
    EDDY_HD static constexpr auto choose(const auto& a, const auto& b) { return b < a; }
};
/// The derivative of relu at 0 is 0.
template <>
struct Rule<Op::relu> {
    static constexpr int when_true = 0, when_false = -1;
    EDDY_HD static constexpr auto choose(const auto& x) { return 0 < x; }
};
template <>
struct Rule<Op::select> {
    static constexpr int when_true = 1, when_false = 2;
    EDDY_HD static constexpr auto choose(const auto& mask, const auto&, const auto&) {
        return mask;
    }
};

}  // namespace eddy::inline v0
