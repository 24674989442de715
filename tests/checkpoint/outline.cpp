// Reports and drawings of Differentiables that are no programs: a block for each level.

#include <eddy/ad/residuals.hpp>
#include <eddy/checkpoint/program_scan.hpp>
#include <eddy/checkpoint/sequence.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <eddy/trace/graphviz.hpp>

#include "support/catch.hpp"
#include "support/message_of.hpp"

using support::mentions;

namespace {

constexpr auto square = eddy::trace<eddy::Vector<2>>([](const auto& x) { return x * x; });
constexpr int line_of_wave = __LINE__ + 2;
constexpr auto wave = eddy::trace<eddy::Vector<2>>(
    [](const auto& x) { return sin(checkpoint_name(exp(x), "growth")); });
constexpr auto cell = eddy::trace<eddy::Vector<2>, eddy::Vector<2>>(
    [](const auto& x, const auto& w) { return tanh(w * x); });

/// A function of the user's, with a pullback.
struct Twice {
    struct Linearization {
        eddy::Vec<double, 2> value;
        [[nodiscard]] auto pullback(const eddy::Vec<double, 2>& c) const { return c + c; }
    };
    auto operator()(const eddy::Vec<double, 2>& x) const { return x + x; }
    [[nodiscard]] Linearization linearize(const eddy::Vec<double, 2>& x) const { return {x + x}; }
};

const auto always = [](const auto&, std::int64_t step) { return step < 3; };

/// All of it: a loop over a composition with a dropped part, then a sequence, then a function.
auto nested() {
    const auto loop =
        eddy::while_loop(always, eddy::compose(square, eddy::remat(eddy::compose(wave, Twice{}))),
                         {.checkpoints = 2});
    return eddy::compose(Twice{}, eddy::sequence(square, wave), loop);
}

}  // namespace

TEST_CASE("row 20: a report of compositions, loops and dropped parts has a block for each level") {
    CHECK(eddy::saved_residuals(nested()) ==
          "compose\n"
          "  while_loop, which keeps at most 2 states\n"
          "    compose\n"
          "      remat, which keeps what goes in\n"
          "        compose\n"
          "          function with a pullback of its own, which keeps its linearization\n"
          "          program\n"
          "            kept between forward and backward pass, per trajectory: 16 bytes\n"
          "              double[2]  16 bytes  'growth', output of exp\n"
          "      program\n"
          "        kept between forward and backward pass, per trajectory: 0 bytes\n"
          "        read again where it is\n"
          "          double[2]  16 bytes  argument x0\n"
          "  sequence, which keeps the residuals of every stage\n"
          "    program\n"
          "      kept between forward and backward pass, per trajectory: 0 bytes\n"
          "      read again where it is\n"
          "        double[2]  16 bytes  argument x0\n"
          "    program\n"
          "      kept between forward and backward pass, per trajectory: 16 bytes\n"
          "        double[2]  16 bytes  'growth', output of exp\n"
          "  function with a pullback of its own, which keeps its linearization\n");
    CHECK(eddy::saved_residuals<float>(eddy::compose(wave)) == eddy::saved_residuals<float>(wave));
}

TEST_CASE("row 20: a report of a scan says what each of its steps keeps, under its policy") {
    CHECK(eddy::saved_residuals<float>(eddy::scan<eddy::nothing_saveable>(cell, {.checkpoints = 8}),
                                       {}, {.names = {"x", "w"}}) ==
          "scan, which keeps at most 8 states, and within one segment of each step what its "
          "linearization keeps\n"
          "  program\n"
          "    kept between forward and backward pass, per trajectory: 0 bytes\n"
          "    read again where it is\n"
          "      float[2]  8 bytes  argument x\n"
          "      float[2]  8 bytes  argument w\n");
    CHECK(mentions(eddy::saved_residuals(eddy::scan(cell)),
                   "scan, which keeps of each step what its linearization keeps\n"));
}

TEST_CASE("row 26: forward and backward programs of each level stand side by side") {
    const std::string text = eddy::forward_backward(nested());

    CHECK(mentions(text, "while_loop, which keeps at most 2 states\n"));
    CHECK(mentions(text, "\n          program\n            forward: program of x0"));
    CHECK(mentions(text, ", residuals : 2, cotangent : 2\n"));
}

