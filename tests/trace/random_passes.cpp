// 10,000 random graphs through every pass: the results before and after are the same, bit for bit,
// for arguments from the whole number line.

#include <eddy/trace/passes/contract.hpp>
#include <eddy/trace/passes/simplify.hpp>
#include <eddy/trace/passes/strip.hpp>

#include "support/catch.hpp"
#include "support/lane_arrays.hpp"
#include "support/random_graph.hpp"
#include "support/split_contractions.hpp"

using eddy::Graph;
using eddy::Node;
using eddy::Op;
using support::split_contractions;

namespace {

constexpr int num_graphs = 10'000, num_lanes = 6;

/// A random graph with arguments and results, in both types.
class Sample {
  public:
    explicit Sample(std::uint64_t seed, Graph graph)
        : double_arguments_(support::any_arguments<double>(graph, seed, num_lanes)),
          float_arguments_(support::any_arguments<float>(graph, seed, num_lanes)),
          double_results_(eddy::interpret(graph, double_arguments_)),
          float_results_(eddy::interpret(graph, float_arguments_)) {}

    [[nodiscard]] bool same_results(const Graph& graph) const {
        return support::same_bits(eddy::interpret(graph, double_arguments_), double_results_) &&
               support::same_bits(eddy::interpret(graph, float_arguments_), float_results_);
    }

  private:
    support::Arrays<double> double_arguments_;
    support::Arrays<float> float_arguments_;
    support::Arrays<double> double_results_;
    support::Arrays<float> float_results_;
};

/// Calls check(graph, sample) for every seed; the first seed that fails is reported.
template <class Prepare, class Check>
void for_random_graphs(Prepare prepare, Check check) {
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        const Graph graph = prepare(support::random_graph(seed, 6 + static_cast<int>(seed % 20)));
        if (check(graph, Sample(seed, graph))) continue;
        FAIL("not so for the graph of seed " << seed);
    }
    SUCCEED();
}
template <class Check>
void for_random_graphs(Check check) {
    for_random_graphs([](Graph graph) { return graph; }, check);
}

int count_op(const Graph& graph, Op op) {
    return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                          [op](const Node& node) { return node.op == op; }));
}

}  // namespace

TEST_CASE("passes: folding changes no result of 10,000 random graphs") {
    long long num_folded = 0;
    for_random_graphs([&](const Graph& graph, const Sample& sample) {
        int folded = 0;
        const Graph after = eddy::passes::fold(graph, folded);
        num_folded += folded;
        return sample.same_results(after);
    });

    CHECK(num_folded > num_graphs);  // there was something to fold
}

TEST_CASE("passes: merging common subexpressions changes no result of 10,000 random graphs") {
    long long num_merged = 0;
    for_random_graphs([&](const Graph& graph, const Sample& sample) {
        const Graph after = eddy::passes::eliminate_common_subexpressions(graph);
        num_merged += graph.size() - after.size();
        const bool is_idempotent =
            eddy::passes::eliminate_common_subexpressions(after).size() == after.size();
        return is_idempotent && count_op(after, Op::barrier) == count_op(graph, Op::barrier) &&
               sample.same_results(after);
    });

    CHECK(num_merged > num_graphs);
}

TEST_CASE("passes: dropping dead code changes no result of 10,000 random graphs") {
    long long num_dropped = 0;
    for_random_graphs([&](const Graph& graph, const Sample& sample) {
        const Graph after = eddy::passes::eliminate_dead_code(graph);
        num_dropped += graph.size() - after.size();
        return eddy::passes::eliminate_dead_code(after).size() == after.size() &&
               sample.same_results(after);
    });

    CHECK(num_dropped > num_graphs);
}

TEST_CASE("passes: stripping names changes no result of 10,000 random graphs") {
    long long num_stripped = 0;
    for_random_graphs([&](const Graph& graph, const Sample& sample) {
        const Graph after = eddy::passes::strip_annotations(graph);
        num_stripped += graph.size() - after.size();
        return !eddy::passes::has_annotations(after) && sample.same_results(after);
    });

    CHECK(num_stripped > num_graphs / 100);
}

TEST_CASE("passes: simplification of 10,000 random graphs changes no result and leaves nothing") {
    for_random_graphs([](const Graph& graph, const Sample& sample) {
        const Graph after = eddy::passes::simplify(graph);
        int num_folded = 0;
        const bool nothing_left =
            eddy::passes::eliminate_dead_code(after).size() == after.size() &&
            eddy::passes::eliminate_common_subexpressions(after).size() == after.size() &&
            eddy::passes::fold(after, num_folded).size() == after.size() && num_folded == 0;
        return nothing_left && sample.same_results(after);
    });
}

TEST_CASE("passes: contraction of 10,000 random graphs changes nothing but a rounding") {
    // Split again into products and sums, the contracted graph computes the very same; and a
    // machine without a fused operation evaluates it so by itself.
    long long num_contracted = 0;
    for_random_graphs(split_contractions, [&](const Graph& graph, const Sample& sample) {
        const Graph after = eddy::passes::contract(graph);
        num_contracted += count_op(after, Op::mul_add) + count_op(after, Op::mul_sub) +
                          count_op(after, Op::neg_mul_add);
        return sample.same_results(split_contractions(after)) &&
               (eddy::fma_is_fast || sample.same_results(after));
    });

    CHECK(num_contracted > num_graphs / 10);
}
