#include <eddy/trace/passes/cse.hpp>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::DynamicVector;
using eddy::Graph;
using eddy::Op;
using eddy::Scalar;
using eddy::passes::eliminate_common_subexpressions;

namespace {

/// How many nodes of f(x, y), of two scalars, are merged.
template <class Function>
int num_merged(Function f) {
    const Graph graph = support::raw_trace(f, Scalar{}, Scalar{});
    return graph.size() - eliminate_common_subexpressions(graph).size();
}

}  // namespace

TEST_CASE("cse: the same operation on the same operands is one node") {
    CHECK(num_merged([](auto x, auto y) { return sin(x * y) + sin(x * y); }) == 2);
    CHECK(num_merged([](auto x, auto y) { return atan2(x, y) / atan2(x, y); }) == 1);
    CHECK(num_merged([](auto x, auto y) { return select(x < y, x, y) - select(x < y, x, y); }) ==
          2);
    CHECK(num_merged([](auto x, auto) { return pow(x, 3) + pow(x, 3); }) == 1);
}

TEST_CASE("cse: operands of commutative operations compare in either order") {
    CHECK(num_merged([](auto x, auto y) { return (x + y) / (y + x); }) == 1);
    CHECK(num_merged([](auto x, auto y) { return (x * y) / (y * x); }) == 1);
    CHECK(num_merged([](auto x, auto y) { return select(x == y && y == x, x, y); }) == 1);
}

TEST_CASE("cse: what depends on the order or on more than operands stays apart") {
    CHECK(num_merged([](auto x, auto y) { return (x - y) / (y - x); }) == 0);
    CHECK(num_merged([](auto x, auto y) { return min(x, y) / min(y, x); }) == 0);  // NaN, ±0
    CHECK(num_merged([](auto x, auto y) { return max(x, y) / max(y, x); }) == 0);
    CHECK(num_merged([](auto x, auto) { return pow(x, 3) + pow(x, 4); }) == 0);
    CHECK(num_merged([](auto x, auto) {
              return checkpoint_name(x, "one") + checkpoint_name(x, "other");
          }) == 0);
}

TEST_CASE("cse: constants are one where all their bits are") {
    CHECK(num_merged([](auto x, auto) { return (x + 2.0) * 2.0; }) == 1);
    CHECK(num_merged([](auto x, auto) { return (x + 0.0) * -0.0; }) == 0);
    CHECK(num_merged([](auto x, auto) {
              return (x + eddy::Vec<double, 2>{{1, 2}}) * eddy::Vec<double, 2>{{1, 2}};
          }) == 1);
    CHECK(num_merged([](auto x, auto) {
              return (x + eddy::Vec<double, 2>{{1, 2}}) * eddy::Vec<double, 2>{{1, 3}};
          }) == 0);
}

TEST_CASE("cse: slices and pieces of arguments are one where they cover the same") {
    const auto num_merged_of = [](auto f) {
        const Graph graph = support::raw_trace(f, DynamicVector{4});
        return graph.size() - eliminate_common_subexpressions(graph).size();
    };

    CHECK(num_merged_of([](auto x) { return x[1] * x[1]; }) == 1);
    CHECK(num_merged_of([](auto x) { return x[1] * x[2]; }) == 0);
    CHECK(num_merged_of([](auto x) { return sin(x)[1] * sin(x)[1]; }) == 2);
    CHECK(num_merged_of([](auto x) { return slice(x, 1, 2) * slice(x, 1, 3)[0]; }) == 0);
}

TEST_CASE("cse: barriers are never merged, nor what is computed behind them") {
    Graph graph = support::raw_trace([](auto x) { return x; }, Scalar{});
    const int one = graph.push({.op = Op::barrier}, 0), other = graph.push({.op = Op::barrier}, 0);
    const int sum = graph.push({.op = Op::add}, graph.push({.op = Op::sin}, one),
                               graph.push({.op = Op::sin}, other));
    graph.outputs.clear();
    graph.push_output({sum}, 1, true);

    CHECK(eliminate_common_subexpressions(graph).size() == graph.size());
}

TEST_CASE("cse: nodes whose hashes collide stay apart") {
    // x_i + x_j and x_k + x_l with i + j = k + l and i ^ j = k ^ l hash alike, as 1 + 2 and 0 + 3.
    constexpr int length = 64;
    Graph graph = support::raw_trace([](auto x) { return x; }, DynamicVector{length});
    std::vector<int> parts, sums;
    for (int i = 0; i < length; ++i) parts.push_back(graph.push_argument(0, i, 1));
    for (int i = 0; i < length; ++i) {
        for (int j = 0; j <= i; ++j)
            sums.push_back(graph.push({.op = Op::add}, parts[static_cast<std::size_t>(i)],
                                      parts[static_cast<std::size_t>(j)]));
    }
    graph.outputs.clear();
    graph.push_output(sums, static_cast<int>(sums.size()), false);

    const Graph after = eliminate_common_subexpressions(graph);

    CHECK(after.size() == graph.size());
    CHECK(eliminate_common_subexpressions(after).size() == after.size());
}
