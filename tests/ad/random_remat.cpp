// What is saved never changes the answer, not by one bit: thousands of random graphs with random
// nested remat regions under random policies, and some random functions compiled. No tolerance:
// against the plain vector–Jacobian product, contraction is taken apart.

#include <cstdio>
#include <eddy/ad/linearize.hpp>

#include "support/catch.hpp"
#include "support/check_program.hpp"
#include "support/lane_arrays.hpp"
#include "support/random_function.hpp"
#include "support/random_graph.hpp"
#include "support/split_contractions.hpp"
#include "support/split_runs.hpp"

using eddy::Graph;
using eddy::Saving;
using support::Arrays;
using support::joined;
using support::pointer;
using support::Random;
using support::run_split;

namespace {

constexpr int num_graphs = 5'000, num_lanes = 3;

using eddy::Names;
const std::vector<eddy::PolicyFunction> policies{
    &eddy::save_anything,
    pointer(eddy::everything_saveable),
    pointer(eddy::nothing_saveable),
    pointer(eddy::dots_saveable),
    pointer(eddy::dots_with_no_batch_dims_saveable),
    pointer(eddy::save_only_these_names<"a">),
    pointer(eddy::save_anything_except_these_names<"a", "b">),
    pointer(eddy::save_any_names_but_these<"b">),
    pointer(eddy::save_from_both_policies(eddy::dots_saveable, eddy::save_only_these_names<"c">)),
    pointer(eddy::save_and_offload_only_these_names<Names<"a">, Names<"b", "c">>),
    pointer(eddy::offload_dot_with_no_batch_dims),
    [](const eddy::Candidate& value) {
        return static_cast<int>(value.op) % 2 == 0 ? Saving::save : Saving::recompute;
    },
    [](const eddy::Candidate& value) { return value.size == 1 ? Saving::offload : Saving::save; },
};

/// Makes random stretches of nodes [first, last) remat regions, nested in one another.
void wrap_stretches(Graph& graph, int first, int last, int parent, int depth, Random& random) {
    for (int i = first; i < last; ++i) graph.nodes[static_cast<std::size_t>(i)].region = parent;
    if (depth == 0) return;
    for (int begin = first; begin < last;) {
        begin += random.below(last - begin);
        const int end = begin + 1 + random.below(last - begin);
        graph.regions.push_back({parent, random.pick(policies)});
        const int region = static_cast<int>(graph.regions.size()) - 1;
        wrap_stretches(graph, begin, end, region, depth - 1, random);
        begin = end;
    }
}

/// A random graph, without and with remat, at random arguments and cotangents.
struct Sample {
    explicit Sample(std::uint64_t seed)
        : random(seed + 99), plain(support::random_graph(seed, 6 + static_cast<int>(seed % 24))) {
        for (std::string_view& name : plain.names)
            name = random.pick(std::vector<std::string_view>{"a", "b", "c"});
        wrapped = plain;
        wrap_stretches(wrapped, 0, wrapped.size(), 0, 3, random);
        for (std::size_t a = 0; a < plain.arguments.size(); ++a)
            with_respect_to.push_back(a == seed % 3 || random.one_in(2));
        arguments = support::any_arguments<double>(plain, seed, num_lanes);
        Graph cotangent_shapes;
        cotangent_shapes.arguments = support::shapes_of_outputs(plain);
        cotangents = support::any_arguments<double>(cotangent_shapes, seed + 1, num_lanes);
    }

