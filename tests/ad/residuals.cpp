// What the reports of residuals say, word by word.

#include <eddy/ad/linearize.hpp>
#include <eddy/ad/residuals.hpp>
#include <eddy/trace/trace.hpp>
#include <sstream>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

struct Layer {
    constexpr auto operator()(const auto& t, const auto& x, const auto& p) const {
        using eddy::slice;
        const auto hidden =
            checkpoint_name(tanh(dense(slice<0, 6>(p), slice<6, 3>(p), x)), "hidden");
        return sin(dot(hidden, eddy::vec(1.5, 2.5, 3.5)) * t) * p[9];
    }
};

constexpr auto program = eddy::trace<eddy::Scalar, eddy::Vector<2>, eddy::Vector<10>>(Layer{});

}  // namespace

TEST_CASE("residuals: the report names shapes, bytes and origins") {
    const std::string text =
        eddy::saved_residuals(program, eddy::everything_saveable, {.names = {"t", "x", "p"}});

    CHECK(text ==
          "kept between forward and backward pass, per trajectory: 48 bytes\n"
          "  double      8 bytes  output of sin\n"
          "  double      8 bytes  output of mul\n"
          "  double      8 bytes  output of dot\n"
          "  double[3]  24 bytes  'hidden', output of tanh\n"
          "read again where it is\n"
          "  double      8 bytes  argument t\n"
          "  double[2]  16 bytes  argument x\n"
          "  double[6]  48 bytes  argument p[0:6]\n"
          "  double      8 bytes  argument p[9]\n"
          "  double[3]  24 bytes  constant of the program\n");
}

TEST_CASE("residuals: a report in float halves the bytes, and marks what is offloaded") {
    const std::string text = eddy::saved_residuals<float>(
        program, eddy::save_and_offload_only_these_names<eddy::Names<>, eddy::Names<"hidden">>,
        {.with_respect_to = {0}});

    CHECK(text ==
          "kept between forward and backward pass, per trajectory: 12 bytes, 12 of them to be "
          "offloaded\n"
          "  float[3]  12 bytes  'hidden', output of tanh, to be offloaded\n"
          "read again where it is\n"
          "  float      4 bytes  argument x0\n"
          "  float      4 bytes  argument x2[9]\n"
          "  float[3]  12 bytes  constant of the program\n");
}

TEST_CASE("residuals: what is kept of the turns of loops stands in boxes") {
    constexpr auto layers =
        eddy::trace<eddy::Vector<2>, eddy::Scalar>([](const auto& x, const auto& w) {
            return sin(norm(eddy::repeat<64>(x, [&](const auto& h) { return tanh(w * h) * h; })));
        });
    const std::string text = eddy::saved_residuals(layers, eddy::everything_saveable);

    CHECK(text ==
          "kept between forward and backward pass, per trajectory: 2072 bytes\n"
          "  double      8 bytes  output of norm\n"
          "  double[2]  16 bytes  output of loop\n"
          "  loop, for each of 64 turns\n"
          "  | double[2]  16 bytes  state at the start of a turn\n"
          "  | double[2]  16 bytes  output of tanh\n"
          "read again where it is\n"
          "  double  8 bytes  argument x1\n");
}

TEST_CASE("residuals: where nothing is kept, the report says so") {
    CHECK(eddy::saved_residuals(program, eddy::nothing_saveable, {.with_respect_to = {2}}) ==
          "kept between forward and backward pass, per trajectory: 0 bytes\n"
          "read again where it is\n"
          "  double       8 bytes  argument x0\n"
          "  double[2]   16 bytes  argument x1\n"
          "  double[10]  80 bytes  argument x2\n"
          "  double[3]   24 bytes  constant of the program\n");
}

TEST_CASE("residuals: a program and its graph at run time get the same reports") {
    const eddy::Graph graph = program.graph.thaw();

    CHECK(eddy::saved_residuals(graph, eddy::dots_saveable) ==
          eddy::saved_residuals(program, eddy::dots_saveable));
    CHECK(eddy::forward_backward(graph, eddy::dots_saveable) ==
          eddy::forward_backward(program, eddy::dots_saveable));
}

TEST_CASE("residuals: both programs stand side by side") {
    const auto chain = eddy::trace_graph([](const auto& x) { return exp(sin(x)); }, eddy::Scalar{});

    CHECK(eddy::forward_backward(chain, eddy::nothing_saveable, {.names = {"x"}}) ==
          "forward: program of x | backward: program of x, residuals : 0, cotangent\n"
          "%0 = argument x       | %0 = argument cotangent\n"
          "%1 = sin %0           | %1 = argument x\n"
          "%2 = exp %1           | %2 = sin %1\n"
          "result %2             | %3 = exp %2\n"
          "                      | %4 = mul %0 %3\n"
          "                      | %5 = cos %1\n"
          "                      | %6 = mul %4 %5\n"
          "                      | result %6\n");
}

