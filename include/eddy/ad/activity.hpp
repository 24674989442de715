#pragma once
// Which nodes depend on the arguments that are differentiated. Everything else is a constant to the
// derivative and gets no adjoint code.
// Test: tests/ad/linearize.cpp, tests/ad/random_derivatives.cpp

#include <eddy/ad/rules/rule.hpp>
#include <eddy/trace/graph.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// Operations that no derivative passes through.
[[nodiscard]] constexpr bool has_derivative(Op op) {
    return !is_mask(op) && !is_locally_constant(op);
}

/// One flag per node: does it depend, differentiably, on an argument with with_respect_to[argument]
/// set?
[[nodiscard]] constexpr List<char> active_nodes(const Graph& graph,
                                                const List<char>& with_respect_to) {
    List<char> active(graph.nodes.size(), 0);
    for (bool is_settled = false; !is_settled;) {  // a loop hands on to its own carry
        is_settled = true;
        for (int i = 0; i < graph.size(); ++i) {
            const Node& node = graph[i];
            if (!has_derivative(node.op)) continue;
            if (node.op == Op::argument)
                active[static_cast<std::size_t>(i)] =
                    with_respect_to[static_cast<std::size_t>(node.index)];
            const int first = node.op == Op::stacked ? 1 : 0;
            const int count = node.op == Op::loop ? 3 : node.count;
            for (int k = first; k < count; ++k) {
                if (active[static_cast<std::size_t>(graph.operand(node, k))])
                    active[static_cast<std::size_t>(i)] = 1;
            }
            if (node.op != Op::loop) continue;
            char& carry = active[static_cast<std::size_t>(graph.operand(node, 0))];
            is_settled = is_settled && carry == active[static_cast<std::size_t>(i)];
            carry = active[static_cast<std::size_t>(i)];
        }
    }
    return active;
}

/// with_respect_to as flags, from a list of argument indices; an empty list means all.
template <int... argument>
[[nodiscard]] constexpr List<char> argument_flags(const Graph& graph) {
    List<char> flags(graph.arguments.size(), sizeof...(argument) == 0);
    ((flags[static_cast<std::size_t>(argument)] = 1), ...);
    return flags;
}

/// Does a program have the arguments that it is to be differentiated by?
template <class P, int... argument>
consteval bool check_arguments() {
    constexpr bool has_all =
        ((argument >= 0 && argument < P::graph.num_arguments()) && ... && true);
    static_assert(has_all,
                  "derivative: the program has no argument of this number; they count from 0, as "
                  "in gradient<0>(program)");
    return has_all;
}

}  // namespace eddy::inline v0::detail
