#include <eddy/trace/passes/fold.hpp>
#include <limits>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::DynamicVector;
using eddy::Graph;
using eddy::Op;
using eddy::Scalar;
using eddy::passes::fold;

namespace {

/// The operation that f(x, y) of scalars ends with when folded.
template <class Function>
Op folded(Function f) {
    return support::result_node(fold(support::raw_trace(f, Scalar{}, Scalar{}))).op;
}

/// The operation that op(a, b) of two constants ends with when folded.
Op folded_constants(Op op, double a, double b) {
    Graph graph;
    const int x = graph.push_constant(a), y = graph.push_constant(b);
    graph.push_output({graph.push({.op = op}, x, y)}, 1, true);
    return support::result_node(fold(graph)).op;
}

/// Slices [offset, offset + size) of f(x) with 6 components, folded.
template <class Function>
Graph folded_slice(Function f, int offset, int size) {
    Graph graph = support::raw_trace(f, DynamicVector{6});
    const int whole = graph.output_node(graph.outputs[0], 0);
    graph.outputs.clear();
    graph.push_output({graph.push({.op = Op::slice, .size = size, .offset = offset}, whole)}, size,
                      false);
    return fold(graph);
}

}  // namespace

TEST_CASE("fold: identities that keep every bit go") {
    CHECK(folded([](auto x, auto) { return x - 0.0; }) == Op::argument);
    CHECK(folded([](auto x, auto) { return x + -0.0; }) == Op::argument);
    CHECK(folded([](auto x, auto) { return -0.0 + x; }) == Op::argument);
    CHECK(folded([](auto x, auto) { return x * 1; }) == Op::argument);
    CHECK(folded([](auto x, auto) { return 1 * x; }) == Op::argument);
    CHECK(folded([](auto x, auto) { return x / 1; }) == Op::argument);
    CHECK(folded([](auto x, auto) { return -(-x); }) == Op::argument);
    CHECK(folded([](auto x, auto) { return pow(x, 1); }) == Op::argument);
    CHECK(folded([](auto x, auto) { return pow(x, 1.0); }) == Op::argument);
    CHECK(folded([](auto x, auto y) { return select(x < y, x, x); }) == Op::argument);
}

TEST_CASE("fold: signs move to where they cost nothing") {
    CHECK(folded([](auto x, auto) { return x * -1; }) == Op::neg);
    CHECK(folded([](auto x, auto) { return -1 * x; }) == Op::neg);
    CHECK(folded([](auto x, auto) { return x / -1; }) == Op::neg);
    CHECK(folded([](auto x, auto y) { return x + -y; }) == Op::sub);
    CHECK(folded([](auto x, auto y) { return -x + y; }) == Op::sub);
    CHECK(folded([](auto x, auto y) { return x - -y; }) == Op::add);
    CHECK(folded([](auto x, auto y) { return -x * -y; }) == Op::mul);
    CHECK(folded([](auto x, auto y) { return -x / -y; }) == Op::div);
    CHECK(folded([](auto x, auto) { return pow(x, 2); }) == Op::mul);
}

TEST_CASE("fold: (-x) + y becomes y - x, not x - y") {
    const Graph graph =
        fold(support::raw_trace([](auto x, auto y) { return -x + y; }, Scalar{}, Scalar{}));

    const eddy::Node node = support::result_node(graph);

    CHECK(graph[graph.operand(node, 0)].index == 1);
    CHECK(graph[graph.operand(node, 1)].index == 0);
}

TEST_CASE("fold: what could change a zero's sign, a NaN or a rounding stays") {
    CHECK(folded([](auto x, auto) { return x + 0.0; }) == Op::add);  // -0 + 0 is +0
    CHECK(folded([](auto x, auto) { return 0.0 + x; }) == Op::add);
    CHECK(folded([](auto x, auto) { return x - -0.0; }) == Op::sub);
    CHECK(folded([](auto x, auto) { return 0.0 - x; }) == Op::sub);  // 0 - 0 is +0, not -0
    CHECK(folded([](auto x, auto) { return x * 0; }) == Op::mul);    // inf * 0 is NaN
    CHECK(folded([](auto x, auto) { return 0 * x; }) == Op::mul);
    CHECK(folded([](auto x, auto) { return 0 / x; }) == Op::div);
    CHECK(folded([](auto x, auto) { return x - x; }) == Op::sub);  // inf - inf is NaN
    CHECK(folded([](auto x, auto) { return x / x; }) == Op::div);
    CHECK(folded([](auto x, auto) { return 1 / x; }) == Op::div);
    CHECK(folded([](auto x, auto) { return x / 3; }) == Op::div);  // not x * (1/3)
    CHECK(folded([](auto x, auto y) { return -x * y; }) == Op::mul);
    CHECK(folded([](auto x, auto) { return pow(x, 0); }) == Op::powi);
    CHECK(folded([](auto x, auto) { return pow(x, 3); }) == Op::powi);
    CHECK(folded([](auto x, auto) { return pow(x, 0.5); }) == Op::pow);  // sqrt(-0) is -0
    CHECK(folded([](auto x, auto) { return pow(x, 2.0); }) == Op::pow);
    CHECK(folded([](auto x, auto) { return log(exp(x)); }) == Op::log);
    CHECK(folded([](auto x, auto) { return min(x, x); }) == Op::min);
    CHECK(folded([](auto x, auto y) { return select(x < y, x, y); }) == Op::select);
}

