#pragma once
// Every scalar operation of the DSL, once: a name, a text that runs on traced values, numbers and
// Quads alike, and a domain for its operands. All of them make one program, `all_operations`, whose
// result i is operation i of the arguments (3i, 3i + 1, 3i + 2), so that one evaluation tests them
// all.

#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <tuple>

#include "ad/random.hpp"
#include "support/quad.hpp"

namespace support {

// One overload set for every type of number: those of eddy, and Quad's by argument-dependent
// lookup.
using namespace eddy;
using eddy::lgamma;  // not that of the C library, whose last bits are others

inline constexpr int max_operands = 3;

template <int operands, class F>
struct Operation {
    const char* name;
    F f;
    Interval domain[operands];
    int ulps = 2;  // error of the value that is granted

    static constexpr int arity = operands;
    /// The operation on x[begin], x[begin + 1], …
    constexpr auto operator()(const auto& x, int begin) const {
        if constexpr (operands == 1)
            return f(x[begin]);
        else if constexpr (operands == 2)
            return f(x[begin], x[begin + 1]);
        else
            return f(x[begin], x[begin + 1], x[begin + 2]);
    }
};

template <class F>
constexpr Operation<1, F> unary(const char* name, Interval x, F f, int ulps = 2) {
    return {name, f, {x}, ulps};
}
template <class F>
constexpr Operation<2, F> binary(const char* name, Interval x, Interval y, F f, int ulps = 2) {
    return {name, f, {x, y}, ulps};
}
template <class F>
constexpr Operation<3, F> ternary(const char* name, Interval x, Interval y, Interval z, F f,
                                  int ulps = 2) {
    return {name, f, {x, y, z}, ulps};
}

#define EDDY_UNARY(name, low, high, ...) \
    unary(#name, {low, high}, [](const auto& x) { return name(x); } __VA_OPT__(, ) __VA_ARGS__)
#define EDDY_OPERATOR(symbol) \
    binary(#symbol, {-3, 3}, {0.5, 3}, [](const auto& x, const auto& y) { return x symbol y; })
#define EDDY_COMPARISON(symbol)                 \
    binary("select " #symbol, {-3, 3}, {-3, 3}, \
           [](const auto& x, const auto& y) { return select(x symbol y, x * y, y); })

inline constexpr auto operations = std::tuple(
    EDDY_OPERATOR(+), EDDY_OPERATOR(-), EDDY_OPERATOR(*), EDDY_OPERATOR(/),
    unary("negation", {-3, 3}, [](const auto& x) { return -x; }),
    // Contracted; where the two terms cancel, the rounding of the product is what is left.
    ternary("a*b + c", {0.5, 3}, {0.5, 3}, {0.5, 3},
            [](const auto& a, const auto& b, const auto& c) { return a * b + c; }),
    ternary("a*b - c", {0.5, 3}, {0.5, 3}, {-3, -0.5},
            [](const auto& a, const auto& b, const auto& c) { return a * b - c; }),
    ternary("c - a*b", {0.5, 3}, {0.5, 3}, {-3, -0.5},
            [](const auto& a, const auto& b, const auto& c) { return c - a * b; }),
    ternary("fma", {-3, 3}, {-3, 3}, {-3, 3},
            [](const auto& a, const auto& b, const auto& c) { return fma(a, b, c); }),
    EDDY_UNARY(sqrt, 0.1, 5), EDDY_UNARY(cbrt, -5, -0.1), EDDY_UNARY(exp, -3, 3),
    EDDY_UNARY(expm1, -1, 1), EDDY_UNARY(log, 0.1, 5), EDDY_UNARY(log1p, -0.8, 2),
    EDDY_UNARY(sin, -4, 4), EDDY_UNARY(cos, -4, 4), EDDY_UNARY(tan, -1.2, 1.2),
    EDDY_UNARY(asin, -0.9, 0.9), EDDY_UNARY(acos, -0.9, 0.9), EDDY_UNARY(atan, -3, 3),
    EDDY_UNARY(sinh, -2, 2), EDDY_UNARY(cosh, -2, 2), EDDY_UNARY(tanh, -2, 2),
    EDDY_UNARY(erf, -1.5, 1.5), EDDY_UNARY(abs, -3, 3), EDDY_UNARY(fabs, -3, 3),
    EDDY_UNARY(sign, -3, 3), EDDY_UNARY(floor, -3, 3), EDDY_UNARY(relu, -3, 3),
    EDDY_UNARY(sigmoid, -4, 4, 4), EDDY_UNARY(softplus, -4, 4, 4), EDDY_UNARY(silu, -4, 4, 6),
    // 1 + erf cancels: 40 at the left end.
    EDDY_UNARY(gelu, -2, 4, 60),
    binary("atan2", {-3, 3}, {-3, 3}, [](const auto& y, const auto& x) { return atan2(y, x); }),
    binary("pow", {0.1, 4}, {-3, 3}, [](const auto& x, const auto& y) { return pow(x, y); }),
    unary("pow(x, 2.5)", {0.1, 4}, [](const auto& x) { return pow(x, 2.5); }),
    unary("pow(2, x)", {-3, 3}, [](const auto& x) { return pow(2, x); }),
    // Products one after another, one rounding each.
    unary("pow(x, 0)", {-3, 3}, [](const auto& x) { return pow(x, 0); }),
    unary("pow(x, 2)", {-3, 3}, [](const auto& x) { return pow(x, 2); }),
    unary(
        "pow(x, 7)", {-2, -0.5}, [](const auto& x) { return pow(x, 7); }, 6),
    unary(
        "pow(x, -3)", {0.5, 2}, [](const auto& x) { return pow(x, -3); }, 6),
    binary("min", {-3, 3}, {-3, 3}, [](const auto& x, const auto& y) { return min(x, y); }),
    binary("max", {-3, 3}, {-3, 3}, [](const auto& x, const auto& y) { return max(x, y); }),
    unary("max(0, x)", {-3, 3}, [](const auto& x) { return max(0, x); }),
    ternary("clamp", {-3, 3}, {-2, -0.5}, {0.5, 2},
            [](const auto& x, const auto& low, const auto& high) { return clamp(x, low, high); }),
    EDDY_COMPARISON(<), EDDY_COMPARISON(<=), EDDY_COMPARISON(>), EDDY_COMPARISON(>=),
    EDDY_COMPARISON(==), EDDY_COMPARISON(!=),
    ternary("select && || !", {-3, 3}, {-3, 3}, {-3, 3},
            [](const auto& x, const auto& y, const auto& z) {
                return select((x < y && !(z < x)) || z > 2, x * z, y);
            }),
    EDDY_UNARY(erfc, -2, 3, 4), EDDY_UNARY(erfcx, -2, 6, 5), EDDY_UNARY(log_erfc, -2, 6, 5),
    EDDY_UNARY(lgamma, 0.1, 12, 5), EDDY_UNARY(lgamma, -1.9, -1.1, 5),
    EDDY_UNARY(digamma, 0.1, 12, 5), EDDY_UNARY(digamma, -0.4, -0.1, 8),
    EDDY_UNARY(trigamma, 0.1, 14, 5), EDDY_UNARY(trigamma, -0.9, -0.1, 8),
    unary(
        "polygamma(2, x)", {0.1, 16}, [](const auto& x) { return polygamma(2, x); }, 6));
#undef EDDY_UNARY
#undef EDDY_OPERATOR
#undef EDDY_COMPARISON

inline constexpr int num_operations =
    static_cast<int>(std::tuple_size_v<std::remove_cvref_t<decltype(operations)>>);
inline constexpr int num_inputs = max_operands * num_operations;

struct AllOperations {
    constexpr auto operator()(const auto& x) const {
        return call(x, std::make_integer_sequence<int, num_operations>{});
    }

  private:
    template <int... i>
    static constexpr auto call(const auto& x, std::integer_sequence<int, i...>) {
        return eddy::vec(std::get<i>(operations)(x, max_operands * i)...);
    }
};
inline constexpr auto all_operations = eddy::trace<eddy::Vector<num_inputs>>(AllOperations{});

/// visit.template operator()<i>(operation) for each.
template <class Visit>
void for_each_operation(Visit visit) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        (visit.template operator()<i>(std::get<i>(operations)), ...);
    }
    (std::make_integer_sequence<int, num_operations>{});
}

template <class T>
using Inputs = eddy::Vec<T, num_inputs>;
template <class T>
using Results = eddy::Vec<T, num_operations>;

/// One point of each operation's domain; unused operands are 0.
inline Inputs<double> sample_inputs(Random& random) {
    Inputs<double> x{};
    for_each_operation([&]<int i>(const auto& operation) {
        for (int k = 0; k < operation.arity; ++k)
            x[max_operands * i + k] = random(operation.domain[k]);
    });
    return x;
}
/// Directions and cotangents.
template <class V>
V sample_signs(Random& random) {
    V v{};
    for (auto& component : v) component = random({-1, 1});
    return v;
}

template <class To, class From, int size>
eddy::Vec<To, size> cast(const eddy::Vec<From, size>& x) {
    eddy::Vec<To, size> result{};
    for (int i = 0; i < size; ++i) result[i] = To(static_cast<eddy::ScalarOf<To>>(x[i]));
    return result;
}

}  // namespace support
