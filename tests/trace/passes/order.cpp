#include <eddy/trace/passes/order.hpp>
#include <eddy/trace/print.hpp>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::Graph;
using eddy::Scalar;
using eddy::passes::order_canonically;

TEST_CASE("order: the same expression traced in another order is the same graph, node by node") {
    const Graph left_first = support::raw_trace(
        [](auto x, auto y) {
            const auto a = sin(x), b = cos(y);
            return a * b;
        },
        Scalar{}, Scalar{});
    const Graph right_first = support::raw_trace(
        [](auto x, auto y) {
            const auto b = cos(y), a = sin(x);
            return a * b;
        },
        Scalar{}, Scalar{});

    CHECK(to_text(left_first) != to_text(right_first));
    CHECK(to_text(order_canonically(left_first)) == to_text(order_canonically(right_first)));
}

TEST_CASE("order: operands come before their readers, and what nobody reads is gone") {
    const Graph graph = order_canonically(support::raw_trace(
        [](auto x, auto y) {
            const auto unused = exp(y);
            (void)unused;
            return x * x - y;
        },
        Scalar{}, Scalar{}));

    CHECK(graph.size() == 4);  // x, x·x, y, the difference
    for (int i = 0; i < graph.size(); ++i) {
        for (int k = 0; k < graph[i].count; ++k) CHECK(graph.operand(i, k) < i);
    }
}

TEST_CASE("order: a chain far deeper than the stack of calls would bear") {
    const Graph graph = order_canonically(support::raw_trace(
        [](auto x, auto) {
            for (int i = 0; i < 100000; ++i) x = x * x;
            return x;
        },
        Scalar{}, Scalar{}));

    CHECK(graph.size() == 100001);
}
