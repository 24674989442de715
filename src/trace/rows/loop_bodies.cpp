#include "loop_bodies.hpp"

#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/passes/dce.hpp>

#include "scalar_list.hpp"
#include "several_turns.hpp"

namespace eddy::inline v0::detail {
namespace {

class BodyMaker {
  public:
    BodyMaker(const Graph& graph, const List<int>& loop_of, int end)
        : graph_(graph),
          loop_of_(loop_of),
          tree_(graph, loop_of),
          end_(end),
          loop_(graph[end].index),
          place_(at(end), -1) {}

    BodyOnRows run(const List<int>& stacked) {
        body_.stacked = stacked;
        arguments_.push_back({graph_[end_].size, false});
        List<int> results{graph_.operand(end_, 2)};
        for (const int s : stacked) results.push_back(graph_.operand(s, 1));
        body_.turn = program_of(results);
        if (graph_.loops[at(loop_)].has_condition)
            body_.condition = program_of({graph_.operand(end_, 3)});
        for (Graph* const program : {&body_.turn, &body_.condition}) {
            if (program->outputs.empty()) continue;
            program->arguments = arguments_;
            *program = write_out_short_loops(std::move(*program));
        }
        return std::move(body_);
    }

  private:
    Graph program_of(const List<int>& results) {
        Graph program;
        program.loops = graph_.loops;
        const List<char> needed = read_in_turn(results);
        List<int> map(at(end_), -1);
        for (int i = 0; i < end_; ++i)
            if (needed[at(i)]) map[at(i)] = push(program, i, map, needed);
        for (const int result : results)
            program.push_output({map[at(result)]}, graph_[result].size, false);
        return program;
    }
    /// What a turn computes, and what of the nodes around it reads.
    [[nodiscard]] List<char> read_in_turn(const List<int>& results) const {
        List<char> is_read(at(end_), 0);
        for (const int result : results) is_read[at(result)] = 1;
        for (int i = end_ - 1; i >= 0; --i) {
            const Node& node = graph_[i];
            if (!is_read[at(i)] || !is_inside(i) || is_own_element(node)) continue;
            const int count =
                node.op == Op::loop ? graph_.loops[at(node.index)].num_fixed() : node.count;
            for (int k = 0; k < count; ++k) is_read[at(graph_.operand(i, k))] = 1;
        }
        return is_read;
    }
    [[nodiscard]] bool is_inside(int i) const { return tree_.is_within(loop_of_[at(i)], loop_); }
    [[nodiscard]] bool is_own_element(const Node& node) const {
        return node.op == Op::element && node.index == loop_;
    }
    /// What stands for node i in a turn.
    int push(Graph& program, int i, const List<int>& map, const List<char>& needed) {
        Node node = graph_[i];
        if (node.op == Op::constant) {
            const auto first = graph_.constants.begin() + node.offset;
            node.offset = static_cast<int>(program.constants.size());
            program.constants.insert(program.constants.end(), first, first + node.size);
            return program.push_list(node, {});
        }
        if (node.op == Op::carry && node.index == loop_)
            return program.push_argument(0, 0, node.size);
        if (is_own_element(node))
            return program.push_argument(argument(i, graph_.operand(i, 0), true), 0, node.size);
        if (!is_inside(i)) return program.push_argument(argument(i, i, false), 0, node.size);
        List<int> operands;
        for (int k = 0; k < node.count; ++k) {
            const int from = graph_.operand(i, k);
            if (node.op != Op::loop || needed[at(from)]) operands.push_back(map[at(from)]);
        }
        return program.push_list(node, operands);
    }
    int argument(int i, int operand, bool is_walked) {
        int& place = place_[at(i)];
        if (place >= 0) return place;
        place = static_cast<int>(arguments_.size());
        arguments_.push_back({graph_[i].size, false});
        body_.operands.push_back(operand);
        body_.is_walked.push_back(is_walked);
        return place;
    }

    const Graph& graph_;
    const List<int>& loop_of_;
    LoopTree tree_;
    int end_, loop_;
    List<int> place_;  // (node): which argument it is
    List<Argument> arguments_;
    BodyOnRows body_;
};

}  // namespace

BodyOnRows body_of_loop(const Graph& graph, const List<int>& loop_of, int end,
                        const List<int>& stacked) {
    return BodyMaker(graph, loop_of, end).run(stacked);
}

Graph without_derivatives(const Graph& graph) {
    passes::Rebuild rebuild(graph);
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        const bool replays = node.op == Op::loop && graph.loops[at(node.index)].replays;
        rebuild.set(i, replays               ? rebuild.operand(node, 1)
                       : node.op == Op::root ? rebuild.operand(node, 0)
                                             : rebuild.copy(node));
    }
    return passes::eliminate_dead_code(rebuild.finish());
}

}  // namespace eddy::inline v0::detail
