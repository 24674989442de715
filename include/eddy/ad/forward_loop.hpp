#pragma once
// Forward mode of a loop: one loop that carries values and tangents, with the condition of the first.
// Values are read off it from then on, so that the first one is not computed beside it.
// Test: tests/trace/loops_derivatives.cpp

#include <eddy/ad/forward.hpp>
#include <eddy/ad/loop_body.hpp>

namespace eddy::inline v0::detail {

class LoopPushforward {
  public:
    constexpr LoopPushforward(Forward& forward, int end)
        : forward_(forward),
          graph_(forward.graph()),
          num_nodes_(graph_.size()),
          body_(graph_, end),
          node_(graph_[end]),
          both_(num_loops(graph_)),
          copy_(graph_, body_, both_) {}

    constexpr void run() {
        if (!depends()) return;
        const int n = node_.size;
        const Loop description = graph_.loops[static_cast<std::size_t>(node_.index)];
        graph_.loops.push_back(description);
        const int start = join(operand(1));
        const int state = graph_.push({.op = Op::carry, .size = 2 * n, .index = both_});
        const int value = slice_node(graph_, state, 0, n);
        copy_.set(body_.carry(), value);
        forward_.set_tangent(value, slice_node(graph_, state, n, n));
        copy_body();
        List<int> operands{state, start, join(copy_(operand(2)))};
        for (int k = 3; k < description.num_fixed(); ++k) operands.push_back(copy_(operand(k)));
        List<std::pair<int, int>> stacked;  // (stacked node, tangent of a turn)
        for (int s = body_.end() + 1; s < num_nodes_; ++s) {
            if (graph_[s].op != Op::stacked || graph_.operand(s, 0) != body_.end()) continue;
            const int y = copy_(graph_.operand(s, 1));
            stacked.push_back({s, forward_.has_tangent(y) ? forward_.tangent_of(y).node() : -1});
            operands.push_back(y);
            if (stacked.back().second >= 0) operands.push_back(stacked.back().second);
        }
        const int loop =
            graph_.push_list({.op = Op::loop, .size = 2 * n, .index = both_}, operands);
        forward_.set_alias(body_.end(), slice_node(graph_, loop, 0, n));
        forward_.set_tangent(body_.end(), slice_node(graph_, loop, n, n));
        for (const auto& [s, tangent] : stacked) {
            Node all = graph_[s];
            all.index = both_;
            forward_.set_alias(s, graph_.push(all, loop, copy_(graph_.operand(s, 1))));
            if (tangent >= 0) forward_.set_tangent(s, graph_.push(all, loop, tangent));
        }
        for (int t = body_.end() + 1; t < num_nodes_; ++t) {
            if (graph_[t].op == Op::turns && graph_.operand(t, 0) == body_.end())
                forward_.set_alias(t, graph_.push({.op = Op::turns, .index = both_}, loop));
        }
    }

  private:
    [[nodiscard]] constexpr int operand(int k) const { return graph_.operand(node_, k); }
    [[nodiscard]] constexpr bool depends() const {
        bool any = forward_.has_tangent(operand(1));
        for (int j = body_.carry(); j < body_.end(); ++j) {
            for (int k = 0; body_.contains(j) && k < graph_[j].count; ++k)
                any = any || forward_.has_tangent(graph_.operand(j, k));
        }
        return any || forward_.has_tangent(operand(2));
    }
    /// A value and its tangent in one vector.
    constexpr int join(int i) {
        const int value = forward_.value_of(i).node(),
                  tangent = forward_.tangent_or_zero_of(i).node();
        return graph_.push_list({.op = Op::concat, .size = 2 * node_.size}, {value, tangent});
    }
    constexpr void copy_body() {
        for (int j = body_.carry() + 1; j < body_.end(); ++j) {
            if (!body_.contains(j)) continue;
            const int copied = copy_.copy(graph_, j);
            if (graph_[copied].op != Op::loop) {
                if (body_.contains_directly(j)) push_tangent(copied);
                continue;
            }
            // What a loop inside stacks is behind it: copied at once, so that its pushforward sees it.
            for (int s = j + 1; s < body_.end(); ++s) {
                const Op op = graph_[s].op;
                if ((op == Op::stacked || op == Op::turns) && graph_.operand(s, 0) == j)
                    copy_.copy(graph_, s);
            }
            push_tangent(copied);
        }
    }
    constexpr void push_tangent(int i) {
        const Node node = graph_[i];
        if (node.op == Op::element) {
            const int xs = graph_.operand(node, 0);
            if (forward_.has_tangent(xs))
                forward_.set_tangent(i, graph_.push(node, forward_.tangent_of(xs).node()));
        } else {
            forward_.push_node(i);
        }
    }

    Forward& forward_;
    Graph& graph_;
    int num_nodes_;
    LoopBody body_;
    Node node_;
    int both_;
    LoopCopy copy_;
};

constexpr void Forward::push_node(int i) {
    const Node node = graph_[i];
    if (node.op == Op::loop && graph_.loops[static_cast<std::size_t>(node.index)].replays) {
        const int start = graph_.operand(node, 1);
        if (has_tangent(start)) set_tangent(i, tangent_of(start).node());
        return;
    }
    if (node.op == Op::loop) return LoopPushforward(*this, i).run();
    if (node.op == Op::argument || is_loop_op(node.op) || !has_derivative(node.op)) return;
    bool depends = false;
    for (int k = 0; k < node.count; ++k) depends = depends || has_tangent(graph_.operand(node, k));
    if (depends) visit_op(node.op, *this, node, i);
}

// Defined after the class: clang instantiates `visit` where it is first named, and needs its body
// by then.
constexpr void Forward::run() {
    const List<char> in_loop = nodes_in_loops(graph_, num_primal_);
    for (int i = 0; i < num_primal_; ++i) {
        if (in_loop[static_cast<std::size_t>(i)]) continue;
        graph_.current_region = graph_[i].region;
        push_node(i);
    }
    graph_.current_region = 0;
}

}  // namespace eddy::inline v0::detail
