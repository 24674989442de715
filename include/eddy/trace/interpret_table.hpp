#pragma once
// What the interpreter computes of tables, lane by lane.
// Test: tests/trace/interpolate.cpp

#include <cstdint>
#include <eddy/trace/graph.hpp>
#include <eddy/trace/tables.hpp>

namespace eddy::inline v0::detail {

/// Node i, one of is_table_op, from views of its operands; store(value) takes value(component, lane).
template <Op op, class View, class Store>
void interpret_table(const Graph& graph, int i, View view, Store store) {
    const Node& node = graph[i];
    const int length = graph[graph.operand(node, 0)].size;
    const auto x = view(0), place = view(1);
    using Real = std::remove_cvref_t<decltype(x(0, 0))>;
    if constexpr (op == Op::knot) {
        store([&](int, std::int64_t lane) {
            return convert<Real>(knots_below(primal(place(0, lane)), length, node.index == 1,
                                             [&](int k, int) { return primal(x(k, lane)); }));
        });
    } else if constexpr (op == Op::at) {
        store([&](int c, std::int64_t lane) {
            const int at = place_of(primal(place(0, lane)), length, node.size) + c;
            return 0 <= at && at < length
                       ? x(at, lane)
                       : convert<Real>(std::numeric_limits<ScalarOf<Real>>::quiet_NaN());
        });
    } else {
        const auto added = view(2);
        const int size = graph[graph.operand(node, 2)].size;
        store([&](int c, std::int64_t lane) {
            const int from = c - place_of(primal(place(0, lane)), length, size);
            return 0 <= from && from < size ? x(c, lane) + added(from, lane) : x(c, lane);
        });
    }
}

}  // namespace eddy::inline v0::detail
