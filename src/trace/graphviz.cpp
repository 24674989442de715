#include <eddy/core/message.hpp>
#include <eddy/trace/graphviz.hpp>
#include <eddy/trace/loop_structure.hpp>

#include "node_text.hpp"

namespace eddy::inline v0 {
namespace {

using detail::compose;
using detail::dot_text;

const char* style_of(Op op) {
    if (op == Op::argument) return "shape=ellipse, style=filled, fillcolor=\"#d8ecd4\"";
    if (op == Op::constant) return "shape=plaintext";
    return is_mask(op) ? "shape=diamond" : "shape=box, style=rounded";
}

class Drawing {
  public:
    Drawing(const Graph& graph, const ArgumentNames& names, std::string prefix)
        : graph_(graph),
          names_(names),
          prefix_(std::move(prefix)),
          loop_of_(detail::loops_of_nodes(graph, graph.size())),
          tree_(graph, loop_of_) {}

    std::string text() {
        draw_region(0, 1);
        for (int i = 0; i < graph_.size(); ++i) draw_operands(i);
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o) draw_output(o);
        return std::move(text_);
    }

  private:
    std::string indent(int depth) const {
        return std::string(static_cast<std::size_t>(depth) * 4, ' ');
    }

    /// The nodes of a region in a loop, and in boxes those of the loops within.
    void draw_nodes(int region, int loop, int depth) {
        List<char> has_nodes(graph_.loops.size(), 0);
        for (int i = 0; i < graph_.size(); ++i) {
            const Node& node = graph_[i];
            if (node.region != region) continue;
            for (int l = loop_of_[static_cast<std::size_t>(i)]; l >= 0;
                 l = tree_.parents[static_cast<std::size_t>(l)])
                has_nodes[static_cast<std::size_t>(l)] = 1;
            if (loop_of_[static_cast<std::size_t>(i)] != loop) continue;
            std::string label = compose("%{} {}", i, detail::node_text(graph_, node, names_));
            if (node.size != 1) label += compose(" : {}", node.size);
            const SourcePlace place = graph_.place_of(i);
            const std::string tooltip =
                place.line > 0 ? ", tooltip=" + dot_text(detail::place_text(place)) : "";
            text_ += compose("{}{}n{} [label={}, {}{}];\n", indent(depth), prefix_, i,
                             dot_text(label), style_of(node.op), tooltip);
        }
        for (std::size_t l = 0; l < has_nodes.size(); ++l) {
            if (!has_nodes[l] || tree_.parents[l] != loop) continue;
            text_ +=
                compose("{}subgraph cluster_{}{}_loop_{} {{\n", indent(depth), prefix_, region, l);
            text_ += compose("{}label=\"loop {}, {} turns\"; style=solid;\n", indent(depth + 1), l,
                             graph_.loops[l].length);
            draw_nodes(region, static_cast<int>(l), depth + 1);
            text_ += indent(depth) + "}\n";
        }
    }
    /// The nodes of a region, and in boxes those of the regions within.
    void draw_region(int region, int depth) {
        draw_nodes(region, -1, depth);
        for (std::size_t r = 1; r < graph_.regions.size(); ++r) {
            if (graph_.regions[r].parent != region) continue;
            text_ += compose("{}subgraph cluster_{}{} {{\n", indent(depth), prefix_, r);
            text_ += compose("{}label=\"region {}\"; style=dashed;\n", indent(depth + 1), r);
            draw_region(static_cast<int>(r), depth + 1);
            text_ += indent(depth) + "}\n";
        }
    }

    void draw_edge(int from, const std::string& to, const std::string& label) {
        text_ += compose("    {}n{} -> {}", prefix_, from, to);
        text_ += label.empty() ? ";\n" : compose(" [label={}];\n", dot_text(label));
    }
    void draw_operands(int i) {
        const Node& node = graph_[i];
        const bool is_ordered = node.count > 1 && !is_commutative(node.op);
        for (int k = 0; k < node.count; ++k)
            draw_edge(graph_.operand(node, k), compose("{}n{}", prefix_, i),
                      is_ordered ? compose("{}", k) : "");
    }
    void draw_output(std::size_t o) {
        const Output& output = graph_.outputs[o];
        const std::string id = compose("{}result{}", prefix_, o);
        std::string label = compose("result {}", o);
        if (!output.is_scalar) label += compose(" : {}", output.size);
        text_ += compose("    {} [label={}, shape=box, style=filled, fillcolor=\"#d4e0f0\"];\n", id,
                         dot_text(label));
        int begin = 0;
        for (int k = 0; k < output.count; ++k) {
            const int node = graph_.output_node(output, k), size = graph_[node].size;
            draw_edge(node, id, output.is_scalar ? "" : detail::range_text(begin, size));
            begin += size;
        }
    }

    const Graph& graph_;
    const ArgumentNames& names_;
    std::string prefix_;
    List<int> loop_of_;
    detail::LoopTree tree_;
    std::string text_;
};

}  // namespace

namespace detail {

std::string dot_text(const std::string& text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

std::string graphviz_nodes(const Graph& graph, const ArgumentNames& names,
                           const std::string& prefix) {
    return Drawing(graph, names, prefix).text();
}

}  // namespace detail

std::string to_graphviz(const Graph& graph, const ArgumentNames& names) {
    return "digraph program {\n    node [fontname=\"sans-serif\"];\n" +
           detail::graphviz_nodes(graph, names, "") + "}\n";
}

}  // namespace eddy::inline v0
