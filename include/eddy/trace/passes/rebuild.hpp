#pragma once
// What every pass shares: a new graph grown from an old one, with a map from old nodes to new. A
// pass walks the nodes in order and either copies a node (its operands mapped) or lets it stand for
// another.
// Test: tests/trace/random_passes.cpp, tests/trace/passes/fold.cpp

#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::passes {

class Rebuild {
  public:
    explicit constexpr Rebuild(const Graph& from) : from_(from), map_(from.nodes.size(), -1) {
        to_.constants = from.constants;
        to_.arguments = from.arguments;
        to_.names = from.names;
        to_.places = from.places;
        to_.regions = from.regions;
        to_.loops = from.loops;
        to_.error = from.error;
        to_.run_time = from.run_time;
        to_.nodes.reserve(from.nodes.size());
        to_.operands.reserve(from.operands.size());
    }

    [[nodiscard]] constexpr Graph& graph() { return to_; }
    [[nodiscard]] constexpr int map(int old_node) const {
        return map_[static_cast<std::size_t>(old_node)];
    }
    /// Node `old_node` is represented by `new_node` of the new graph.
    constexpr void set(int old_node, int new_node) {
        map_[static_cast<std::size_t>(old_node)] = new_node;
    }
    /// The new node that stands for operand k of `node`.
    [[nodiscard]] constexpr int operand(const Node& node, int k) const {
        return map(from_.operand(node, k));
    }

    /// Appends a copy of `node` with mapped operands. A loop leaves out what it need not stack.
    constexpr int copy(Node node) {
        const int first = static_cast<int>(to_.operands.size());
        for (int k = 0; k < node.count; ++k) {
            if (node.op != Op::loop || operand(node, k) >= 0)
                to_.operands.push_back(operand(node, k));
        }
        node.first = first;
        node.count = static_cast<int>(to_.operands.size()) - first;
        to_.nodes.push_back(node);
        return to_.size() - 1;
    }

    /// Maps the outputs and returns the finished graph.
    [[nodiscard]] constexpr Graph finish() {
        for (const Output& output : from_.outputs) {
            List<int> list;
            for (int k = 0; k < output.count; ++k)
                list.push_back(map(from_.output_node(output, k)));
            to_.push_output(list, output.size, output.is_scalar);
        }
        return std::move(to_);
    }

  private:
    const Graph& from_;
    Graph to_;
    List<int> map_;
};

}  // namespace eddy::inline v0::passes
