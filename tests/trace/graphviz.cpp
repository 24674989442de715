#include <cstdio>
#include <cstdlib>
#include <eddy/trace/field.hpp>
#include <eddy/trace/graphviz.hpp>
#include <fstream>

#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/message_of.hpp"

using eddy::Graph;
using eddy::Op;
using eddy::to_graphviz;
using support::mentions;

namespace {

/// y[0] - sin(y[1]) "quoted" in region 2, which lies in region 1.
Graph nested_regions() {
    Graph graph;
    graph.arguments = {{2, false}};
    graph.names = {"a \"b\" \\"};
    graph.regions.push_back({.parent = 0});
    graph.regions.push_back({.parent = 1});
    const int a = graph.push_argument(0, 0, 1), b = graph.push_argument(0, 1, 1);
    graph.current_region = 2;
    const int sine = graph.push({.op = Op::sin}, b);
    graph.current_region = 1;
    const int difference = graph.push({.op = Op::sub}, a, sine);
    graph.current_region = 0;
    graph.push_output({graph.push({.op = Op::name}, difference), a}, 2, false);
    return graph;
}

int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Does Graphviz take the text? True where there is no Graphviz to ask.
bool dot_accepts(const std::string& text) {
    if (std::system("dot -V > /dev/null 2>&1") != 0) return true;
    const char* path = "graphviz_test.dot";
    std::ofstream(path) << text;
    const bool accepted = std::system("dot -Tsvg graphviz_test.dot > /dev/null") == 0;
    std::remove(path);
    return accepted;
}

}  // namespace

TEST_CASE("graphviz: every node, operand and result is drawn") {
    const std::string text = to_graphviz(nested_regions(), {"y"});

    CHECK(mentions(text, "n0 [label=\"%0 argument y[0]\", shape=ellipse"));
    CHECK(mentions(text, "n2 [label=\"%2 sin\""));
    CHECK(mentions(text, "n1 -> n2;"));
    CHECK(mentions(text, "n0 -> n3 [label=\"0\"];"));  // the order of a subtraction matters
    CHECK(mentions(text, "n2 -> n3 [label=\"1\"];"));
    CHECK(mentions(text, "result0 [label=\"result 0 : 2\""));
    CHECK(mentions(text, "n4 -> result0 [label=\"[0]\"];"));
    CHECK(mentions(text, "n0 -> result0 [label=\"[1]\"];"));
}

TEST_CASE("graphviz: regions are boxes, one in the other") {
    const std::string text = to_graphviz(nested_regions());

    const std::size_t outer = text.find("cluster_1"), inner = text.find("cluster_2"),
                      sine = text.find("%2 sin"), difference = text.find("%3 sub");
    REQUIRE(inner != std::string::npos);
    CHECK(outer < difference);
    CHECK(outer < inner);
    CHECK(inner < sine);
    CHECK(count(text, "{") == count(text, "}"));
}

TEST_CASE("graphviz: quotes in names are escaped") {
    CHECK(mentions(to_graphviz(nested_regions()), R"(label="%4 name \"a \"b\" \\\"")"));
}

TEST_CASE("graphviz: dot draws regions and programs") {
    const std::string lorenz = to_graphviz(eddy::trace_field(support::Lorenz{}), {"t", "y", "p"});

    CHECK(count(lorenz, " [label=\"%") == eddy::FieldProgram<support::Lorenz>::graph.size());
    CHECK(dot_accepts(lorenz));
    CHECK(dot_accepts(to_graphviz(nested_regions())));
}
