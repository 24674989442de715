#pragma once
// All derivative rules, and the way that leads from an operation known when a pass runs to its
// rule.
// Test: tests/ad/edges.cpp, tests/ad/random_derivatives.cpp

#include <eddy/ad/rules/arithmetic.hpp>
#include <eddy/ad/rules/functions.hpp>
#include <eddy/ad/rules/vector.hpp>
#include <eddy/trace/graph.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// Calls visitor.template visit<op>(node, i) for the op of the node. One function asks for each in turn:
/// bisection would make as many functions again as there are operations. Loops have no rule: who meets
/// one asks first.
template <class Visitor>
constexpr void visit_op(Op op, Visitor& visitor, const Node& node, int i) {
    [&]<int... number>(std::integer_sequence<int, number...>) {
        (void)((op == static_cast<Op>(number) &&
                (visitor.template visit<static_cast<Op>(number)>(node, i), true)) ||
               ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(Op::knot) + 1>{});
}

}  // namespace eddy::inline v0::detail
