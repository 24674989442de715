// What each policy keeps of a network with named activations, of all that is there to keep; and
// that the answer does not depend on it.

#include <algorithm>
#include <eddy/ad/linearize.hpp>
#include <eddy/trace/trace.hpp>

#include "support/catch.hpp"
#include "support/split_runs.hpp"

using eddy::Candidate;
using eddy::Names;
using eddy::Op;
using eddy::Saving;
using support::pointer;

namespace {

/// 2-8-6-3; the last layer is scaled by a product of two computed vectors.
struct Network {
    static constexpr int num_weights = 8 * 3 + 6 * 9 + 3 * 7;
    constexpr auto operator()(const auto& x, const auto& p) const {
        using eddy::slice;
        const auto first =
            checkpoint_name(tanh(dense(slice<0, 16>(p), slice<16, 8>(p), x)), "first");
        const auto second =
            checkpoint_name(tanh(dense(slice<24, 48>(p), slice<72, 6>(p), first)), "second");
        const auto energy = sigmoid(dot(second, slice<0, 6>(first)));
        return dense(slice<78, 18>(p), slice<96, 3>(p), second) * energy;
    }
};

eddy::Graph network() {
    return eddy::trace_graph(Network{}, eddy::Vector<2>{}, eddy::Vector<Network::num_weights>{});
}
eddy::SplitGraph split(const eddy::Graph& graph, eddy::PolicyFunction policy) {
    return eddy::split_graph(graph, {1, 1}, policy);
}

/// "tanh 8, dense 3*": what is kept, in alphabetical order, with its size; a star marks offload.
std::string kept(const eddy::SplitGraph& split) {
    std::vector<std::string> values;
    int size = 0;
    for (const eddy::Residual& residual : split.residuals) {
        values.push_back(std::string(name(residual.node.op)) + " " +
                         std::to_string(residual.node.size) +
                         (residual.saving == Saving::offload ? "*" : ""));
        size += residual.node.size;
    }
    if (size != split.residual_size) return "sizes do not add up";
    std::sort(values.begin(), values.end());
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return text;
}
template <class Policy>
std::string kept_by(Policy policy) {
    return kept(split(network(), pointer(policy)));
}

}  // namespace

TEST_CASE("policies: everything_saveable keeps what the way back reads, and is the default") {
    // The layers before tanh and sigmoid are not needed once those are kept.
    const std::string everything = "dense 3, sigmoid 1, slice 6, tanh 6, tanh 8";

    CHECK(kept_by(eddy::everything_saveable) == everything);
    CHECK(kept(split(network(), &eddy::save_anything)) == everything);
}

TEST_CASE("policies: nothing_saveable keeps nothing") {
    CHECK(kept_by(eddy::nothing_saveable) == "");
}

TEST_CASE("policies: dots_saveable keeps products") {
    CHECK(kept_by(eddy::dots_saveable) == "dense 3, dense 6, dense 8, dot 1");
}

TEST_CASE("policies: dots_with_no_batch_dims_saveable keeps products with weights") {
    CHECK(kept_by(eddy::dots_with_no_batch_dims_saveable) == "dense 3, dense 6, dense 8");
}

TEST_CASE("policies: save_only_these_names keeps the named values only") {
    CHECK(kept_by(eddy::save_only_these_names<"first">) == "tanh 8");
    CHECK(kept_by(eddy::save_only_these_names<"second", "first">) == "tanh 6, tanh 8");
    CHECK(kept_by(eddy::save_only_these_names<"third">) == "");
}

TEST_CASE("policies: save_anything_except_these_names recomputes the named values") {
    CHECK(kept_by(eddy::save_anything_except_these_names<"first">) ==
          "dense 3, dense 8, sigmoid 1, slice 6, tanh 6");
    CHECK(kept_by(eddy::save_anything_except_these_names<>) == kept_by(eddy::everything_saveable));
}

TEST_CASE("policies: save_any_names_but_these keeps the other names") {
    CHECK(kept_by(eddy::save_any_names_but_these<"first">) == "tanh 6");
    CHECK(kept_by(eddy::save_any_names_but_these<>) == "tanh 6, tanh 8");
    CHECK(kept_by(eddy::save_any_names_but_these<"first", "second">) == "");
}

