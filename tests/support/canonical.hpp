#pragma once
// A graph as text that does not depend on how its nodes are numbered: two graphs that compute the
// same outputs by the same operations read the same. C++ leaves the order of operands open, so a
// trace at run time may number its nodes otherwise than one at compile time.

#include <bit>
#include <cstdint>
#include <eddy/trace/graph.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace support {

class Canonical {
  public:
    explicit Canonical(const eddy::Graph& graph) : graph_(graph), numbers_(graph.nodes.size(), -1) {
        for (const eddy::Argument& argument : graph.arguments)
            text_ << "argument " << argument.size << (argument.is_scalar ? " scalar\n" : "\n");
        for (const eddy::Output& output : graph.outputs) {
            std::string list;
            for (int k = 0; k < output.count; ++k)
                list += " %" + std::to_string(visit(graph.output_node(output, k)));
            text_ << "output " << output.size << (output.is_scalar ? " scalar" : "") << list
                  << '\n';
        }
    }
    [[nodiscard]] std::string text() const { return text_.str(); }

  private:
    int visit(int i) {
        int& number = numbers_[static_cast<std::size_t>(i)];
        if (number >= 0) return number;
        const eddy::Node& node = graph_[i];
        std::string list;
        for (int k = 0; k < node.count; ++k)
            list += " %" + std::to_string(visit(graph_.operand(node, k)));
        number = count_++;
        text_ << '%' << number << " = " << eddy::name(node.op) << ' ' << node.size << list;
        if (node.op == eddy::Op::constant) {
            for (int k = 0; k < node.size; ++k) {
                text_ << ' ' << std::hex
                      << std::bit_cast<std::uint64_t>(
                             graph_.constants[static_cast<std::size_t>(node.offset + k)])
                      << std::dec;
            }
        } else if (node.op == eddy::Op::name) {
            text_ << ' ' << graph_.names[static_cast<std::size_t>(node.index)];
        } else {
            text_ << " index " << node.index << " offset " << node.offset;
        }
        text_ << '\n';
        return number;
    }

    const eddy::Graph& graph_;
    std::vector<int> numbers_;
    std::ostringstream text_;
    int count_ = 0;
};

inline std::string canonical(const eddy::Graph& graph) { return Canonical(graph).text(); }

}  // namespace support
