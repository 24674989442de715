#pragma once
// Evaluation of roots and linear systems. A root has its value; what says its derivative is
// computed for numbers that have a tangent only, and those compute without tangents what leads to the
// value.
// Test: tests/ad/root.cpp

#include <eddy/trace/arguments.hpp>
#include <eddy/trace/solve_linear.hpp>

namespace eddy::inline v0::detail {

template <class Code>
[[nodiscard]] constexpr bool has_root(const Code& code) {
    for (int i = 0; i < Code::size(); ++i) {
        if (code.nodes[i].op == Op::root) return true;
    }
    return false;
}

/// One flag per node: is it computed? All are where there is no root.
template <class Code>
[[nodiscard]] constexpr Varying<Code> computed_nodes(const Code& code, bool has_tangents) {
    Varying<Code> computed{};
    const bool computes_all = has_tangents || !has_root(code);
    for (int i = 0; computes_all && i < Code::size(); ++i) computed.node[i] = true;
    if (computes_all) return computed;
    for (int o = 0; o < Code::num_outputs(); ++o) {
        for (int k = 0; k < code.outputs[o].count; ++k)
            computed.node[code.operands[code.outputs[o].first + k]] = true;
    }
    for (int i = Code::size() - 1; i >= 0; --i) {
        const Node& node = code.nodes[i];
        const int count = node.op == Op::root ? 1 : node.count;
        for (int k = 0; computed.node[i] && k < count; ++k)
            computed.node[code.operands[node.first + k]] = true;
    }
    return computed;
}

/// Of nodes that vary, leaves out those whose tangent nothing reads: the iteration to a root.
template <class Code>
[[nodiscard]] constexpr Varying<Code> read_tangents(const Code& code, Varying<Code> varying) {
    if (!has_root(code)) return varying;
    Varying<Code> read{};
    for (int o = 0; o < Code::num_outputs(); ++o) {
        for (int k = 0; k < code.outputs[o].count; ++k)
            read.node[code.operands[code.outputs[o].first + k]] = true;
    }
    for (int i = Code::size() - 1; i >= 0; --i) {
        const Node& node = code.nodes[i];
        if (!read.node[i] || is_mask(node.op) || is_locally_constant(node.op)) continue;
        for (int k = 0; k < node.count; ++k) {
            if (node.op != Op::root || k == 2) read.node[code.operands[node.first + k]] = true;
        }
    }
    for (int i = 0; i < Code::size(); ++i) varying.node[i] = varying.node[i] && read.node[i];
    return varying;
}

/// Node i, a root or the solution of a linear system.
template <int i, class Values>
EDDY_INLINE EDDY_HD constexpr void evaluate_solution(Values& values) {
    using Real = typename Values::Number;
    using Code = typename Values::Code;
    constexpr Node node = Code::code.nodes[i];
    constexpr int n = node.size, a = Code::code.operands[node.first],
                  last = Code::code.operands[node.first + node.count - 1];
    if constexpr (node.op == Op::root && std::is_same_v<Real, PrimalOf<Real>>) {
        for_components<n>([&](int k) EDDY_INLINE {
            values.template store<i>(k, convert<Real>(values.template load<a>(k)));
        });
    } else if constexpr (node.op == Op::root) {  // ẋ = −J⁻¹ ṙ
        using Tangent = typename Real::value_type;
        constexpr bool is_plain = std::is_same_v<Tangent, PrimalOf<Real>>;
        static_assert(
            is_plain,
            "root: dual numbers of dual numbers do not pass through a root; differentiate "
            "the program by vjp or jvp first");
        constexpr int r = Code::code.operands[node.first + 2];
        if constexpr (is_plain) {
            solve_linear<n, Tangent>(
                [&](int row, int column)
                    EDDY_INLINE { return primal(values.template load<last>(row * n + column)); },
                [&](int row)
                    EDDY_INLINE { return -convert<Real>(values.template load<r>(row)).tangent; },
                [&](int row, const Tangent& x) EDDY_INLINE {
                    values.template store<i>(row, Real(primal(values.template load<a>(row)), x));
                });
        }
    } else if constexpr (is_bounds<Real>) {
        for_components<n>([&](int k) EDDY_INLINE { values.template store<i>(k, Real::line()); });
    } else {
        constexpr bool transposed = node.op == Op::solve_transposed;
        solve_linear<n, Real>(
            [&](int row, int column) EDDY_INLINE {
                return values.template load<a>(transposed ? column * n + row : row * n + column);
            },
            [&](int row) EDDY_INLINE { return values.template load<last>(row); },
            [&](int row, const Real& x) EDDY_INLINE { values.template store<i>(row, x); });
    }
}

}  // namespace eddy::inline v0::detail
