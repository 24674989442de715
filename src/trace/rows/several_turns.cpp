#include "several_turns.hpp"

#include <algorithm>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/op.hpp>
#include <eddy/trace/passes/rebuild.hpp>
#include <eddy/trace/slice_node.hpp>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Numbers that a turn computes.
int count_operations(const Graph& turn) {
    int count = 0;
    for (const Node& node : turn.nodes) {
        const bool is_product = node.op == Op::dense || node.op == Op::dense_transposed;
        if (node.op != Op::argument && node.op != Op::constant)
            count += node.size * (is_product ? turn[turn.operand(node, 1)].size : 1);
    }
    return count;
}

/// One pass: loops without others in them.
class ShortLoops {
  public:
    explicit ShortLoops(const Graph& graph)
        : graph_(graph),
          loop_of_(loops_of_nodes(graph, graph.size())),
          tree_(graph, loop_of_),
          rebuild_(graph),
          is_short_(graph.loops.size(), 0) {
        for (int end = 0; end < graph.size(); ++end)
            if (graph[end].op == Op::loop && is_short(end)) is_short_[at(graph[end].index)] = 1;
    }

    [[nodiscard]] bool has_any() const {
        return std::find(is_short_.begin(), is_short_.end(), 1) != is_short_.end();
    }
    Graph run() {
        for (int i = 0; i < graph_.size(); ++i) {
            const Node& node = graph_[i];
            const bool is_inside = loop_of_[at(i)] >= 0 && is_short_[at(loop_of_[at(i)])];
            const bool is_end = is_loop_op(node.op) && !is_inside && is_short_[at(node.index)];
            if (is_end && node.op == Op::loop)
                embed(i);
            else if (!is_inside && !is_end)
                rebuild_.set(i, rebuild_.copy(node));
        }
        return rebuild_.finish();
    }

  private:
    [[nodiscard]] bool is_short(int end) const {
        constexpr int most_operations = 256;
        const Node& node = graph_[end];
        const Loop& loop = graph_.loops[at(node.index)];
        const bool has_inner = std::find(tree_.parents.begin(), tree_.parents.end(), node.index) !=
                               tree_.parents.end();
        if (loop.num_fixed() > 3 || has_inner || loop.length == 0) return false;
        return count_operations(body_of_loop(graph_, loop_of_, end, stacked(end)).turn) *
                   loop.length <=
               most_operations;
    }
    [[nodiscard]] List<int> stacked(int end) const {
        List<int> nodes;
        for (int s = end + 1; s < graph_.size(); ++s)
            if (graph_[s].op == Op::stacked && graph_.operand(s, 0) == end) nodes.push_back(s);
        return nodes;
    }
    /// All turns of a loop in its place.
    void embed(int end) {
        const BodyOnRows body = body_of_loop(graph_, loop_of_, end, stacked(end));
        const Loop& loop = graph_.loops[at(graph_[end].index)];
        const Graph turns = several_turns(body, loop.length, loop.is_backward);
        Graph& to = rebuild_.graph();
        const auto first = static_cast<int>(to.constants.size());
        to.constants.insert(to.constants.end(), turns.constants.begin(), turns.constants.end());
        List<int> map;
        for (Node node : turns.nodes) {
            if (node.op == Op::argument) {
                const int from =
                    node.index == 0 ? graph_.operand(end, 1) : body.operands[at(node.index - 1)];
                map.push_back(slice_node(to, rebuild_.map(from), node.offset, node.size));
                continue;
            }
            if (node.op == Op::constant) node.offset += first;
            List<int> operands;
            for (int k = 0; k < node.count; ++k)
                operands.push_back(map[at(turns.operand(node, k))]);
            map.push_back(to.push_list(node, operands));
        }
        const auto result = [&](std::size_t o) {
            List<int> parts;
            for (int k = 0; k < turns.outputs[o].count; ++k)
                parts.push_back(map[at(turns.output_node(turns.outputs[o], k))]);
            return joined_node(to, parts);
        };
        rebuild_.set(end, result(0));
        for (std::size_t s = 0; s < body.stacked.size(); ++s)
            rebuild_.set(body.stacked[s], result(s + 1));
    }

    const Graph& graph_;
    List<int> loop_of_;  // (node)
    LoopTree tree_;
    passes::Rebuild rebuild_;
    List<char> is_short_;  // (loop)
};

}  // namespace

Graph several_turns(const BodyOnRows& body, int count, bool is_backward) {
    const Graph& turn = body.turn;
    const auto is_walked = [&](int argument) {
        return argument > 0 && body.is_walked[at(argument - 1)] != 0;
    };
    Graph all;
    all.constants = turn.constants;
    all.arguments = turn.arguments;
    for (std::size_t k = 0; k < body.is_walked.size(); ++k)
        if (body.is_walked[k]) all.arguments[k + 1].size *= count;
    int state = all.push_argument(0, 0, turn.arguments[0].size);
    List<List<int>> results(turn.outputs.size(), List<int>(at(count), -1));  // (result, turn)
    for (int taken = 0; taken < count; ++taken) {
        const int place = is_backward ? count - 1 - taken : taken;
        List<int> map;
        for (const Node& node : turn.nodes) {
            if (node.op == Op::argument && node.index == 0) {
                map.push_back(slice_node(all, state, node.offset, node.size));
                continue;
            }
            Node copied = node;
            if (node.op == Op::argument && is_walked(node.index))
                copied.offset += place * turn.arguments[at(node.index)].size;
            List<int> operands;
            for (int k = 0; k < node.count; ++k) operands.push_back(map[at(turn.operand(node, k))]);
            map.push_back(all.push_list(copied, operands));
        }
        for (std::size_t o = 0; o < results.size(); ++o)
            results[o][at(place)] = map[at(turn.output_node(turn.outputs[o], 0))];
        state = results[0][at(place)];
    }
    all.push_output({state}, turn.outputs[0].size, false);
    for (std::size_t o = 1; o < results.size(); ++o)
        all.push_output(results[o], count * turn.outputs[o].size, false);
    return all;
}

Graph write_out_short_loops(Graph turn) {
    for (;;) {
        ShortLoops loops(turn);
        if (!loops.has_any()) return turn;
        turn = loops.run();
    }
}

}  // namespace eddy::inline v0::detail
