#pragma once
// Constant folding and algebraic identities that never change a result: not its rounding, not its
// NaN, not the sign of its zero. So x + 0 stays (−0 + 0 is +0), x·0 stays (∞·0 is NaN), x − x
// stays; x − 0, x·1 and −(−x) go. Constants fold only where float and double agree on the result:
// operands that are exact in float, operations that are correctly rounded (53 ≥ 2·24 + 2 bits makes
// the double rounding innocuous; Figueroa 1995, SIGNUM 30(3)).
// Test: tests/trace/passes/fold.cpp

#include <bit>
#include <cstdint>
#include <eddy/trace/passes/rebuild.hpp>

namespace eddy::inline v0::passes {
namespace detail {

/// Folds one node at a time; operands are those of the new graph.
class Folder {
  public:
    explicit constexpr Folder(Rebuild& rebuild) : rebuild_(rebuild), graph_(rebuild.graph()) {}

    /// The node of the new graph that stands for `node`, or -1 when it must be copied.
    constexpr int fold(const Node& node) {
        graph_.current_region = node.region;
        const int a = node.count > 0 ? rebuild_.operand(node, 0) : -1;
        const int b = node.count > 1 ? rebuild_.operand(node, 1) : -1;
        if (const int folded = fold_constants(node, a, b); folded >= 0) return folded;
        switch (node.op) {
            case Op::add: return fold_add(node, a, b);
            case Op::sub: return fold_sub(node, a, b);
            case Op::mul: return fold_mul(node, a, b);
            case Op::div: return fold_div(node, a, b);
            case Op::neg: return graph_[a].op == Op::neg ? graph_.operand(a, 0) : -1;
            case Op::powi: return fold_powi(node, a);
            case Op::pow: return graph_.is_constant(b, 1) && spans(node, a) ? a : -1;
            case Op::select: return fold_select(node, a, b, rebuild_.operand(node, 2));
            case Op::slice: return fold_slice(node, a);
            case Op::concat: return node.count == 1 ? a : fold_state(node, a);
            case Op::broadcast: return graph_[a].size == node.size ? a : -1;
            default: return -1;
        }
    }

  private:
    [[nodiscard]] constexpr bool is_negation(int i) const { return graph_[i].op == Op::neg; }
    [[nodiscard]] constexpr bool is_positive_zero(int i) const {
        return graph_[i].op == Op::constant && graph_[i].size == 1 &&
               std::bit_cast<std::uint64_t>(graph_.constant_value(graph_[i])) == 0;
    }
    [[nodiscard]] constexpr bool is_negative_zero(int i) const {
        return graph_[i].op == Op::constant && graph_[i].size == 1 &&
               std::bit_cast<std::uint64_t>(graph_.constant_value(graph_[i])) == std::uint64_t{1}
                                                                                     << 63;
    }
    /// May operand `i` stand for the whole node? Not where it would have been broadcast.
    [[nodiscard]] constexpr bool spans(const Node& node, int i) const {
        return graph_[i].size == node.size;
    }
    [[nodiscard]] constexpr int make(const Node& node, Op op, int a, int b) {
        return graph_.push({.op = op, .size = node.size}, a, b);
    }
    [[nodiscard]] constexpr int negate(const Node& node, int a) {
        return graph_.push({.op = Op::neg, .size = node.size}, a);
    }

    constexpr int fold_add(const Node& node, int a, int b) {
        if (is_negative_zero(b) && spans(node, a)) return a;
        if (is_negative_zero(a) && spans(node, b)) return b;
        if (is_negation(b)) return make(node, Op::sub, a, graph_.operand(b, 0));
        if (is_negation(a)) return make(node, Op::sub, b, graph_.operand(a, 0));
        return -1;
    }
    constexpr int fold_sub(const Node& node, int a, int b) {
        if (is_positive_zero(b) && spans(node, a)) return a;
        if (is_negation(b)) return make(node, Op::add, a, graph_.operand(b, 0));
        return -1;
    }
    constexpr int fold_mul(const Node& node, int a, int b) {
        if (graph_.is_constant(b, 1) && spans(node, a)) return a;
        if (graph_.is_constant(a, 1) && spans(node, b)) return b;
        if (graph_.is_constant(b, -1) && spans(node, a)) return negate(node, a);
        if (graph_.is_constant(a, -1) && spans(node, b)) return negate(node, b);
        if (is_negation(a) && is_negation(b))
            return make(node, Op::mul, graph_.operand(a, 0), graph_.operand(b, 0));
        return -1;
    }
    constexpr int fold_div(const Node& node, int a, int b) {
        if (graph_.is_constant(b, 1) && spans(node, a)) return a;
        if (graph_.is_constant(b, -1) && spans(node, a)) return negate(node, a);
        if (is_negation(a) && is_negation(b))
            return make(node, Op::div, graph_.operand(a, 0), graph_.operand(b, 0));
        return -1;
    }
    constexpr int fold_powi(const Node& node, int a) {
        if (node.index == 1) return a;
        return node.index == 2 ? make(node, Op::mul, a, a) : -1;
    }
    constexpr int fold_select(const Node& node, int mask, int a, int b) {
        if (a == b && spans(node, a)) return a;
        const Node& condition = graph_[mask];
        if (condition.op != Op::equal) return -1;
        const Node &x = graph_[graph_.operand(condition, 0)],
                   &y = graph_[graph_.operand(condition, 1)];
        if (x.op != Op::constant || y.op != Op::constant || x.size != 1 || y.size != 1) return -1;
        const int chosen = graph_.constant_value(x) == graph_.constant_value(y) ? a : b;
        return spans(node, chosen) ? chosen : -1;
    }