TEST_CASE("policies: save_from_both_policies keeps what either keeps") {
    CHECK(kept_by(eddy::save_from_both_policies(eddy::dots_with_no_batch_dims_saveable,
                                                eddy::save_only_these_names<"first">)) ==
          "dense 3, dense 6, tanh 8");
    CHECK(kept_by(eddy::save_from_both_policies(eddy::nothing_saveable,
                                                eddy::offload_dot_with_no_batch_dims)) ==
          "dense 3*, dense 6*, dense 8*");
}

TEST_CASE("policies: save_and_offload_only_these_names marks the second list for offload") {
    CHECK(kept_by(eddy::save_and_offload_only_these_names<Names<"first">, Names<"second">>) ==
          "tanh 6*, tanh 8");
    CHECK(kept_by(eddy::save_and_offload_only_these_names<Names<>, Names<"first">>) == "tanh 8*");
}

TEST_CASE("policies: offload_dot_with_no_batch_dims marks products with weights for offload") {
    CHECK(kept_by(eddy::offload_dot_with_no_batch_dims) == "dense 3*, dense 6*, dense 8*");
}

TEST_CASE("policies: a lambda is asked of operation, size and names") {
    CHECK(kept_by([](const Candidate& value) {
              return value.op == Op::tanh && value.size > 6 ? Saving::save : Saving::recompute;
          }) == "tanh 8");
    CHECK(kept_by([](const Candidate& value) {
              return value.has_name("second") ? Saving::offload : Saving::recompute;
          }) == "tanh 6*");
}

TEST_CASE("policies: value and gradient are the same, bit for bit, under each of them") {
    const eddy::Graph graph = network();
    const auto arguments = support::moderate_arguments<double>(graph.arguments, 1, 4);
    const auto cotangents =
        support::moderate_arguments<double>(support::shapes_of_outputs(graph), 2, 4);
    const auto expected =
        support::run_split(split(graph, &eddy::save_anything), arguments, cotangents);
    const eddy::PolicyFunction policies[] = {
        pointer(eddy::everything_saveable),
        pointer(eddy::nothing_saveable),
        pointer(eddy::dots_saveable),
        pointer(eddy::dots_with_no_batch_dims_saveable),
        pointer(eddy::save_only_these_names<"first">),
        pointer(eddy::save_anything_except_these_names<"first">),
        pointer(eddy::save_any_names_but_these<"first">),
        pointer(eddy::save_from_both_policies(eddy::dots_saveable,
                                              eddy::save_only_these_names<"first">)),
        pointer(eddy::save_and_offload_only_these_names<Names<"first">, Names<"second">>),
        pointer(eddy::offload_dot_with_no_batch_dims)};

    for (eddy::PolicyFunction policy : policies)
        CHECK(support::run_split(split(graph, policy), arguments, cotangents) == expected);
    CHECK(support::same_bits(expected.value,
                             eddy::interpret(eddy::detail::finish_code(graph), arguments)));
}

TEST_CASE("policies: a product is one with weights whichever operand they are") {
    const auto kept_of = [](auto function) {
        const eddy::Graph graph = eddy::trace_graph(function, eddy::Vector<3>{}, eddy::Vector<3>{});
        return kept(split(graph, pointer(eddy::dots_with_no_batch_dims_saveable)));
    };

    CHECK(kept_of([](const auto& x, const auto& w) { return sin(dot(w, exp(x))); }) == "dot 1");
    CHECK(kept_of([](const auto& x, const auto& w) { return sin(dot(exp(x), w)); }) == "dot 1");
    CHECK(kept_of([](const auto& x, const auto& w) { return sin(dot(exp(x), exp(w))); }) == "");
}

