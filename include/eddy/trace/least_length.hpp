#pragma once
// How long a program will be at least, known from its trace before any pass. Each node of a trace takes g++ 12
// some 25 kB to trace and 150 kB until it is a program, so one that will be refused is refused here: 2,000 states of
// the Brusselator on a line are 34,011 nodes, and 15,009 operations in the end.
// Test: tests/trace/node_counts.cpp

#include <algorithm>
#include <eddy/trace/largest_program.hpp>
#include <eddy/trace/passes/cse.hpp>
#include <eddy/trace/passes/dce.hpp>

namespace eddy::inline v0::detail {

/// Operations that no pass takes away: those that an output needs, each counted once, less the products that may
/// become one with a sum.
constexpr int least_length(const Graph& trace) {
    const Graph graph = passes::eliminate_common_subexpressions(trace);
    const List<char> needed =
        passes::cone(graph, passes::output_nodes(graph, 0, graph.outputs.size()));
    int products = 0, sums = 0, others = 0;
    for (int i = 0; i < graph.size(); ++i) {
        if (!needed[static_cast<std::size_t>(i)]) continue;
        const Op op = graph[i].op;
        if (op == Op::mul)
            ++products;
        else if (op == Op::add || op == Op::sub)
            ++sums;
        else if (is_elementwise(op) && op != Op::neg && op != Op::barrier)
            ++others;
    }
    return std::max(products, sums) + others;
}

/// Will this trace be too long a program? Asked of long ones only, because most are far from the limit; those that
/// are longer than anything that compiles are not even counted.
constexpr bool will_be_too_long(const Graph& trace) {
    if (trace.size() <= 2 * largest_program) return false;
    return trace.size() > 8 * largest_program || least_length(trace) > largest_program;
}

}  // namespace eddy::inline v0::detail
