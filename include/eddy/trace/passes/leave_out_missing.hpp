#pragma once
// A loss of which values of data may be missing, which is to say NaN. Its outermost sums (+, −, sum, dot, scaled by what
// reads no data) are taken apart, vectors component by component, down to terms: what reads one value of data, or what is no
// sum. Each becomes select(one is missing, 0, term), so that neither its value nor, by the guard of select (ad/reverse.hpp),
// any derivative of it counts. What is added to a term and reads no data, such as log(sigma) beside a residual, goes with
// it; where it might go with several, the loss is refused.
//
// How many values a term misses is computed as the term is, in numbers that depend on data alone.
// Test: tests/trace/passes/leave_out_missing.cpp, tests/solve/missing_data.cpp

#include <eddy/trace/passes/order.hpp>
#include <eddy/trace/passes/simplify.hpp>

namespace eddy::inline v0::passes {
namespace detail {

class MissingData {
  public:
    constexpr MissingData(const Graph& graph, int argument)
        : graph_(graph), to_(graph), argument_(argument), missed_(graph.nodes.size(), unknown) {
        for (int i = 0; i < graph.size(); ++i) reads_.push_back(found_reads(graph[i]));
    }
    constexpr Graph run() {
        for (const Output& output : graph_.outputs) {
            for (int k = 0; k < output.count; ++k) {
                const int i = graph_.output_node(output, k);
                if (reads(i)) to_.operands[at(output.first + k)] = observed(i);
            }
        }
        to_.current_region = 0;
        return std::move(to_);
    }

  private:
    static constexpr int nothing = -1, unknown = -2;
    /// What a node reads of the data: value `first` in all components, value first + c in component c, or more of them.
    struct Reads {
        enum class Kind : unsigned char { none, same, each, several } kind = Kind::none;
        int first = 0;
        constexpr bool operator==(const Reads&) const = default;
    };
    using Kind = Reads::Kind;

    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] constexpr bool reads(int i) const { return reads_[at(i)].kind != Kind::none; }
    /// Does each component read one value?
    [[nodiscard]] constexpr bool reads_one(int i) const {
        return reads_[at(i)].kind == Kind::same || reads_[at(i)].kind == Kind::each;
    }

    [[nodiscard]] constexpr Reads found_reads(const Node& node) const {
        if (node.op == Op::argument && node.index == argument_)
            return {node.size == 1 ? Kind::same : Kind::each, node.offset};
        if (is_loop_op(node.op)) return {Kind::several, 0};
        if (node.op == Op::slice) return part_of(reads_[at(graph_.operand(node, 0))], node);
        if (node.op == Op::concat) return joined(node);
        Reads all;
        for (int k = 0; k < node.count; ++k) {
            const int i = graph_.operand(node, k);
            const Reads one = reads_[at(i)];
            if (one.kind == Kind::none) continue;
            const bool by_component = is_elementwise(node.op) || one.kind == Kind::same;
            if (!by_component || (all.kind != Kind::none && all != one)) return {Kind::several, 0};
            all = one;
        }
        return all;
    }
    static constexpr Reads part_of(Reads whole, const Node& part) {
        if (whole.kind == Kind::each) {
            whole.first += part.offset;
            if (part.size == 1) whole.kind = Kind::same;
        }
        return whole;
    }
    [[nodiscard]] constexpr Reads joined(const Node& node) const {
        Reads all;
        int begin = 0;
        bool any = false, is_each = true;
        for (int k = 0; k < node.count; ++k) {
            const int i = graph_.operand(node, k);
            const Reads one = reads_[at(i)];
            any = any || one.kind != Kind::none;
            if (k == 0) all = {Kind::each, one.first};
            is_each = is_each &&
                      (one.kind == Kind::each || (one.kind == Kind::same && graph_[i].size == 1)) &&
                      one.first == all.first + begin;
            begin += graph_[i].size;
        }
        if (!any) return {};
        return is_each ? all : Reads{Kind::several, 0};
    }

    /// The new node that stands for node i, its missing terms left out.
    constexpr int observed(int i) {
        const Node node = graph_[i];
        if (!is_divided(i)) return term(i);
        const int a = graph_.operand(node, 0);
        if (node.op == Op::add || node.op == Op::sub) return observed_sum(node);
        if (node.op == Op::dot) {
            const int b = graph_.operand(node, 1);
            if (!reads(a)) return push(node, a, observed(b));
            if (!reads(b)) return push(node, observed(a), b);
            const int mask = is_missing(sum_of(missed(a), missed(b)));
            return push(node, without(mask, a), without(mask, b));
        }
        List<int> list;
        for (int k = 0; k < node.count; ++k) {
            const int operand = graph_.operand(node, k);
            if (node.op == Op::concat && !reads(operand)) return refuse(i);
            list.push_back(reads(operand) ? observed(operand) : operand);
        }
        Node copy = node;
        return to_.push_list(copy, list);
    }
    constexpr int observed_sum(const Node& node) {
        const int a = graph_.operand(node, 0), b = graph_.operand(node, 1);
        // Which of both would what reads no data go with: the terms before, or the one behind?
        if (!reads(a) || !reads(b) || ends_without_data(a)) return refuse(a);
        const int left = observed(a);
        return push(node, left, observed(b));
    }
    [[nodiscard]] constexpr bool ends_without_data(int i) const {
        const Node& node = graph_[i];
        return (node.op == Op::add || node.op == Op::sub) && reads(graph_.operand(node, 0)) &&
               !reads(graph_.operand(node, 1));
    }
    constexpr int refuse(int i) {
        if (to_.error == TraceError::none) to_.error = TraceError::term_of_no_value;
        return i;
    }