    constexpr int fold_slice(const Node& node, int a) {
        const Node source = graph_[a];
        if (source.size == node.size) return a;
        if (source.op == Op::argument)
            return graph_.push_argument(source.index, source.offset + node.offset, node.size);
        if (source.op == Op::constant) {
            return graph_.push(
                {.op = Op::constant, .size = node.size, .offset = source.offset + node.offset});
        }
        if (source.op == Op::slice) {
            const int inner = graph_.operand(source, 0);
            return graph_.push(
                {.op = Op::slice, .size = node.size, .offset = source.offset + node.offset}, inner);
        }
        if (source.op == Op::broadcast && node.size == 1) return graph_.operand(source, 0);
        if (source.op == Op::concat) return slice_of_concat(node, source);
        return -1;
    }
    /// The state of a loop whose parts are put together again.
    constexpr int fold_state(const Node& node, int a) const {
        const int state = graph_[a].op == Op::slice ? graph_.operand(a, 0) : -1;
        if (state < 0 || graph_[state].size != node.size) return -1;
        if (graph_[state].op != Op::carry && graph_[state].op != Op::loop) return -1;
        int begin = 0;
        for (int k = 0; k < node.count; ++k) {
            const Node& part = graph_[rebuild_.operand(node, k)];
            if (part.op != Op::slice || graph_.operand(part, 0) != state || part.offset != begin)
                return -1;
            begin += part.size;
        }
        return state;
    }
    constexpr int slice_of_concat(const Node& node, const Node& source) {
        int begin = 0;
        for (int k = 0; k < source.count; ++k) {
            const int part = graph_.operand(source, k);
            const int size = graph_[part].size;
            if (node.offset >= begin && node.offset + node.size <= begin + size) {
                if (size == node.size) return part;
                return graph_.push(
                    {.op = Op::slice, .size = node.size, .offset = node.offset - begin}, part);
            }
            begin += size;
        }
        return -1;
    }

    /// True for numbers that float holds exactly, so that a float program folds them as a double
    /// program does.
    [[nodiscard]] constexpr bool is_exact_in_float(int i) const {
        if (graph_[i].op != Op::constant || graph_[i].size != 1) return false;
        const double value = graph_.constant_value(graph_[i]);
        constexpr double largest = 3.4028234663852886e38, smallest = 1.1754943508222875e-38;
        const double magnitude = value < 0 ? -value : value;
        if (!(magnitude <= largest) || (magnitude != 0 && magnitude < smallest)) return false;
        return static_cast<double>(static_cast<float>(value)) == value;
    }
    constexpr int fold_constants(const Node& node, int a, int b) {
        if (node.size != 1 || a < 0 || !is_exact_in_float(a)) return -1;
        const double x = graph_.constant_value(graph_[a]);
        if (node.op == Op::neg) return graph_.push_constant(-x);
        if (b < 0 || node.count != 2 || !is_exact_in_float(b)) return -1;
        const double y = graph_.constant_value(graph_[b]);
        double folded = 0;
        switch (node.op) {
            case Op::add: folded = x + y; break;
            case Op::sub: folded = x - y; break;
            case Op::mul: folded = x * y; break;
            case Op::div:
                if (y == 0) return -1;
                folded = x / y;
                break;
            default: return -1;
        }
        // Results that overflow or underflow in float stay for the machine to compute.
        constexpr double largest = 3.4028234663852886e38, smallest = 1.1754943508222875e-38;
        const double magnitude = folded < 0 ? -folded : folded;
        if (!(magnitude <= largest) || magnitude < smallest) return -1;
        return graph_.push_constant(folded);
    }

    Rebuild& rebuild_;
    Graph& graph_;
};

}  // namespace detail

/// Folds all nodes; tells how many it replaced.
[[nodiscard]] constexpr Graph fold(const Graph& graph, int& num_folded) {
    Rebuild rebuild(graph);
    detail::Folder folder(rebuild);
    num_folded = 0;
    for (int i = 0; i < graph.size(); ++i) {
        const int folded = folder.fold(graph[i]);
        num_folded += folded >= 0;
        rebuild.set(i, folded >= 0 ? folded : rebuild.copy(graph[i]));
    }
    rebuild.graph().current_region = 0;
    return rebuild.finish();
}

[[nodiscard]] constexpr Graph fold(const Graph& graph) {
    int num_folded = 0;
    return fold(graph, num_folded);
}

}  // namespace eddy::inline v0::passes
