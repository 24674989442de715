#pragma once
// Evaluation of products with matrices: row by row, each a sum of its own.
// Test: tests/trace/random_functions.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::detail {

/// The first product of a row of `dense`, the bias added where there is one.
template <int i, class Values>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr typename Values::Number first_term(const Values& values,
                                                                               int row) {
    using Code = typename Values::Code;
    constexpr Node node = Code::code.nodes[i];
    constexpr int w = Code::code.operands[node.first], x = Code::code.operands[node.first + 1],
                  columns = Code::code.nodes[x].size;
    if constexpr (node.count == 3) {
        constexpr int bias = Code::code.operands[node.first + 2];
        return mul_add(values.template load<w>(row * columns), values.template load<x>(0),
                       values.template load<bias>(row));
    } else {
        return values.template load<w>(row * columns) * values.template load<x>(0);
    }
}

template <int i, class Values>
EDDY_INLINE EDDY_HD constexpr void evaluate_dense(Values& values) {
    using Code = typename Values::Code;
    constexpr Node node = Code::code.nodes[i];
    constexpr int w = Code::code.operands[node.first], x = Code::code.operands[node.first + 1],
                  columns = Code::code.nodes[x].size;
    for_components<node.size>([&](int row) EDDY_INLINE {
        typename Values::Number total = first_term<i>(values, row);
        for_components<columns - 1>([&](int c) EDDY_INLINE {
            total = mul_add(values.template load<w>(row * columns + c + 1),
                            values.template load<x>(c + 1), total);
        });
        values.template store<i>(row, total);
    });
}

template <int i, class Values>
EDDY_INLINE EDDY_HD constexpr void evaluate_dense_transposed(Values& values) {
    using Code = typename Values::Code;
    constexpr Node node = Code::code.nodes[i];
    constexpr int w = Code::code.operands[node.first],
                  cotangent = Code::code.operands[node.first + 1],
                  rows = Code::code.nodes[cotangent].size, columns = node.size;
    for_components<columns>([&](int column) EDDY_INLINE {
        typename Values::Number total =
            values.template load<w>(column) * values.template load<cotangent>(0);
        for_components<rows - 1>([&](int r) EDDY_INLINE {
            total = mul_add(values.template load<w>((r + 1) * columns + column),
                            values.template load<cotangent>(r + 1), total);
        });
        values.template store<i>(column, total);
    });
}

}  // namespace eddy::inline v0::detail
