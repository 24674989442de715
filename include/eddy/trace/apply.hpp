#pragma once
// What each elementwise operation computes: the one text behind compile-time programs and the
// interpreter, for every scalar type (float, double, packs, duals).
// Test: tests/trace/trace_graph.cpp, tests/ad/edges.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/logistic.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/special.hpp>
#include <eddy/trace/op.hpp>

namespace eddy::inline v0 {

/// The value of a unary operation; `index` is the exponent of powi, the order of polygamma.
template <Op op, int index = 0, class A>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto apply(const A& a) {
    if constexpr (op == Op::neg)
        return -a;
    else if constexpr (op == Op::powi)
        return pow(a, index);
    else if constexpr (op == Op::mask_not)
        return !a;
    else if constexpr (op == Op::stop_gradient)
        return stop_gradient(a);
    else if constexpr (op == Op::name || op == Op::own || op == Op::barrier)
        return a;
    else if constexpr (op == Op::sqrt)
        return sqrt(a);
    else if constexpr (op == Op::cbrt)
        return cbrt(a);
    else if constexpr (op == Op::exp)
        return exp(a);
    else if constexpr (op == Op::expm1)
        return expm1(a);
    else if constexpr (op == Op::log)
        return log(a);
    else if constexpr (op == Op::log1p)
        return log1p(a);
    else if constexpr (op == Op::sin)
        return sin(a);
    else if constexpr (op == Op::cos)
        return cos(a);
    else if constexpr (op == Op::tan)
        return tan(a);
    else if constexpr (op == Op::asin)
        return asin(a);
    else if constexpr (op == Op::acos)
        return acos(a);
    else if constexpr (op == Op::atan)
        return atan(a);
    else if constexpr (op == Op::sinh)
        return sinh(a);
    else if constexpr (op == Op::cosh)
        return cosh(a);
    else if constexpr (op == Op::tanh)
        return tanh(a);
    else if constexpr (op == Op::erf)
        return erf(a);
    else if constexpr (op == Op::erfc)
        return erfc(a);
    else if constexpr (op == Op::erfcx)
        return erfcx(a);
    else if constexpr (op == Op::log_erfc)
        return log_erfc(a);
    else if constexpr (op == Op::lgamma)
        return lgamma(a);
    else if constexpr (op == Op::digamma)
        return digamma(a);
    else if constexpr (op == Op::polygamma)
        return polygamma(index, a);
    else if constexpr (op == Op::abs)
        return abs(a);
    else if constexpr (op == Op::sign)
        return sign(a);
    else if constexpr (op == Op::floor)
        return floor(a);
    else if constexpr (op == Op::sigmoid)
        return sigmoid(a);
    else if constexpr (op == Op::softplus)
        return softplus(a);
    else if constexpr (op == Op::relu)
        return relu(a);
    else
        static_assert(op == Op::neg, "apply: not a unary operation");
}

/// The value of a binary operation.
template <Op op, int index = 0, class A, class B>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto apply(const A& a, const B& b) {
    if constexpr (op == Op::add)
        return a + b;
    else if constexpr (op == Op::sub)
        return a - b;
    else if constexpr (op == Op::mul)
        return a * b;
    else if constexpr (op == Op::div)
        return a / b;
    else if constexpr (op == Op::pow)
        return pow(a, b);
    else if constexpr (op == Op::atan2)
        return atan2(a, b);
    else if constexpr (op == Op::min)
        return min(a, b);
    else if constexpr (op == Op::max)
        return max(a, b);
    else if constexpr (op == Op::less)
        return a < b;
    else if constexpr (op == Op::less_equal)
        return a <= b;
    else if constexpr (op == Op::equal)
        return a == b;
    else if constexpr (op == Op::mask_and)
        return a & b;
    else if constexpr (op == Op::mask_or)
        return a | b;
    else
        static_assert(op == Op::add, "apply: not a binary operation");
}

/// The value of a ternary operation. neg_mul_add(a, b, c) is c − a·b.
template <Op op, int index = 0, class A, class B, class C>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto apply(const A& a, const B& b, const C& c) {
    if constexpr (op == Op::fma)
        return fma(a, b, c);
    else if constexpr (op == Op::mul_add)
        return mul_add(a, b, c);
    else if constexpr (op == Op::mul_sub && fma_is_fast)
        return mul_add(a, b, -c);
    else if constexpr (op == Op::mul_sub)
        return a * b - c;
    else if constexpr (op == Op::neg_mul_add && fma_is_fast)
        return mul_add(-a, b, c);
    else if constexpr (op == Op::neg_mul_add)
        return c - a * b;
    else if constexpr (op == Op::select)
        return select(a, b, c);
    else
        static_assert(op == Op::fma, "apply: not a ternary operation");
}

}  // namespace eddy::inline v0
