#pragma once
// All derivative rules, and the way that leads from an operation known when a pass runs to its
// rule.
// Test: tests/ad/edges.cpp, tests/ad/random_derivatives.cpp

#include <eddy/ad/rules/arithmetic.hpp>
#include <eddy/ad/rules/functions.hpp>
#include <eddy/ad/rules/vector.hpp>
#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::detail {

/// Calls visitor.template visit<op>(node, i) for the op of the node, found by bisection among the
/// operations [first, last). Loops have no rule: who meets one asks first.
template <int first = 0, int last = static_cast<int>(Op::knot) + 1, class Visitor>
constexpr void visit_op(Op op, Visitor& visitor, const Node& node, int i) {
    if constexpr (last - first == 1) {
        visitor.template visit<static_cast<Op>(first)>(node, i);
    } else {
        constexpr int middle = (first + last) / 2;
        if (static_cast<int>(op) < middle) {
            visit_op<first, middle>(op, visitor, node, i);
        } else {
            visit_op<middle, last>(op, visitor, node, i);
        }
    }
}

}  // namespace eddy::inline v0::detail