TEST_CASE("fold: a scalar that is broadcast keeps its operation") {
    const auto op = [](auto f) {
        return support::result_node(fold(support::raw_trace(f, Scalar{}, DynamicVector{3}))).op;
    };

    CHECK(op([](auto s, auto v) { return select(v < 0, s, s); }) == Op::select);
    CHECK(op([](auto s, auto v) { return pow(s, v); }) == Op::pow);
    CHECK(op([](auto, auto v) { return v * 1; }) == Op::argument);
}

TEST_CASE("fold: constants fold where float and double agree") {
    constexpr double infinity = std::numeric_limits<double>::infinity();

    CHECK(folded_constants(Op::add, 2, 3) == Op::constant);
    CHECK(folded_constants(Op::div, 1, 3) == Op::constant);
    CHECK(folded_constants(Op::add, 0.1, 2) == Op::add);           // 0.1 is rounded in float
    CHECK(folded_constants(Op::mul, 16777217, 1.5) == Op::mul);    // 2^24 + 1 too
    CHECK(folded_constants(Op::mul, 1e38, 0) == Op::mul);          // 1e38 too
    CHECK(folded_constants(Op::mul, 0x1p120, 0x1p10) == Op::mul);  // overflows in float
    CHECK(folded_constants(Op::mul, 0x1p-120, 0x1p-10) == Op::mul);
    CHECK(folded_constants(Op::div, 1, 0) == Op::div);
    CHECK(folded_constants(Op::sub, infinity, 1) == Op::sub);
    CHECK(folded_constants(Op::sub, 1, 1) == Op::sub);
}

TEST_CASE("fold: the value of a folded constant is the rounded one") {
    Graph graph;
    const int x = graph.push_constant(1), y = graph.push_constant(3);
    graph.push_output({graph.push({.op = Op::div}, x, y)}, 1, true);

    const Graph after = fold(graph);

    CHECK(after.constant_value(support::result_node(after)) == 1.0 / 3.0);
}

TEST_CASE("fold: the negation of zero is negative zero") {
    Graph graph;
    graph.push_output({graph.push({.op = Op::neg}, graph.push_constant(0))}, 1, true);

    const Graph after = fold(graph);

    CHECK(std::bit_cast<std::uint64_t>(after.constant_value(support::result_node(after))) ==
          std::uint64_t{1} << 63);
}

TEST_CASE("fold: slices look through what they slice") {
    const auto same = [](const auto& x) { return x; };
    const auto sine = [](const auto& x) { return sin(x); };
    const auto tail = [](const auto& x) {
        return eddy::DynamicTraced(
            *x.graph(), x.graph()->push({.op = Op::slice, .size = 4, .offset = 2}, sin(x).node()));
    };
    const auto constant = [](const auto& x) {
        x.graph()->constants = {0, 1, 2, 3, 4, 5};
        return eddy::DynamicTraced(*x.graph(), x.graph()->push({.op = Op::constant, .size = 6}));
    };

    CHECK(support::result_node(folded_slice(same, 2, 3)).op == Op::argument);
    CHECK(support::result_node(folded_slice(same, 2, 3)).offset == 2);
    CHECK(support::result_node(folded_slice(sine, 0, 6)).op == Op::sin);
    CHECK(support::result_node(folded_slice(sine, 2, 3)).op == Op::slice);
    CHECK(support::result_node(folded_slice(tail, 1, 2)).offset == 3);
    CHECK(support::result_node(folded_slice(constant, 4, 2)).op == Op::constant);
    CHECK(support::result_node(folded_slice(constant, 4, 2)).offset == 4);
}

TEST_CASE("fold: a slice within one part of a concatenation is that of the part") {
    Graph graph = support::raw_trace([](const auto& x) { return sin(x); }, DynamicVector{3});
    const int sine = graph.output_node(graph.outputs[0], 0);
    const int joined = graph.push({.op = Op::concat, .size = 6}, 0, sine);
    graph.outputs.clear();
    graph.push_output({graph.push({.op = Op::slice, .size = 3, .offset = 3}, joined)}, 3, false);
    graph.push_output({graph.push({.op = Op::slice, .size = 1, .offset = 4}, joined)}, 1, false);
    graph.push_output({graph.push({.op = Op::slice, .size = 2, .offset = 2}, joined)}, 2, false);

    const Graph after = fold(graph);

    const auto output = [&](std::size_t k) {
        return after[after.output_node(after.outputs[k], 0)];
    };
    CHECK(output(0).op == Op::sin);
    CHECK(output(1).op == Op::slice);
    CHECK(output(1).offset == 1);
    CHECK(output(2).op == Op::slice);  // across parts
    CHECK(after[after.operand(output(2), 0)].op == Op::concat);
}
