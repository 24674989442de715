#pragma once
// A finished graph as a compile-time constant, and the way from a Graph, whose memory ends with the
// constant evaluation that grew it. Constant evaluation is the larger part of compiling a big
// program, so a graph is built once, into a buffer of the expected capacity, and then cut to size;
// only where it does not fit is it built a second time.
// Test: tests/trace/random_functions.cpp, tests/trace/node_counts.cpp

#include <eddy/trace/loop_structure.hpp>

namespace eddy::inline v0 {

/// How many of each item a graph has.
struct GraphSizes {
    int nodes = 0, operands = 0, constants = 0, arguments = 0, outputs = 0, names = 0, regions = 0,
        loops = 0;

    [[nodiscard]] constexpr bool fit_in(const GraphSizes& room) const {
        return nodes <= room.nodes && operands <= room.operands && constants <= room.constants &&
               arguments <= room.arguments && outputs <= room.outputs && names <= room.names &&
               regions <= room.regions && loops <= room.loops;
    }
};

[[nodiscard]] constexpr GraphSizes sizes_of(const Graph& graph) {
    const auto count = [](const auto& items) { return static_cast<int>(items.size()); };
    return {count(graph.nodes),     count(graph.operands), count(graph.constants),
            count(graph.arguments), count(graph.outputs),  count(graph.names),
            count(graph.regions),   count(graph.loops)};
}

template <GraphSizes room>
struct StaticGraph;

namespace detail {

/// Where a graph lies that is a constant of the program, whatever its room. To trace the function once more, when the
/// program runs, every operator of the trace would be compiled as machine code.
struct ConstantGraph {
    GraphSizes sizes;
    TraceError error;
    const Node* nodes;
    const int* operands;
    const double* constants;
    const Argument* arguments;
    const Output* outputs;
    const std::string_view* names;
    const SourcePlace* places;
    const Region* regions;
    const Loop* loops;

    template <GraphSizes room>
    explicit constexpr ConstantGraph(const StaticGraph<room>& of)
        : sizes(of.sizes),
          error(of.error),
          nodes(of.nodes),
          operands(of.operands),
          constants(of.constants),
          arguments(of.arguments),
          outputs(of.outputs),
          names(of.names),
          places(of.places),
          regions(of.regions),
          loops(of.loops) {}

    [[nodiscard]] constexpr Graph thaw() const {
        Graph graph;
        graph.nodes.assign(nodes, nodes + sizes.nodes);
        graph.operands.assign(operands, operands + sizes.operands);
        graph.constants.assign(constants, constants + sizes.constants);
        graph.arguments.assign(arguments, arguments + sizes.arguments);
        graph.outputs.assign(outputs, outputs + sizes.outputs);
        graph.names.assign(names, names + sizes.names);
        graph.places.assign(places, places + sizes.names);
        graph.regions.assign(regions, regions + sizes.regions);
        graph.loops.assign(loops, loops + sizes.loops);
        graph.error = error;
        return graph;
    }
};

}  // namespace detail

/// A graph in built-in arrays, with room for `room`.
template <GraphSizes room>
struct StaticGraph {
    GraphSizes sizes;
    TraceError error = TraceError::none;
    Node nodes[room.nodes + 1];
    int operands[room.operands + 1];
    double constants[room.constants + 1];
    Argument arguments[room.arguments + 1];
    Output outputs[room.outputs + 1];
    std::string_view names[room.names + 1];
    SourcePlace places[room.names + 1];
    Region regions[room.regions + 1];
    Loop loops[room.loops + 1];

    [[nodiscard]] static constexpr int size() { return room.nodes; }
    [[nodiscard]] static constexpr int num_arguments() { return room.arguments; }
    [[nodiscard]] static constexpr int num_outputs() { return room.outputs; }
    [[nodiscard]] static constexpr int num_loops() { return room.loops; }
    [[nodiscard]] constexpr SourcePlace place_of_name(int name) const { return places[name]; }

    /// The same graph, ready to be transformed.
    [[nodiscard]] constexpr Graph thaw() const { return detail::ConstantGraph(*this).thaw(); }
};

namespace detail {

template <class Item>
constexpr void copy_items(const Item* from, int count, Item* to) {
    for (int i = 0; i < count; ++i) to[i] = from[i];
}

/// Copies between anything that holds a graph's items contiguously, if they fit; the sizes are
/// noted in any case.
template <GraphSizes room, class From>
constexpr StaticGraph<room> copy_graph(const From& from, const GraphSizes& sizes) {
    StaticGraph<room> to{};
    to.sizes = sizes;
    to.error = from.error;
    if (!sizes.fit_in(room)) return to;
    copy_items(&from.nodes[0], sizes.nodes, to.nodes);
    copy_items(&from.arguments[0], sizes.arguments, to.arguments);
    copy_items(&from.outputs[0], sizes.outputs, to.outputs);
    copy_items(&from.regions[0], sizes.regions, to.regions);
    if (sizes.operands > 0) copy_items(&from.operands[0], sizes.operands, to.operands);
    if (sizes.constants > 0) copy_items(&from.constants[0], sizes.constants, to.constants);
    if (sizes.names > 0) copy_items(&from.names[0], sizes.names, to.names);
    for (int name = 0; name < sizes.names; ++name) to.places[name] = from.place_of_name(name);
    if (sizes.loops > 0) copy_items(&from.loops[0], sizes.loops, to.loops);
    return to;
}

template <class Make, GraphSizes room>
constexpr StaticGraph<room> build_into() {
    Graph graph = Make::make();
    if (graph.error == TraceError::none && !graph.loops.empty() && !loops_are_sound(graph))
        graph.error = TraceError::unsound_loops;
    return copy_graph<room>(graph, sizes_of(graph));
}

/// The room that a recipe expects to need.
template <class Make>
constexpr GraphSizes expected_room() {
    int nodes = 192;
    if constexpr (requires { Make::expected_sizes; }) return Make::expected_sizes;
    if constexpr (requires { Make::expected_nodes; }) nodes = Make::expected_nodes;
    return {.nodes = nodes,
            .operands = 3 * nodes,
            .constants = nodes,
            .arguments = 16,
            .outputs = 16,
            .names = 16,
            .regions = 16,
            .loops = 16};
}

}  // namespace detail

/// The graph that `Make::make()` builds, as a constant of exactly its size.
template <class Make>
[[nodiscard]] constexpr auto freeze() {
    constexpr auto buffer = detail::build_into<Make, detail::expected_room<Make>()>();
    constexpr GraphSizes sizes = buffer.sizes;
    if constexpr (sizes.fit_in(detail::expected_room<Make>())) {
        return detail::copy_graph<sizes>(buffer, sizes);
    } else {
        return detail::build_into<Make, sizes>();
    }
}

/// Does a program read one of its arguments?
template <GraphSizes room>
[[nodiscard]] constexpr bool reads_argument(const StaticGraph<room>& code, int index) {
    for (int i = 0; i < code.sizes.nodes; ++i) {
        if (code.nodes[i].op == Op::argument && code.nodes[i].index == index) return true;
    }
    return false;
}

}  // namespace eddy::inline v0
