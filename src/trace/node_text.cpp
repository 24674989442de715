#include "node_text.hpp"

#include <eddy/core/message.hpp>

namespace eddy::inline v0::detail {

std::string number_text(double value) { return compose("{}", value); }

std::string range_text(int first, int count) {
    return count == 1 ? compose("[{}]", first) : compose("[{}:{}]", first, first + count);
}

std::string argument_name(const ArgumentNames& names, int index) {
    const auto i = static_cast<std::size_t>(index);
    return i < names.size() ? names[i] : compose("x{}", index);
}

std::string place_text(const SourcePlace& place) {
    return compose("{}:{} ({})", place.file, place.line, place.function);
}

namespace {

std::string argument_text(const Graph& graph, const Node& node, const ArgumentNames& names) {
    const Argument& argument = graph.arguments[static_cast<std::size_t>(node.index)];
    const std::string name = argument_name(names, node.index);
    const bool is_whole = argument.is_scalar || (node.size == argument.size && node.size != 1);
    return is_whole ? name : name + range_text(node.offset, node.size);
}

std::string constant_text(const Graph& graph, const Node& node) {
    if (node.size == 1) return number_text(graph.constant_value(node));
    constexpr int longest = 8;
    std::string text = "(";
    for (int k = 0; k < node.size && k < longest; ++k) {
        text += (k > 0 ? ", " : "") +
                number_text(graph.constants[static_cast<std::size_t>(node.offset + k)]);
    }
    return text + (node.size > longest ? ", ...)" : ")");
}

/// A loop and how it runs.
std::string loop_text(const Graph& graph, const Node& node) {
    const std::string text = compose("{} {}", name(node.op), node.index);
    if (node.op != Op::loop) return text;
    const Loop& loop = graph.loops[static_cast<std::size_t>(node.index)];
    const bool may_leave = loop.has_condition || loop.has_turns;
    return text + compose(" ({}{} turns{})", may_leave ? "at most " : "", loop.length,
                          loop.is_backward ? ", backwards" : "");
}

}  // namespace

std::string node_text(const Graph& graph, const Node& node, const ArgumentNames& names) {
    const std::string op = name(node.op);
    switch (node.op) {
        case Op::argument: return op + " " + argument_text(graph, node, names);
        case Op::constant: return op + " " + constant_text(graph, node);
        case Op::slice: return op + " " + range_text(node.offset, node.size);
        case Op::powi:
        case Op::polygamma: return compose("{} {}", op, node.index);
        case Op::name:
            return compose("{} \"{}\"", op, graph.names[static_cast<std::size_t>(node.index)]);
        case Op::carry:
        case Op::element:
        case Op::loop:
        case Op::turns:
        case Op::stacked: return loop_text(graph, node);
        default: return op;
    }
}

}  // namespace eddy::inline v0::detail
