#include <eddy/trace/passes/contract.hpp>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::DynamicVector;
using eddy::Graph;
using eddy::Op;
using eddy::Scalar;
using eddy::passes::contract;

namespace {

template <class Function>
Graph contracted(Function f) {
    return contract(support::raw_trace(f, Scalar{}, Scalar{}, Scalar{}));
}
template <class Function>
Op contracted_op(Function f) {
    return support::result_node(contracted(f)).op;
}

/// The arguments that the last operation reads, in order.
template <class Function>
std::vector<int> contracted_operands(Function f) {
    const Graph graph = contracted(f);
    const eddy::Node node = support::result_node(graph);
    std::vector<int> arguments;
    for (int k = 0; k < node.count; ++k) arguments.push_back(graph[graph.operand(node, k)].index);
    return arguments;
}

}  // namespace

TEST_CASE("contract: a product with one use joins the addition or subtraction that uses it") {
    CHECK(contracted_op([](auto a, auto b, auto c) { return a * b + c; }) == Op::mul_add);
    CHECK(contracted_op([](auto a, auto b, auto c) { return c + a * b; }) == Op::mul_add);
    CHECK(contracted_op([](auto a, auto b, auto c) { return a * b - c; }) == Op::mul_sub);
    CHECK(contracted_op([](auto a, auto b, auto c) { return c - a * b; }) == Op::neg_mul_add);
}

TEST_CASE("contract: the operands are the factors, then the other term") {
    const std::vector<int> expected{0, 1, 2};

    CHECK(contracted_operands([](auto a, auto b, auto c) { return a * b + c; }) == expected);
    CHECK(contracted_operands([](auto a, auto b, auto c) { return c + a * b; }) == expected);
    CHECK(contracted_operands([](auto a, auto b, auto c) { return a * b - c; }) == expected);
    CHECK(contracted_operands([](auto a, auto b, auto c) { return c - a * b; }) == expected);
}

TEST_CASE("contract: of two products the first is contracted, the other stays") {
    const Graph graph = contracted([](auto a, auto b, auto c) { return a * b + b * c; });

    CHECK(support::result_node(graph).op == Op::mul_add);
    CHECK(graph.size() == 5);
}

TEST_CASE("contract: a product with another use keeps its own rounding") {
    CHECK(contracted_op([](auto a, auto b, auto c) {
              const auto product = a * b;
              return eddy::vec(product, product + c);
          }) == Op::add);
    CHECK(contracted_op([](auto a, auto b, auto) {
              const auto product = a * b;
              return product + product;
          }) == Op::add);
    CHECK(contracted_op([](auto a, auto b, auto c) {
              const auto product = a * b;
              return product * (product + c);
          }) == Op::mul);
}

TEST_CASE("contract: quotients, sums and names are no products") {
    CHECK(contracted_op([](auto a, auto b, auto c) { return a / b + c; }) == Op::add);
    CHECK(contracted_op([](auto a, auto b, auto c) { return a + b + c; }) == Op::add);
    CHECK(contracted_op([](auto a, auto b, auto c) {
              return checkpoint_name(a * b, "product") + c;
          }) == Op::add);
    CHECK(contracted_op([](auto a, auto b, auto c) { return -(a * b) * c; }) == Op::mul);
}

TEST_CASE("contract: frozen nodes stay as they are") {
    const Graph graph = support::raw_trace([](auto a, auto b, auto c) { return a * b + c; },
                                           Scalar{}, Scalar{}, Scalar{});
    std::vector<char> product_is_frozen(graph.nodes.size(), 0), sum_is_frozen = product_is_frozen;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        product_is_frozen[i] = graph.nodes[i].op == Op::mul;
        sum_is_frozen[i] = graph.nodes[i].op == Op::add;
    }

    CHECK(support::result_node(contract(graph, product_is_frozen)).op == Op::add);
    CHECK(support::result_node(contract(graph, sum_is_frozen)).op == Op::add);
}

TEST_CASE("contract: a scalar product joins a sum of vectors") {
    const Graph graph = contract(support::raw_trace(
        [](auto a, auto b, auto v) { return a * b + v; }, Scalar{}, Scalar{}, DynamicVector{3}));

    CHECK(support::result_node(graph).op == Op::mul_add);
    CHECK(support::result_node(graph).size == 3);
    CHECK(graph.size() == 4);
}
