#pragma once
// What is read of a graph, and how: numbers that all lanes share where they lie, all else component by component.

#include <eddy/trace/graph.hpp>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/op.hpp>
#include <eddy/trace/rows/program_code.hpp>
#include <eddy/trace/sparse_parts.hpp>
#include <unordered_map>
#include <vector>

#include "loop_bodies.hpp"
#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

[[nodiscard]] inline bool is_set(const std::vector<char>& flags, std::size_t k) {
    return k < flags.size() && flags[k] != 0;
}

class GraphReads {
  public:
    GraphReads(const Graph& graph, const RowRoles& roles)
        : graph_(graph),
          roles_(roles),
          loop_of_(loops_of_nodes(graph, graph.size())),
          is_read_(at(graph.size()), 0),
          is_needed_(at(graph.size()), 0) {
        for (const Node& node : graph.nodes)
            for (int k = 0; k < node.count; ++k) is_read_[at(graph.operand(node, k))] = 1;
        for (std::size_t o = 0; o < graph.outputs.size(); ++o)
            for (int k = 0; k < graph.outputs[o].count && !is_set(roles.summed, o); ++k)
                is_read_[at(graph.output_node(graph.outputs[o], k))] = 1;
        find_needed();
    }

    /// Does somebody read it component by component? Products read weights, and tables numbers, where they lie.
    [[nodiscard]] bool is_needed(int i) const { return is_needed_[at(i)] != 0; }
    /// A loop that somebody needs.
    [[nodiscard]] const BodyOnRows& body(int end) const { return bodies_.at(end); }
    /// Where an operand of a loop lies, if lanes share it: a vector that is walked along may be constant.
    [[nodiscard]] bool are_numbers_in_turns(const BodyOnRows& body, std::size_t k) const {
        const int i = body.operands[k];
        return are_numbers(i) || (body.is_walked[k] && graph_[i].op == Op::constant);
    }
    /// An outer product whose lanes are added up: it is no value.
    [[nodiscard]] bool is_summed_outer(int i) const {
        return graph_[i].op == Op::outer && is_read_[at(i)] == 0;
    }
    /// Numbers at places, which are added to a result there: the vector that has them is not made.
    [[nodiscard]] bool is_scattered(std::size_t output, int i) const {
        return (is_set(roles_.adds, output) || is_set(roles_.summed, output)) &&
               is_sparse(graph_, i);
    }
    /// Where a node lies among the numbers of an argument.
    [[nodiscard]] ScalarBlock::Place numbers_of(int i) const {
        const Node& node = graph_[i];
        if (node.op == Op::argument && is_set(roles_.shared, at(node.index)))
            return {node.index, node.offset};
        if (node.op != Op::slice && !is_identity(node.op)) return {};
        ScalarBlock::Place place = numbers_of(graph_.operand(node, 0));
        if (node.op == Op::slice) place.component += node.offset;
        return place;
    }
    /// Is it W x (+ b) of weights that all lanes share?
    [[nodiscard]] bool is_product(const Node& node) const {
        return (node.op == Op::dense || node.op == Op::dense_transposed) &&
               graph_[graph_.operand(node, 1)].size > 0 && are_numbers(graph_.operand(node, 0)) &&
               (node.count < 3 || are_numbers(graph_.operand(node, 2)));
    }
    /// Is the vector at whose places something is done the same numbers for all lanes?
    [[nodiscard]] bool is_table_of_numbers(const Node& node) const {
        const int table = graph_.operand(node, 0);
        return graph_[table].op == Op::constant || are_numbers(table);
    }

  private:
    [[nodiscard]] bool are_numbers(int i) const { return numbers_of(i).is_somewhere(); }
    void find_needed() {
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
            for (int k = 0; k < graph_.outputs[o].count; ++k) {
                int i = graph_.output_node(graph_.outputs[o], k);
                if (is_scattered(o, i))
                    for (; graph_[i].op == Op::add_at; i = graph_.operand(i, 0))
                        need_operands(i, 1);
                else if (is_summed_outer(i))
                    need_operands(i);
                else
                    is_needed_[at(i)] = 1;
            }
        }
        for (int i = graph_.size() - 1; i >= 0; --i)
            if (is_needed(i)) need_operands(i);
    }
    void need_operands(int i, int first = 0) {
        const Node& node = graph_[i];
        const auto need = [&](int k) { is_needed_[at(graph_.operand(i, k))] = 1; };
        if (node.op == Op::loop) return need_operands_of_loop(i);
        if (node.op == Op::stacked || node.op == Op::turns) return need(0);
        const bool reads_numbers =
            is_product(node) || (is_table_op(node.op) && is_table_of_numbers(node));
        const int last = is_product(node) ? 2 : node.count;
        for (int k = reads_numbers ? 1 : first; k < last; ++k) need(k);
    }
    void need_operands_of_loop(int end) {
        List<int> stacked;
        for (int s = end + 1; s < graph_.size(); ++s)
            if (is_needed(s) && graph_[s].op == Op::stacked && graph_.operand(s, 0) == end)
                stacked.push_back(s);
        const BodyOnRows& body =
            bodies_.emplace(end, body_of_loop(graph_, loop_of_, end, stacked)).first->second;
        const Loop& loop = graph_.loops[at(graph_[end].index)];
        is_needed_[at(graph_.operand(end, 1))] = 1;
        for (int k = 3 + loop.has_condition; k < loop.num_fixed(); ++k)
            is_needed_[at(graph_.operand(end, k))] = 1;
        for (std::size_t k = 0; k < body.operands.size(); ++k)
            if (!are_numbers_in_turns(body, k)) is_needed_[at(body.operands[k])] = 1;
    }

    const Graph& graph_;
    const RowRoles& roles_;
    List<int> loop_of_;                           // (node)
    std::unordered_map<int, BodyOnRows> bodies_;  // (node that ends a loop)
    std::vector<char> is_read_, is_needed_;       // (node)
};

}  // namespace eddy::inline v0::detail
