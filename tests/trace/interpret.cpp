#include <eddy/trace/trace.hpp>

#include "support/catch.hpp"
#include "support/interpret.hpp"
#include "support/lane_arrays.hpp"
#include "support/message_of.hpp"

using eddy::DynamicVector;
using eddy::Graph;
using eddy::interpret;
using eddy::LaneArray;
using eddy::Scalar;
using support::mentions;
using support::message_of;

namespace {

Graph scaled_vector() {
    return eddy::trace_graph([](const auto& s, const auto& x) { return s * x + x[0]; }, Scalar{},
                             DynamicVector{2});
}

}  // namespace

TEST_CASE("interpret: results are (component, lane)") {
    LaneArray<double> s(1, 3), x(2, 3);
    for (int lane = 0; lane < 3; ++lane) {
        s(0, lane) = 10 * lane;
        x(0, lane) = lane + 1;
        x(1, lane) = lane + 5;
    }

    const auto results = interpret<double>(scaled_vector(), {s, x});

    REQUIRE(results.size() == 1);
    REQUIRE(results[0].num_components() == 2);
    REQUIRE(results[0].num_lanes() == 3);
    for (int lane = 0; lane < 3; ++lane) {
        for (int c = 0; c < 2; ++c)
            CHECK(results[0](c, lane) == s(0, lane) * x(c, lane) + x(0, lane));
    }
}

TEST_CASE("interpret: an argument of one lane is shared by all lanes") {
    LaneArray<float> s(1, 1, 2.0F), x(2, 4);
    for (int lane = 0; lane < 4; ++lane) x(0, lane) = x(1, lane) = static_cast<float>(lane);

    const auto results = interpret<float>(scaled_vector(), {s, x});

    REQUIRE(results[0].num_lanes() == 4);
    for (int lane = 0; lane < 4; ++lane) CHECK(results[0](1, lane) == 3.0F * x(0, lane));
}

TEST_CASE("interpret: no lanes give no results") {
    const auto results =
        interpret<double>(scaled_vector(), {LaneArray<double>(1, 1), LaneArray<double>(2, 0)});

    CHECK(results[0].num_components() == 2);
    CHECK(results[0].num_lanes() == 0);
}

TEST_CASE("interpret: sums over vectors without components are zero") {
    const Graph sums = eddy::trace_graph(
        [](const auto& none) {
            return eddy::vec(eddy::sum(none), eddy::dot(none, none), eddy::norm(none));
        },
        DynamicVector{0});
    const Graph layer =
        eddy::trace_graph([](const auto& w, const auto& bias,
                             const auto& none) { return eddy::dense(w, bias, none); },
                          DynamicVector{0}, DynamicVector{2}, DynamicVector{0});
    const LaneArray<double> none(0, 2), bias(2, 2, 3.);

    const auto zeros = interpret<double>(sums, {none});
    const auto biases = interpret<double>(layer, {none, bias, none});

    for (const int c : {0, 1, 2}) CHECK(zeros[0](c, 1) == 0);
    for (const int c : {0, 1}) CHECK(biases[0](c, 1) == 3);
    CHECK(mentions(message_of([] { (void)LaneArray<double>(3, -1); }),
                   "LaneArray: 3 x -1 (component, trajectory); give sizes of at least 0"));
}

TEST_CASE("interpret: many lanes, taken in chunks, give what each gives alone") {
    // 3,000 intermediate numbers a lane: chunks of 349 lanes.
    const Graph graph = eddy::trace_graph(
        [](const auto& s, const auto& x) {
            auto y = s * x;
            for (int layer = 0; layer < 5; ++layer) y = sin(y) * x + s;
            return eddy::vec(sum(y), y[199], s);
        },
        Scalar{}, DynamicVector{200});
    const int num_lanes = 800;
    const auto arguments =
        support::moderate_arguments<double>({{1, true}, {200, false}}, 1, num_lanes);

    const auto results = interpret(graph, arguments);

    bool all_same = true;
    for (int lane = 0; lane < num_lanes; ++lane) {
        LaneArray<double> s(1, 1), x(200, 1);
        s(0, 0) = arguments[0](0, lane);
        for (int c = 0; c < 200; ++c) x(c, 0) = arguments[1](c, lane);
        const auto alone = interpret<double>(graph, {s, x});
        for (int c = 0; c < 3; ++c) all_same = all_same && alone[0](c, 0) == results[0](c, lane);
    }
    CHECK(all_same);
}

TEST_CASE("interpret: arguments that do not fit the graph are refused") {
    const Graph graph = scaled_vector();
    const auto message = [&](const std::vector<LaneArray<double>>& arguments) {
        return message_of([&] { (void)interpret(graph, arguments); });
    };
    const LaneArray<double> s(1, 4), x(2, 4);

    CHECK(message({s, x}).empty());
    CHECK(message({s}) == "interpret: got 1 arguments; the graph has 2");
    CHECK(message({s, s}) == "interpret: argument 1 has 1 components; pass 2");
    CHECK(message({s, LaneArray<double>(2, 3)}) ==
          "interpret: argument 0 has 4 trajectories; pass 3 as for the others, or 1");
}

TEST_CASE("interpret: a graph whose trace failed is refused") {
    Graph graph = scaled_vector();
    graph.error = eddy::TraceError::sizes_differ;

    CHECK(mentions(
        message_of([&] {
            (void)interpret<double>(graph, {LaneArray<double>(1, 1), LaneArray<double>(2, 1)});
        }),
        "the trace of this graph failed"));
}
