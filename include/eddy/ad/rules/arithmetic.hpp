#pragma once
// Rules of the elementwise arithmetic operations.
// Test: tests/ad/operations_first.cpp, tests/ad/operations_second.cpp

#include <eddy/ad/rules/rule.hpp>

namespace eddy::inline v0 {

template <>
struct Rule<Op::add> {
    static constexpr bool is_linear = true;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto&, const auto&,
                                         const auto&) {
        return c;
    }
};

template <>
struct Rule<Op::sub> {
    static constexpr bool is_linear = true;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto&, const auto&,
                                         const auto&) {
        if constexpr (k == 0)
            return c;
        else
            return -c;
    }
};

template <>
struct Rule<Op::neg> {
    static constexpr bool is_linear = true;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto&, const auto&) {
        return -c;
    }
};

template <>
struct Rule<Op::mul> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto&, const auto& a,
                                         const auto& b) {
        if constexpr (k == 0)
            return c * b;
        else
            return c * a;
    }
};

template <>
struct Rule<Op::div> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto& value, const auto&,
                                         const auto& b) {
        if constexpr (k == 0)
            return c / b;
        else
            return -((c / b) * value);
    }
};

/// a·b + c, however it is rounded.
struct MulAddRule {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& cotangent, const auto&, const auto& a,
                                         const auto& b, const auto&) {
        if constexpr (k == 0)
            return cotangent * b;
        else if constexpr (k == 1)
            return cotangent * a;
        else
            return cotangent;
    }
};
template <>
struct Rule<Op::fma> : MulAddRule {};
template <>
struct Rule<Op::mul_add> : MulAddRule {};

template <>
struct Rule<Op::mul_sub> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& cotangent, const auto&, const auto& a,
                                         const auto& b, const auto&) {
        if constexpr (k == 0)
            return cotangent * b;
        else if constexpr (k == 1)
            return cotangent * a;
        else
            return -cotangent;
    }
};

template <>
struct Rule<Op::neg_mul_add> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& cotangent, const auto&, const auto& a,
                                         const auto& b, const auto&) {
        if constexpr (k == 0)
            return -(cotangent * b);
        else if constexpr (k == 1)
            return -(cotangent * a);
        else
            return cotangent;
    }
};

/// x^n for a fixed integer n: n·x^(n−1), zero for n = 0.
template <>
struct Rule<Op::powi> {
    static constexpr bool is_linear = false;
    template <int k>
    EDDY_HD static constexpr auto action(int n, const auto& c, const auto&, const auto& x) {
        return c * (like(x, n) * pow(x, n == 0 ? 0 : n - 1));
    }
};

/// Names and barriers are the identity.
struct IdentityRule {
    static constexpr bool is_linear = true;
    template <int k>
    EDDY_HD static constexpr auto action(int, const auto& c, const auto&, const auto&) {
        return c;
    }
};
template <>
struct Rule<Op::name> : IdentityRule {};
template <>
struct Rule<Op::barrier> : IdentityRule {};

}  // namespace eddy::inline v0
