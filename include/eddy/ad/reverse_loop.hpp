#pragma once
// Reverse mode of a loop: a loop that takes the turns backwards, on the states that the first one stacks
// (its tape). For x' = g(x, p, u_t), y_t = h(x, p, u_t), from the last turn to the first:
//   u_t += g_uᵀ λ + h_uᵀ ȳ_t,   p += g_pᵀ λ + h_pᵀ ȳ_t,   λ ← g_xᵀ λ + h_xᵀ ȳ_t.
// The cotangents of what is captured, p, start from what later readers contributed and are carried with λ;
// so loops inside loops add in the same order as one loop, and give the same bits. Turns that a lane did
// not take, or that only a branch not taken reads, are masked: it keeps its state, never multiplies by
// zero. What is dear to compute again is kept beside the state.
// Test: tests/trace/loops_derivatives.cpp

#include <eddy/ad/delayed_states.hpp>
#include <eddy/ad/loop_body.hpp>
#include <eddy/ad/reverse.hpp>

namespace eddy::inline v0::detail {

/// The most numbers that one loop keeps beside its states.
inline constexpr int most_kept_of_loop = 4096;

class LoopReversal {
  public:
    constexpr LoopReversal(Reverse& reverse, int end)
        : reverse_(reverse),
          graph_(reverse.graph_),
          body_(graph_, end),
          node_(graph_[end]),
          old_(graph_.loops[at(node_.index)]),
          back_(num_loops(graph_)),
          copy_(graph_, body_, back_) {}

    constexpr void run() {
        lambda_ = reverse_.current_;
        collect_stacked();
        if (lambda_.node < 0 && stacked_.empty()) return;
        guard_ = guard_of_all();
        collect_captures();
        begin();
        copy_body();
        reverse_body();
        finish();
    }

  private:
    struct Turns {  // what the loop stacked of node y, and its cotangent
        int y = -1;
        Cotangent cotangent;
    };
    struct Capture {
        int node = -1, begin = 0, guard = -1;
        bool is_new = true;  // had no cotangent before
    };
    static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }
    [[nodiscard]] constexpr int end() const { return body_.end(); }
    [[nodiscard]] constexpr int operand(int k) const { return graph_.operand(node_, k); }
    [[nodiscard]] constexpr int size_of(int i) const { return graph_[i].size; }

    constexpr void collect_stacked() {
        const auto known = static_cast<int>(reverse_.contributions_.size());
        for (int s = end() + 1; s < known; ++s) {
            if (graph_[s].op != Op::stacked || graph_.operand(s, 0) != end()) continue;
            const Cotangent cotangent = reverse_.collect(s);
            const int y = graph_.operand(s, 1);
            if (cotangent.node >= 0 && reverse_.is_active(y)) stacked_.push_back({y, cotangent});
        }
    }
    /// The mask outside which all cotangents that come in are zero; −1: none.
    constexpr int guard_of_all() {
        int guard = lambda_.node >= 0 ? reverse_.guard_for(lambda_.guard, 1) : -2;
        for (const Turns& turns : stacked_) {
            const int other = reverse_.guard_for(turns.cotangent.guard, 1);
            guard = guard == -2 ? other : reverse_.either(guard, other);
        }
        return guard;
    }

    constexpr void capture(int node) {
        if (body_.contains(node) || !reverse_.is_active(node) ||
            reverse_.tangents_.blocks(end(), node))
            return;
        for (const Capture& capture : captures_) {
            if (capture.node == node) return;
        }
        captures_.push_back({.node = node, .begin = width_});
        width_ += size_of(node);
    }
    constexpr void collect_captures() {
        width_ = node_.size;
        for (int j = body_.carry(); j < end(); ++j) {
            const Node node = graph_[j];
            if (!body_.contains(j) || (node.op == Op::element && node.index == node_.index))
                continue;
            for (int k = 0; k < node.count; ++k) capture(graph_.operand(node, k));
        }
        capture(operand(2));
        for (const Turns& turns : stacked_) capture(turns.y);
    }

