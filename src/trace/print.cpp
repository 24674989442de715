#include <eddy/core/message.hpp>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/print.hpp>
#include <iostream>

#include "node_text.hpp"

namespace eddy::inline v0 {
namespace {

std::string size_text(int size, bool is_scalar) {
    return is_scalar ? "" : detail::compose(" : {}", size);
}

void append_operand(std::string& text, int node) { text += detail::compose(" %{}", node); }

std::string signature(const Graph& graph, const ArgumentNames& names) {
    std::string text = "program of";
    for (std::size_t a = 0; a < graph.arguments.size(); ++a) {
        const Argument& argument = graph.arguments[a];
        text += (a > 0 ? ", " : " ") + detail::argument_name(names, static_cast<int>(a)) +
                size_text(argument.size, argument.is_scalar);
    }
    return text + "\n";
}

}  // namespace

std::string to_text(const Graph& graph, const ArgumentNames& names, bool places) {
    std::string text = signature(graph, names);
    const List<int> loop_of = detail::loops_of_nodes(graph, graph.size());
    const detail::LoopTree tree(graph, loop_of);
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        for (int loop = loop_of[static_cast<std::size_t>(i)]; loop >= 0;
             loop = tree.parents[static_cast<std::size_t>(loop)])
            text += "| ";
        text += detail::compose("%{} = {}", i, detail::node_text(graph, node, names));
        for (int k = 0; k < node.count; ++k) append_operand(text, graph.operand(node, k));
        text += size_text(node.size, node.size == 1);
        if (node.region != 0) text += detail::compose("  (region {})", node.region);
        const SourcePlace place = places ? graph.place_of(i) : SourcePlace{};
        if (place.line > 0) text += "  # " + detail::place_text(place);
        text += '\n';
    }
    for (const Output& output : graph.outputs) {
        text += "result";
        for (int k = 0; k < output.count; ++k) append_operand(text, graph.output_node(output, k));
        text += size_text(output.size, output.is_scalar) + "\n";
    }
    return text;
}

void print(const Graph& graph, const ArgumentNames& names) {
    std::cout << to_text(graph, names) << std::flush;
}

}  // namespace eddy::inline v0