TEST_CASE("policies: equal values share their names") {
    const eddy::Graph graph = eddy::trace_graph(
        [](const auto& x) {
            return exp(checkpoint_name(sin(x), "a")) * cos(checkpoint_name(sin(x), "b"));
        },
        eddy::Scalar{});
    const auto kept_named = [&](auto policy) {
        return kept(eddy::split_graph(graph, {1}, pointer(policy)));
    };

    CHECK(kept_named(eddy::save_only_these_names<"a">) == "sin 1");
    CHECK(kept_named(eddy::save_only_these_names<"b">) == "sin 1");
    CHECK(kept_named(eddy::save_any_names_but_these<"b">) == "");
}

TEST_CASE("policies: a name on a name counts, one on an argument keeps nothing") {
    const eddy::Graph graph = eddy::trace_graph(
        [](const auto& x) {
            const auto named_argument = checkpoint_name(x, "a");
            return exp(checkpoint_name(checkpoint_name(sin(named_argument), "b"), "c"));
        },
        eddy::Scalar{});
    const auto kept_named = [&](auto policy) {
        return kept(eddy::split_graph(graph, {1}, pointer(policy)));
    };

    CHECK(kept_named(eddy::save_only_these_names<"a">) == "");  // arguments are there already
    CHECK(kept_named(eddy::save_only_these_names<"b">) == "sin 1");
    CHECK(kept_named(eddy::save_only_these_names<"c">) == "sin 1");
}

namespace {

struct LongerThan {
    int limit = 3;
    constexpr Saving operator()(const Candidate& value) const {
        return value.size > limit ? Saving::save : Saving::recompute;
    }
};

}  // namespace

TEST_CASE("policies: one with values is a template argument of what is made at compile time") {
    constexpr auto wave = [](const auto& x) { return sin(sin(x)); };
    constexpr auto plain = eddy::trace<eddy::Vector<4>>(wave);
    constexpr auto few = eddy::trace<eddy::Vector<4>>(
        [](const auto& x) { return eddy::remat<LongerThan{4}>(decltype(wave){})(x); });

    CHECK(eddy::differentiable<LongerThan{3}>(plain).num_residuals == 4);
    CHECK(eddy::differentiable<LongerThan{4}>(plain).num_residuals == 0);
    CHECK(eddy::differentiable<LongerThan{4}, 0>(plain).num_residuals == 0);
    CHECK(eddy::differentiable(few).num_residuals == 0);
}

TEST_CASE("policies: the names by which people search are the policies") {
    CHECK(kept_by(eddy::checkpoint_dots) == kept_by(eddy::dots_saveable));
    CHECK(kept_by(eddy::checkpoint_dots_with_no_batch_dims) ==
          kept_by(eddy::dots_with_no_batch_dims_saveable));
    CHECK(kept_by(eddy::save_anything_but_these_names<"first">) ==
          kept_by(eddy::save_anything_except_these_names<"first">));
    const eddy::Graph graph = eddy::trace_graph(
        eddy::checkpoint([](const auto& x) { return sin(sin(x)); }), eddy::Scalar{});
    CHECK(kept(eddy::split_graph(graph, {1})) == "");
}

TEST_CASE("policies: a candidate tells its operands, its bytes and the parts that it is in") {
    // The layer that reads an argument, known by what it is computed from: matrix, input, bias.
    const auto after_product = [](const Candidate& value) {
        const bool is_wanted = value.num_operands() == 1 && value.operand(0).op == Op::dense &&
                               value.operand(0).num_operands() == 3 &&
                               value.operand(0).operand(1).op == Op::argument;
        return is_wanted && value.num_bytes<float>() == 4 * value.size ? Saving::save
                                                                       : Saving::recompute;
    };
    CHECK(kept_by(after_product) == "tanh 8");

    const auto at_depth_two = [](const Candidate& value) {
        return value.depth() == 2 ? Saving::save : Saving::recompute;
    };
    const eddy::Graph nested = eddy::trace_graph(
        eddy::remat(
            [at_depth_two](const auto& x) {
                return exp(eddy::remat([](const auto& y) { return sin(cos(tanh(y))); },
                                       at_depth_two)(exp(x)));
            },
            at_depth_two),
        eddy::Scalar{});
    CHECK(kept(eddy::split_graph(nested, {1})) == "cos 1, sin 1, tanh 1");
}