    /// The new loop up to its state.
    constexpr void begin() {
        tape_ = graph_.push({.op = Op::stacked,
                             .size = node_.size * old_.length,
                             .index = node_.index,
                             .offset = 1},
                            end(), body_.carry());
        if (old_.has_condition)
            turns_ = graph_.push({.op = Op::turns, .index = node_.index}, end());
        else if (old_.has_turns)
            turns_ = operand(3 + old_.has_guard);
        List<int> starts{lambda_.node >= 0 ? lambda_.node : graph_.push_zeros(node_.size)};
        for (Capture& capture : captures_) {
            const Cotangent so_far = reverse_.collect(capture.node);
            capture.is_new = so_far.node < 0;
            capture.guard = so_far.guard;
            starts.push_back(capture.is_new ? graph_.push_zeros(size_of(capture.node))
                                            : so_far.node);
        }
        start_ = joined_node(graph_, starts);
        if (old_.has_guard) {
            const TracedMask<dynamic_shape> of_old(graph_, operand(3));
            mask_ = guard_ < 0 ? operand(3)
                               : (of_old && TracedMask<dynamic_shape>(graph_, guard_)).node();
        } else {
            mask_ = guard_;
        }
        graph_.loops.push_back({.length = old_.length,
                                .has_guard = mask_ >= 0,
                                .has_turns = turns_ >= 0,
                                .is_backward = !old_.is_backward});
        state_ = graph_.push({.op = Op::carry, .size = width_, .index = back_});
    }

    /// The body once more, on the states of the turns.
    constexpr void copy_body() {
        List<int> parts = DelayedStates(graph_, end()).make();
        if (parts.empty()) parts.push_back(tape_);
        for (int& part : parts)
            part = graph_.push(
                {.op = Op::element, .size = size_of(part) / old_.length, .index = back_}, part);
        const int states = joined_node(graph_, parts);
        const int state = old_.checkpoints > 0 ? push_replay(states) : states;
        copy_.set(body_.carry(), state);
        reverse_.note(state, reverse_.is_active(body_.carry()));
        reverse_.tangents_.note_copy(state, body_.carry());
        first_copy_ = graph_.size();
        int num_kept = 0;
        for (int j = body_.carry() + 1; j < end(); ++j) {
            if (!body_.contains(j)) continue;
            if (old_.checkpoints == 0 && is_dear(graph_[j].op) && body_.contains_directly(j) &&
                num_kept + size_of(j) * old_.length <= most_kept_of_loop) {
                num_kept += size_of(j) * old_.length;
                kept_.push_back({j, keep(j)});
            }
            const int copied = copy_.copy(graph_, j);
            reverse_.note(copied, reverse_.is_active(j));
            reverse_.tangents_.note_copy(copied, j);
            if (body_.contains_directly(j)) direct_.push_back(j);
        }
    }
    /// The state before the turn, made again from an earlier one where it is not among those kept.
    constexpr int push_replay(int kept) {
        const int id = num_loops(graph_);
        graph_.loops.push_back({.length = old_.length, .replays = true});
        const int carry = graph_.push({.op = Op::carry, .size = node_.size, .index = id});
        LoopCopy again(graph_, body_, -1);
        again.set(body_.carry(), carry);
        for (int j = body_.carry() + 1; j < end(); ++j) {
            if (body_.contains(j)) again.copy(graph_, j);
        }
        return graph_.push({.op = Op::loop, .size = node_.size, .index = id}, carry, kept,
                           again(operand(2)));
    }
    /// Lets the first loop stack node j.
    constexpr int keep(int j) {
        graph_.append_operand(end(), j);
        return graph_.push({.op = Op::stacked,
                            .size = size_of(j) * old_.length,
                            .index = node_.index,
                            .offset = 1},
                           end(), j);
    }

    constexpr void reverse_body() {
        for (const Capture& capture : captures_) {
            reverse_.contributions_[at(capture.node)].clear();
            const int so_far = slice_node(graph_, state_, capture.begin, size_of(capture.node));
            reverse_.accumulate(capture.node, reverse_.value_of(so_far), -1);
        }
        const int lambda = slice_node(graph_, state_, 0, node_.size);
        reverse_.accumulate(copy_(operand(2)), reverse_.value_of(lambda), -1);
        for (const Turns& turns : stacked_) {
            const int of_turn =
                graph_.push({.op = Op::element, .size = size_of(turns.y), .index = back_},
                            turns.cotangent.node);
            reverse_.accumulate(copy_(turns.y), reverse_.value_of(of_turn), -1);
        }
        for (std::size_t k = direct_.size(); k-- > 0;) {
            const int copied = copy_(direct_[k]);
            if (graph_[copied].op != Op::element) reverse_.visit_node(copied);
        }
    }