    Random random;
    Graph plain, wrapped;
    std::vector<char> with_respect_to;
    Arrays<double> arguments, cotangents;
};

/// Stands for P with the cotangent of its result as one more argument.
template <class P>
struct WithCotangent {
    struct {
        eddy::Argument arguments[4];
        static constexpr int num_arguments() { return 4; }
    } static constexpr graph{{P::graph.arguments[0],
                              P::graph.arguments[1],
                              P::graph.arguments[2],
                              {P::graph.outputs[0].size, false}}};
};

/// A random function in a remat call, compiled under Policy, against the same by the interpreter.
template <support::Seed seed, class ThePolicy>
void check_compiled(ThePolicy policy) {
    using Function = support::RandomFunction<seed, 2>;
    constexpr auto program =
        eddy::trace<eddy::Scalar, eddy::Vector<Function::x_size>, eddy::Vector<Function::w_size>>(
            eddy::remat(Function{}, ThePolicy{}));
    using P = std::remove_cvref_t<decltype(program)>;
    constexpr auto compiled = eddy::differentiable(program, policy);
    const Graph graph = P::graph.thaw();
    const auto split = eddy::split_graph(graph, {1, 1, 1}, pointer(policy));
    const auto arguments = support::moderate_arguments<double>(graph.arguments, seed, num_lanes);
    constexpr int size = P::graph.outputs[0].size;
    const auto cotangents =
        support::moderate_arguments<double>({{size, false}}, seed + 1, num_lanes);
    INFO("seed " << seed << ", " << compiled.num_residuals << " numbers kept, "
                 << split.backward.size() << " nodes on the way back");

    const auto value_and_gradient = [&](const auto& t, const auto& x, const auto& w,
                                        const auto& cotangent) {
        const auto linearization = compiled.linearize(t, x, w);
        return std::tuple_cat(std::tuple(linearization.value), linearization.pullback(cotangent));
    };
    const auto expected = run_split(split, arguments, cotangents);

    CHECK(compiled.num_residuals == split.residual_size);
    CHECK(support::gives_same_bits<WithCotangent<P>>(value_and_gradient,
                                                     joined(arguments, cotangents),
                                                     joined(expected.value, expected.gradient)));
}

int region_depth(const Graph& graph) {
    int deepest = 0;
    for (std::size_t r = 1; r < graph.regions.size(); ++r) {
        int depth = 1;
        for (int p = graph.regions[r].parent; p != 0;
             p = graph.regions[static_cast<std::size_t>(p)].parent)
            ++depth;
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

}  // namespace

TEST_CASE("remat: 5,000 random graphs under random nested policies give the bits of no policy") {
    long long num_saved = 0, num_offloaded = 0, num_recomputed = 0, num_nested = 0;
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        Sample sample(seed);
        const auto plain = eddy::split_graph(sample.plain, sample.with_respect_to);
        const support::ValueAndGradient expected =
            run_split(plain, sample.arguments, sample.cotangents);
        INFO("seed " << seed);

        if (!support::same_bits(
                expected.value,
                eddy::interpret(eddy::detail::finish_code(sample.plain), sample.arguments)))
            FAIL("the forward half gives another value than the program");
        num_nested += region_depth(sample.wrapped) >= 2;
        for (int k = 0; k < 3; ++k) {
            const eddy::PolicyFunction policy = sample.random.pick(policies);
            const auto split = eddy::split_graph(sample.wrapped, sample.with_respect_to, policy);
            if (!(run_split(split, sample.arguments, sample.cotangents) == expected))
                FAIL("another gradient with policy " << k);
            for (const eddy::Residual& residual : split.residuals) {
                num_saved += residual.saving == Saving::save;
                num_offloaded += residual.saving == Saving::offload;
                if (residual.saving == Saving::recompute || eddy::is_mask(residual.node.op))
                    FAIL("a " << name(residual.node.op) << " is kept that need not be");
            }
            num_recomputed += split.residual_size < plain.residual_size;
        }
    }

    std::printf(
        "random remat: %lld values saved, %lld marked for offload; %lld of %d splits kept less "
        "than no policy; %lld graphs had nested regions\n",
        num_saved, num_offloaded, num_recomputed, 3 * num_graphs, num_nested);
    CHECK(num_saved > num_graphs);
    CHECK(num_offloaded > num_graphs / 10);
    CHECK(num_recomputed > num_graphs / 10);
    CHECK(num_nested > num_graphs / 2);
}

TEST_CASE("remat: 5,000 random graphs give the bits of the plain vector-Jacobian product") {
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        Sample sample(seed);
        const Graph vjp =
            eddy::vjp_graph(eddy::passes::contract(sample.plain), sample.with_respect_to);
        const auto expected = eddy::interpret(support::split_contractions(vjp),
                                              joined(sample.arguments, sample.cotangents));
        const auto split =
            eddy::split_graph(sample.wrapped, sample.with_respect_to, sample.random.pick(policies));

        const auto result =
            run_split(split, sample.arguments, sample.cotangents, support::split_contractions);

        if (!support::same_bits(result.gradient, expected)) FAIL("another gradient, seed " << seed);
    }
    SUCCEED();
}

TEST_CASE("remat: 5,000 random graphs give the bits of their halves when those are joined") {
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        Sample sample(seed);
        const auto split =
            eddy::split_graph(sample.wrapped, sample.with_respect_to, sample.random.pick(policies));
        const Graph whole = eddy::join_halves(split, sample.wrapped);

        const auto expected = support::run_split(split, sample.arguments, sample.cotangents);
        const auto gradient = eddy::interpret(whole, joined(sample.arguments, sample.cotangents));

        if (!support::same_bits(gradient, expected.gradient))
            FAIL("another gradient, seed " << seed);
    }
    SUCCEED();
}

TEST_CASE("remat: 4 random functions give the same bits compiled and interpreted") {
    check_compiled<300>(eddy::everything_saveable);
    check_compiled<301>(eddy::nothing_saveable);
    check_compiled<302>(eddy::save_any_names_but_these<>);
    check_compiled<303>(eddy::dots_saveable);
}

TEST_CASE("remat: nothing_saveable keeps nothing of 5,000 random graphs") {
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        const Sample sample(seed);
        const auto split = eddy::split_graph(sample.wrapped, sample.with_respect_to,
                                             pointer(eddy::nothing_saveable));
        if (split.residual_size != 0) FAIL("something is kept, seed " << seed);
    }
    SUCCEED();
}