TEST_CASE("residuals: printers write to the stream that they are given") {
    std::ostringstream out;

    eddy::print_saved_residuals(program, eddy::dots_saveable, {.out = &out});
    eddy::print_forward_backward(program, eddy::dots_saveable, {.out = &out});

    CHECK(out.str() == eddy::saved_residuals(program, eddy::dots_saveable) +
                           eddy::forward_backward(program, eddy::dots_saveable));
}

TEST_CASE("residuals: an argument that is not there is told") {
    const auto ask = [] {
        (void)eddy::saved_residuals(program, eddy::everything_saveable, {.with_respect_to = {3}});
    };

    CHECK(support::message_of(ask) ==
          "saved_residuals: there is no argument 3 to differentiate; the program has 3, counted "
          "from 0");
}

namespace {

/// A chain of any length, whose values get their names as it runs.
struct NamedLayers {
    int num_layers;
    auto operator()(const eddy::DynamicTraced& x) const {
        auto y = x;
        for (int layer = 0; layer < num_layers; ++layer)
            y = checkpoint_name(sin(y), "layer" + std::to_string(layer) + "_output_of_the_chain");
        return y;
    }
};

/// A policy with a value.
struct LongerThan {
    int limit = 3;
    constexpr eddy::Saving operator()(const eddy::Candidate& value) const {
        return value.size > limit ? eddy::Saving::save : eddy::Saving::recompute;
    }
};

const char* const nothing_kept =
    "kept between forward and backward pass, per trajectory: 0 bytes\n"
    "read again where it is\n"
    "  double[8]  64 bytes  argument x0\n";

}  // namespace

TEST_CASE("residuals: names made at run time are owned by the graph and by its copies") {
    const eddy::Graph graph = [] {
        const eddy::Graph original = eddy::trace_graph(NamedLayers{3}, eddy::DynamicVector{8});
        return eddy::Graph(original);
    }();

    CHECK(eddy::saved_residuals(graph) ==
          "kept between forward and backward pass, per trajectory: 128 bytes\n"
          "  double[8]  64 bytes  'layer1_output_of_the_chain', output of sin\n"
          "  double[8]  64 bytes  'layer0_output_of_the_chain', output of sin\n"
          "read again where it is\n"
          "  double[8]  64 bytes  argument x0\n");
}

TEST_CASE("residuals: policies by names that are made at run time") {
    const eddy::Graph graph = eddy::trace_graph(NamedLayers{4}, eddy::DynamicVector{8});
    const std::vector<std::string> first{"layer" + std::to_string(0) + "_output_of_the_chain"};
    const auto bytes_kept = [&](const auto& policy) {
        const std::string text = eddy::saved_residuals(graph, policy);
        return text.substr(0, text.find(" bytes\n") + 6);
    };
    const std::string kept = "kept between forward and backward pass, per trajectory: ";

    CHECK(bytes_kept(eddy::save_only_these_names<>(first)) == kept + "64 bytes");
    CHECK(bytes_kept(eddy::save_only_these_names<>({"layer9"})) == kept + "0 bytes");
    CHECK(bytes_kept(eddy::save_anything_but_these_names<>(first)) == kept + "128 bytes");
    CHECK(bytes_kept(eddy::save_any_names_but_these<>(first)) == kept + "128 bytes");
    CHECK(bytes_kept(eddy::save_from_both_policies(
              eddy::nothing_saveable, eddy::save_only_these_names<>(first))) == kept + "64 bytes");
}

TEST_CASE("residuals: a policy with values is the one that was given") {
    const eddy::Graph graph = eddy::trace_graph(NamedLayers{3}, eddy::DynamicVector{8});

    CHECK(eddy::saved_residuals(graph, LongerThan{8}) == nothing_kept);
    CHECK(eddy::saved_residuals(graph, LongerThan{7}) == eddy::saved_residuals(graph));
    CHECK(eddy::forward_backward(graph, LongerThan{8}) ==
          eddy::forward_backward(graph, eddy::nothing_saveable));
}

TEST_CASE("residuals: a policy with values of a part that is traced at run time") {
    const auto graph_of = [](int limit) {
        const auto part = [](const auto& y) { return sin(sin(sin(y))); };
        return eddy::trace_graph(eddy::remat(part, LongerThan{limit}), eddy::DynamicVector{8});
    };

    CHECK(eddy::saved_residuals(graph_of(8)) == nothing_kept);
    CHECK(eddy::saved_residuals(graph_of(7)) ==
          "kept between forward and backward pass, per trajectory: 128 bytes\n"
          "  double[8]  64 bytes  output of sin\n"
          "  double[8]  64 bytes  output of sin\n"
          "read again where it is\n"
          "  double[8]  64 bytes  argument x0\n");
}

TEST_CASE("residuals: of a differentiable program, under its own policy and of its arguments") {
    CHECK(eddy::saved_residuals(eddy::differentiable(program)) == eddy::saved_residuals(program));
    CHECK(eddy::saved_residuals(eddy::differentiable<2>(program, eddy::nothing_saveable)) ==
          eddy::saved_residuals(program, eddy::nothing_saveable, {.with_respect_to = {2}}));
    CHECK(eddy::forward_backward(eddy::differentiable(program, eddy::dots_saveable)) ==
          eddy::forward_backward(program, eddy::dots_saveable));
}