    constexpr void finish() {
        const Cotangent of_carry = reverse_.collect(copy_(body_.carry()));
        List<int> next{of_carry.node >= 0 ? of_carry.node : graph_.push_zeros(node_.size)};
        for (const Capture& capture : captures_)
            next.push_back(reverse_.collect(capture.node).node);
        List<int> operands{state_, start_, joined_node(graph_, next)};
        if (mask_ >= 0) operands.push_back(mask_);
        if (turns_ >= 0) operands.push_back(turns_);
        List<Turns> given;  // the cotangents of vectors whose parts the turns read
        for (int j : direct_) {
            if (graph_[j].op != Op::element || !reverse_.is_active(graph_.operand(j, 0))) continue;
            const Cotangent cotangent = reverse_.collect(copy_(j));
            if (cotangent.node < 0) continue;
            given.push_back({graph_.operand(j, 0), cotangent});
            operands.push_back(cotangent.node);
        }
        const int loop =
            graph_.push_list({.op = Op::loop, .size = width_, .index = back_}, operands);
        read_kept();
        for (const Capture& capture : captures_) {
            reverse_.contributions_[at(capture.node)].clear();
            reverse_.accumulate(
                capture.node,
                reverse_.value_of(slice_node(graph_, loop, capture.begin, size_of(capture.node))),
                capture.is_new ? guard_ : reverse_.either(guard_, capture.guard));
        }
        // Behind the captures, whose cotangents are replaced: the start may be one of them.
        reverse_.accumulate(operand(1), reverse_.value_of(slice_node(graph_, loop, 0, node_.size)),
                            guard_);
        for (const Turns& part : given) {
            const int all = graph_.push({.op = Op::stacked,
                                         .size = size_of(part.cotangent.node) * old_.length,
                                         .index = back_},
                                        loop, part.cotangent.node);
            reverse_.accumulate(part.y, reverse_.value_of(all), guard_);
        }
    }
    /// Whatever computes a kept value again, a rule that asks for cos(x) among them, reads it instead.
    constexpr void read_kept() {
        for (const auto& [j, turns] : kept_) {
            const Node like = graph_[copy_(j)];
            List<int> operands;
            for (int k = 0; k < like.count; ++k) operands.push_back(graph_.operand(like, k));
            for (int i = first_copy_; i < graph_.size(); ++i) {
                Node& node = graph_.nodes[at(i)];
                bool is_same = node.op == like.op && node.size == like.size &&
                               node.index == like.index && node.count == like.count;
                for (int k = 0; is_same && k < node.count; ++k)
                    is_same = graph_.operand(node, k) == operands[at(k)];
                if (!is_same) continue;
                node.op = Op::element;
                node.index = back_;
                node.count = 1;
                graph_.operands[at(node.first)] = turns;
            }
        }
    }

    Reverse& reverse_;
    Graph& graph_;
    LoopBody body_;
    Node node_;
    Loop old_;
    int back_;
    LoopCopy copy_;
    Cotangent lambda_;
    List<Turns> stacked_;
    List<Capture> captures_;
    List<std::pair<int, int>> kept_;  // (node of the body, its turns)
    List<int> direct_;
    int guard_ = -1, mask_ = -1, turns_ = -1, tape_ = -1, start_ = -1, state_ = -1, width_ = 0,
        first_copy_ = 0;
};

constexpr void Reverse::visit_node(int i) {
    current_ = is_active(i) ? collect(i) : Cotangent{};
    current_index_ = i;
    const Node node = graph_[i];
    if (node.op == Op::loop && graph_.loops[static_cast<std::size_t>(node.index)].replays) {
        if (current_.node >= 0) add(graph_.operand(node, 1), value_of(current_.node));
    } else if (node.op == Op::loop && is_active(i)) {
        LoopReversal(*this, i).run();
    } else if (current_.node >= 0 && !is_loop_op(node.op)) {
        visit_op(node.op, *this, node, i);
    }
}

// Defined after the class: clang instantiates `visit` where it is first named, and needs its body
// by then.
constexpr Graph Reverse::run(const List<char>& with_respect_to) {
    seed();
    const List<char> in_loop = nodes_in_loops(graph_, num_primal_);
    for (int i = num_primal_ - 1; i >= 0; --i) {
        if (!is_active(i) || in_loop[static_cast<std::size_t>(i)]) continue;
        graph_.current_region = graph_[i].region;
        visit_node(i);
    }
    graph_.current_region = 0;
    write_outputs(with_respect_to);
    return std::move(graph_);
}

}  // namespace eddy::inline v0::detail

namespace eddy::inline v0 {

/// The vector–Jacobian product of a graph. Its arguments are (x..., one cotangent for each output);
/// its results are the cotangents of the flagged arguments, in order. It is not simplified.
[[nodiscard]] constexpr Graph vjp_graph(const Graph& graph, const List<char>& with_respect_to) {
    return detail::Reverse(graph, with_respect_to).run(with_respect_to);
}

}  // namespace eddy::inline v0