TEST_CASE("row 87: a drawing has a box for each level, with its programs in it") {
    const std::string text = eddy::to_graphviz(nested());
    std::size_t boxes = 0, open = 0, closed = 0;
    for (std::size_t at = text.find("subgraph cluster_block"); at != std::string::npos;
         at = text.find("subgraph cluster_block", at + 1))
        ++boxes;
    for (const char c : text) open += c == '{', closed += c == '}';

    CHECK(boxes == 12);
    CHECK(open == closed);
    CHECK(mentions(text, "label=\"while_loop\""));
    CHECK(mentions(text, "block1 [label=\"keeps at most 2 states\", shape=plaintext];"));
    CHECK(mentions(text, "block6_n1 [label=\"%1 "));
    CHECK(mentions(text, "block6_n0 -> block6_n1"));
    CHECK(mentions(text, "block3 -> block4 [style=dashed];"));
}

TEST_CASE("row 19: a report tells file, line and function where a value was named") {
    const eddy::ResidualReportOptions options{.places = true};
    constexpr int line = __LINE__ + 2;
    const auto graph = eddy::trace_graph(
        [](const auto& x) { return sin(checkpoint_name(exp(x), "growth")); }, eddy::Scalar{});
    const std::string at_run_time =
                          eddy::saved_residuals(graph, eddy::everything_saveable, options),
                      at_compile_time =
                          eddy::saved_residuals(wave, eddy::everything_saveable, options);

    CHECK(mentions(at_run_time, "outline.cpp:" + std::to_string(line) + " (operator()"));
    CHECK(mentions(at_run_time, "), output of exp\n"));
    CHECK(mentions(at_compile_time, "'growth' from "));
    CHECK(
        mentions(at_compile_time, "outline.cpp:" + std::to_string(line_of_wave) + " (operator()"));
    // Embedded in another program it is the same place.
    const auto outer =
        eddy::trace_graph([](const auto& x) { return wave(x) * x[0]; }, eddy::Vector<2>{});
    CHECK(mentions(eddy::saved_residuals(outer, eddy::everything_saveable, options),
                   "outline.cpp:" + std::to_string(line_of_wave) + " (operator()"));
}

namespace {

constexpr int line_of_growth = __LINE__ + 4;
/// The exponential is called on one line, the sine of its square on the next, twice.
struct Swing {
    constexpr auto operator()(const auto& x) const {
        const auto growth = exp(x);
        return sin(growth * growth) + 2 * sin(growth * growth);
    }
};
constexpr auto swing = eddy::trace<eddy::Vector<2>>(Swing{});
std::string place(int line) { return "outline.cpp:" + std::to_string(line) + " (operator()"; }

}  // namespace

TEST_CASE(
    "row 19: values tell where the function was called that made them, or what they are made of") {
    const eddy::ResidualReportOptions options{.places = true};
    const eddy::Graph graph = eddy::trace_graph(Swing{}, eddy::Vector<2>{});

    for (const std::string& text :
         {eddy::saved_residuals(swing, eddy::everything_saveable, options),
          eddy::saved_residuals(graph, eddy::everything_saveable, options),
          eddy::saved_residuals(eddy::compose(swing), eddy::everything_saveable, options)}) {
        INFO(text);
        CHECK(mentions(text, "output of exp from "));
        CHECK(mentions(text, place(line_of_growth)));
        CHECK(mentions(text, "output of mul behind "));
        CHECK_FALSE(mentions(text, place(line_of_growth + 1)));
    }
    const std::string both = eddy::forward_backward(swing, eddy::everything_saveable, options);
    CHECK(mentions(both, "sin %2 : 2  # "));
    CHECK(mentions(both, place(line_of_growth + 1)));
    CHECK(mentions(eddy::to_graphviz(swing), "tooltip=\""));
    CHECK(mentions(eddy::to_graphviz(eddy::compose(swing)), place(line_of_growth)));
}

TEST_CASE("row 19: places make no program another, and no two values of one") {
    const eddy::Graph graph = eddy::trace_graph(Swing{}, eddy::Vector<2>{});
    const auto embedded =
        eddy::trace_graph([](const auto& x) { return swing(exp(x)); }, eddy::Vector<2>{});

    CHECK(eddy::to_text(graph) == eddy::to_text(swing));
    CHECK(eddy::to_text(graph).find("sin") == eddy::to_text(graph).rfind("sin"));
    CHECK(embedded.size() == graph.size() + 1);
}
