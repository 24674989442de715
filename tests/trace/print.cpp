#include <eddy/trace/field.hpp>
#include <eddy/trace/print.hpp>

#include <iostream>
#include <sstream>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::DynamicVector;
using eddy::Graph;
using eddy::Op;
using eddy::Scalar;
using eddy::to_text;

namespace {

struct Decay {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(0.5 * y[1], t - p[0]);
    }
};

constexpr const char* decay_text =
    "program of t, y : 2, p : 1\n"
    "%0 = argument t\n"
    "%1 = constant 0.5\n"
    "%2 = argument y[1]\n"
    "%3 = mul %1 %2\n"
    "%4 = argument p[0]\n"
    "%5 = sub %0 %4\n"
    "result %3 %5 : 2\n";

/// The graph of Decay, its nodes in the order in which they are written.
Graph decay() {
    Graph graph;
    graph.arguments = {{1, true}, {2, false}, {1, false}};
    const int t = graph.push_argument(0, 0, 1), half = graph.push_constant(0.5);
    const int y1 = graph.push_argument(1, 1, 1), first = graph.push({.op = Op::mul}, half, y1);
    const int p = graph.push_argument(2, 0, 1), second = graph.push({.op = Op::sub}, t, p);
    graph.push_output({first, second}, 2, false);
    return graph;
}

}  // namespace

TEST_CASE("print: one line per node, with named arguments") {
    CHECK(to_text(decay(), {"t", "y", "p"}) == decay_text);
}

TEST_CASE("print: arguments without a name are numbered") {
    CHECK(to_text(decay(), {"t"}).find("program of t, x1 : 2, x2 : 1\n") == 0);
    CHECK(to_text(decay()).find("%2 = argument x1[1]\n") != std::string::npos);
}

TEST_CASE("print: vectors show lengths, nodes show what the operands do not say") {
    Graph graph;
    graph.arguments = {{12, false}, {1, true}};
    graph.names = {"layer"};
    const int x = graph.push_argument(0, 0, 12), part = graph.push_argument(0, 2, 3);
    const int sine = graph.push({.op = Op::sin, .size = 12}, x);
    const int piece = graph.push({.op = Op::slice, .size = 3, .offset = 4}, sine);
    const int cube = graph.push({.op = Op::powi, .size = 3, .index = -3}, piece);
    const int second = graph.push({.op = Op::polygamma, .size = 3, .index = 2}, cube);
    const int named = graph.push({.op = Op::name, .size = 3}, second);
    graph.constants = {1, -0.0, 1e-300};
    const int numbers = graph.push({.op = Op::constant, .size = 3});
    const int zeros = graph.push_zeros(9);
    graph.regions.push_back({});
    graph.current_region = 1;
    const int dot = graph.push({.op = Op::dot}, named, numbers);
    graph.push_output({dot}, 1, true);
    graph.push_output({part, zeros}, 12, false);

    CHECK(to_text(graph, {"w", "s"}) ==
          "program of w : 12, s\n"
          "%0 = argument w : 12\n"
          "%1 = argument w[2:5] : 3\n"
          "%2 = sin %0 : 12\n"
          "%3 = slice [4:7] %2 : 3\n"
          "%4 = powi -3 %3 : 3\n"
          "%5 = polygamma 2 %4 : 3\n"
          "%6 = name \"layer\" %5 : 3\n"
          "%7 = constant (1, -0, 1e-300) : 3\n"
          "%8 = constant (0, 0, 0, 0, 0, 0, 0, 0, ...) : 9\n"
          "%9 = dot %6 %7  (region 1)\n"
          "result %9\n"
          "result %1 %8 : 12\n");
}

TEST_CASE("print: a compile-time program prints its graph, to standard output") {
    constexpr auto program = eddy::trace_field(Decay{});
    std::ostringstream captured;
    std::streambuf* const standard = std::cout.rdbuf(captured.rdbuf());

    eddy::print(program, {"t", "y", "p"});
    std::cout.rdbuf(standard);

    CHECK(captured.str() == to_text(program.graph.thaw(), {"t", "y", "p"}));
    CHECK(to_text(program).find("result") != std::string::npos);
}