    /// Is the node a sum of terms, of which each may be left out?
    [[nodiscard]] constexpr bool is_divided(int i) const {
        const Node& node = graph_[i];
        if (!reads(i) || reads_one(i) || node.region != 0) return false;
        const auto operand = [&](int k) { return graph_.operand(node, k); };
        switch (node.op) {
            case Op::add:
            case Op::sub:
                return (reads(operand(0)) && reads(operand(1))) || is_divided(operand(0)) ||
                       is_divided(operand(1));
            case Op::neg:
            case Op::slice:
            case Op::broadcast:
            case Op::name: return is_divided(operand(0));
            case Op::mul:
                return reads(operand(0)) != reads(operand(1)) &&
                       (is_divided(operand(0)) || is_divided(operand(1)));
            case Op::div: return !reads(operand(1)) && is_divided(operand(0));
            case Op::sum: return graph_[operand(0)].size > 1;
            case Op::dot: return graph_[operand(0)].size > 1;
            case Op::concat: return true;
            default: return false;
        }
    }

    /// A term that counts where none of the values that it reads is missing, component by component.
    constexpr int term(int i) { return without(is_missing(missed(i)), i); }
    constexpr int without(int mask, int i) {
        return push({.op = Op::select, .size = graph_[i].size}, mask, number(0), i);
    }
    constexpr int is_missing(int count) {
        return push({.op = Op::less, .size = to_[count].size}, number(0), count);
    }
    /// How many values a node misses, for each component or, of size 1, for all.
    constexpr int missed(int i) {
        if (missed_[at(i)] == unknown) missed_[at(i)] = reads(i) ? count_missed(i) : nothing;
        return missed_[at(i)];
    }
    constexpr int count_missed(int i) {
        const Node node = graph_[i];
        if (node.op == Op::argument) return missed_of(i);
        if (is_loop_op(node.op)) {
            const int size = graph_.arguments[at(argument_)].size;
            return total(missed_of(push({.op = Op::argument, .size = size, .index = argument_})));
        }
        if (node.op == Op::slice) {
            const int of_all = missed(graph_.operand(node, 0));
            return to_[of_all].size == 1 ? of_all : push(node, of_all);
        }
        if (node.op == Op::concat) return missed_by_parts(node);
        int sum = nothing;
        for (int k = 0; k < node.count; ++k) {
            const int one = missed(graph_.operand(node, k));
            sum = sum_of(sum, one == nothing || is_elementwise(node.op) ? one : total(one));
        }
        return sum;
    }
    constexpr int missed_of(int values) {
        const int size = to_[values].size;
        const int is_there = push({.op = Op::equal, .size = size}, values, values);
        return push({.op = Op::select, .size = size}, is_there, number(0), number(1));
    }
    constexpr int missed_by_parts(const Node& node) {
        List<int> parts;
        for (int k = 0; k < node.count; ++k) {
            const int i = graph_.operand(node, k), size = graph_[i].size, part = missed(i);
            if (part == nothing)
                parts.push_back(to_.push_zeros(size));
            else
                parts.push_back(to_[part].size == size
                                    ? part
                                    : push({.op = Op::broadcast, .size = size}, part));
        }
        return to_.push_list(node, parts);
    }
    constexpr int sum_of(int a, int b) {
        if (a == nothing || b == nothing) return a == nothing ? b : a;
        return push({.op = Op::add, .size = to_[a].size > to_[b].size ? to_[a].size : to_[b].size},
                    a, b);
    }
    constexpr int total(int count) {
        return to_[count].size == 1 ? count : push({.op = Op::sum}, count);
    }
    constexpr int number(double value) { return to_.push_constant(value); }
    template <class... Operands>
    constexpr int push(const Node& node, Operands... operand) {
        return to_.push(node, operand...);
    }

    const Graph& graph_;
    Graph to_;
    int argument_;
    List<Reads> reads_;  // (node)
    List<int> missed_;   // (node) what counts them
};

}  // namespace detail

/// The sum in which terms count that read no NaN of this argument.
[[nodiscard]] constexpr Graph leave_out_missing(const Graph& graph, int argument) {
    return simplify(order_canonically(detail::MissingData(graph, argument).run()));
}

}  // namespace eddy::inline v0::passes
