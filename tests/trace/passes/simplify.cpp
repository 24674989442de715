// Dead code, names, and the passes one after another.

#include <eddy/trace/passes/simplify.hpp>
#include <eddy/trace/passes/strip.hpp>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::DynamicVector;
using eddy::Graph;
using eddy::Op;
using eddy::Scalar;

TEST_CASE("dce: nodes that no output needs go, arguments of the call stay") {
    const Graph graph = support::raw_trace(
        [](auto x, auto y) {
            (void)(sin(y) * cos(x));
            return exp(x);
        },
        Scalar{}, Scalar{});

    const Graph after = eddy::passes::eliminate_dead_code(graph);

    REQUIRE(after.size() == 2);
    CHECK(after[0].op == Op::argument);
    CHECK(after[1].op == Op::exp);
    CHECK(after.arguments.size() == 2);
}

TEST_CASE("dce: the order of the nodes that stay is kept") {
    const Graph graph = support::raw_trace(
        [](auto x) {
            const auto first = sin(x);
            (void)tan(x);
            const auto second = cos(x);
            return second * first;
        },
        Scalar{});

    const Graph after = eddy::passes::eliminate_dead_code(graph);

    REQUIRE(after.size() == 4);
    CHECK(after[1].op == Op::sin);
    CHECK(after[2].op == Op::cos);
}

TEST_CASE("strip: names go, what they name stays") {
    const Graph graph = support::raw_trace(
        [](auto x) { return checkpoint_name(sin(checkpoint_name(x, "x")), "sine"); }, Scalar{});

    const Graph after = eddy::passes::strip_annotations(graph);

    CHECK(eddy::passes::has_annotations(graph));
    CHECK_FALSE(eddy::passes::has_annotations(after));
    REQUIRE(after.size() == 2);
    CHECK(support::result_node(after).op == Op::sin);
}

TEST_CASE("simplify: passes run until none finds anything") {
    // Two signs go, then two more; then both sines are one node.
    const Graph graph =
        support::raw_trace([](auto x) { return sin(-(-(-(-x)))) / sin(x); }, Scalar{});

    const Graph after = eddy::passes::simplify(graph);

    REQUIRE(after.size() == 3);
    CHECK(after.operand(2, 0) == after.operand(2, 1));
}

TEST_CASE("simplify: names, barriers and outputs survive") {
    Graph graph =
        support::raw_trace([](auto x) { return checkpoint_name(x, "x"); }, DynamicVector{3});
    const int named = graph.output_node(graph.outputs[0], 0);
    graph.push_output({graph.push({.op = Op::barrier, .size = 3}, named)}, 3, false);
    graph.push_output({named, named}, 6, false);

    const Graph after = eddy::passes::simplify(graph);

    CHECK(after.size() == 3);
    REQUIRE(after.outputs.size() == 3);
    CHECK(after.outputs[2].size == 6);
    CHECK(after.outputs[2].count == 2);
}
