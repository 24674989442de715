#pragma once
// Which components of a result depend, differentiably, on which components of an argument: the
// exact structure of a program's Jacobian, found by carrying sets of components through the graph;
// and a grouping of columns that share no row, so that one tangent pass yields all columns of a
// group (Curtis, Powell & Reid 1974, J. Inst. Math. Appl. 13).
// Test: tests/ad/jacobian.cpp

#include <bit>
#include <cstdint>
#include <eddy/ad/activity.hpp>
#include <eddy/trace/loop_structure.hpp>

namespace eddy::inline v0 {

/// A set of component indices.
class ComponentSet {
  public:
    explicit constexpr ComponentSet(int size = 0)
        : words_(static_cast<std::size_t>((size + 63) / 64), 0) {}

    constexpr void insert(int i) { words_[word(i)] |= bit(i); }
    [[nodiscard]] constexpr bool contains(int i) const { return (words_[word(i)] & bit(i)) != 0; }
    constexpr void unite(const ComponentSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    }
    /// Calls body(i) for each index of the set, in order.
    template <class Body>
    constexpr void for_each(Body body) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
                body(static_cast<int>(64 * w) + std::countr_zero(left));
        }
    }
    [[nodiscard]] constexpr bool meets(const ComponentSet& other) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            if ((words_[w] & other.words_[w]) != 0) return true;
        }
        return false;
    }

    friend constexpr bool operator==(const ComponentSet&, const ComponentSet&) = default;

  private:
    static constexpr std::size_t word(int i) { return static_cast<std::size_t>(i / 64); }
    static constexpr std::uint64_t bit(int i) { return std::uint64_t{1} << (i % 64); }
    std::vector<std::uint64_t> words_;
};

namespace detail {

/// The argument components that each component of each node depends on.
class DependencyAnalysis {
  public:
    constexpr DependencyAnalysis(const Graph& graph, int argument)
        : graph_(graph),
          argument_(argument),
          size_(graph.arguments[static_cast<std::size_t>(argument)].size),
          loop_of_(loops_of_nodes(graph, graph.size())),
          turns_(graph.loops.size(), 0),
          sets_(graph.nodes.size()) {
        compute_all(-1, 0, graph.size());
    }

    [[nodiscard]] constexpr const ComponentSet& of(int i, int c) const {
        const auto& sets = sets_[static_cast<std::size_t>(i)];
        return sets[sets.size() == 1 ? 0 : static_cast<std::size_t>(c)];
    }

  private:
    using Sets = std::vector<ComponentSet>;  // (component)
    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

    /// Those of nodes [first, last) that are in this loop and in none inside it.
    constexpr void compute_all(int loop, int first, int last) {
        for (int i = first; i < last; ++i) {
            if (loop_of_[at(i)] != loop) continue;
            const Op op = graph_[i].op;
            if (op == Op::loop) {
                run_turns(i);
            } else if (op != Op::carry && op != Op::stacked) {
                Sets sets;
                for (int c = 0; c < graph_[i].size; ++c) sets.push_back(component(graph_[i], c));
                sets_[at(i)] = std::move(sets);
            }
        }
    }
    /// Turn by turn, so that the structure of a chain is exact; whoever may leave early has that of all
    /// the turns before.
    constexpr void run_turns(int i) {
        const Node& node = graph_[i];
        const Loop& loop = graph_.loops[at(node.index)];
        const int carry = graph_.operand(node, 0), next = graph_.operand(node, 2);
        const bool may_leave = loop.num_fixed() > 3;
        bool reads_turn = false;  // may turns differ where their states do not?
        for (int j = 0; j < graph_.size(); ++j) {
            if (!is_loop_op(graph_[j].op) || graph_[j].index != node.index) continue;
            reads_turn = reads_turn || graph_[j].op == Op::element || graph_[j].op == Op::stacked;
            if (graph_[j].op == Op::stacked)
                sets_[at(j)] = Sets(at(graph_[j].size), ComponentSet(size_));
        }
        sets_[at(carry)] = all_of(graph_.operand(node, 1));
        if (loop.replays) {
            sets_[at(i)] = sets_[at(carry)];
            return;
        }
        for (int t = 0; t < loop.length; ++t) {
            const int turn = loop.is_backward ? loop.length - 1 - t : t;
            turns_[at(node.index)] = turn;
            compute_all(node.index, carry, i);
            for (int s = i + 1; s < graph_.size(); ++s) {
                if (graph_[s].op != Op::stacked || graph_.operand(s, 0) != i) continue;
                const int y = graph_.operand(s, 1), size = graph_[y].size;
                for (int c = 0; c < size; ++c) sets_[at(s)][at(turn * size + c)] = of(y, c);
            }
            Sets after = all_of(next);
            for (std::size_t c = 0; may_leave && c < after.size(); ++c)
                after[c].unite(sets_[at(carry)][c]);
            if (!reads_turn && after == sets_[at(carry)]) break;
            sets_[at(carry)] = std::move(after);
        }
        sets_[at(i)] = sets_[at(carry)];
    }
    [[nodiscard]] constexpr Sets all_of(int i) const {
        Sets sets;
        for (int c = 0; c < graph_[i].size; ++c) sets.push_back(of(i, c));
        return sets;
    }

    [[nodiscard]] constexpr ComponentSet component(const Node& node, int c) const {
        ComponentSet set(size_);
        if (!has_derivative(node.op)) return set;
        switch (node.op) {
            case Op::argument:
                if (node.index == argument_) set.insert(node.offset + c);
                return set;
            case Op::slice: return of(graph_.operand(node, 0), node.offset + c);
            case Op::concat: return of_concat(node, c);
            case Op::element:
                return of(graph_.operand(node, 0), turns_[at(node.index)] * node.size + c);
            case Op::root: unite_all(set, graph_.operand(node, 2)); return set;
            case Op::at: unite_all(set, graph_.operand(node, 0)); return set;
            case Op::sum:
            case Op::dot:
            case Op::norm:
            case Op::solve:
            case Op::solve_transposed:
                for (int k = 0; k < node.count; ++k) unite_all(set, graph_.operand(node, k));
                return set;
            case Op::own:
                for (int k = 0; k < node.count; ++k) unite_all(set, graph_.operand(node, k));
                return set;
            case Op::dense: unite_row(set, node, c); return set;
            case Op::dense_transposed: unite_column(set, node, c); return set;
            case Op::outer: {
                const int columns = graph_[graph_.operand(node, 1)].size;
                set.unite(of(graph_.operand(node, 0), c / columns));
                set.unite(of(graph_.operand(node, 1), c % columns));
                return set;
            }
            default:  // elementwise, broadcast
                for (int k = 0; k < node.count; ++k) set.unite(of(graph_.operand(node, k), c));
                return set;
        }
    }
    [[nodiscard]] constexpr ComponentSet of_concat(const Node& node, int c) const {
        int k = 0;
        while (c >= graph_[graph_.operand(node, k)].size)
            c -= graph_[graph_.operand(node, k++)].size;
        return of(graph_.operand(node, k), c);
    }
    constexpr void unite_all(ComponentSet& set, int i) const {
        for (const ComponentSet& other : sets_[static_cast<std::size_t>(i)]) set.unite(other);
    }
    constexpr void unite_row(ComponentSet& set, const Node& node, int row) const {
        const int w = graph_.operand(node, 0), x = graph_.operand(node, 1),
                  columns = graph_[x].size;
        for (int j = 0; j < columns; ++j) set.unite(of(w, row * columns + j));
        unite_all(set, x);
        if (node.count == 3) set.unite(of(graph_.operand(node, 2), row));
    }
    constexpr void unite_column(ComponentSet& set, const Node& node, int column) const {
        const int w = graph_.operand(node, 0), u = graph_.operand(node, 1), rows = graph_[u].size;
        for (int r = 0; r < rows; ++r) set.unite(of(w, r * node.size + column));
        unite_all(set, u);
    }

    const Graph& graph_;
    int argument_;
    int size_;
    std::vector<int> loop_of_;
    std::vector<int> turns_;  // (loop)
    std::vector<Sets> sets_;  // (node, component)
};

}  // namespace detail

/// The structural non-zeros of ∂(result 0)/∂(argument), a set of columns per row.
[[nodiscard]] constexpr std::vector<ComponentSet> jacobian_rows(const Graph& graph, int argument) {
    const detail::DependencyAnalysis dependencies(graph, argument);
    std::vector<ComponentSet> rows;
    const Output& output = graph.outputs[0];
    for (int k = 0; k < output.count; ++k) {
        const int node = graph.output_node(output, k);
        for (int c = 0; c < graph[node].size; ++c) rows.push_back(dependencies.of(node, c));
    }
    return rows;
}

/// A group for each column, such that columns of one group share no row; first fit in the order of
/// columns.
[[nodiscard]] constexpr std::vector<int> group_columns(const std::vector<ComponentSet>& rows,
                                                       int num_columns) {
    const int num_rows = static_cast<int>(rows.size());
    std::vector<ComponentSet> occupied;  // per group: the rows that its columns touch
    std::vector<int> group_of(static_cast<std::size_t>(num_columns), 0);
    std::vector<ComponentSet> touched_by(static_cast<std::size_t>(num_columns),
                                         ComponentSet(num_rows));
    for (int row = 0; row < num_rows; ++row) {
        rows[static_cast<std::size_t>(row)].for_each(
            [&](int column) { touched_by[static_cast<std::size_t>(column)].insert(row); });
    }
    for (int column = 0; column < num_columns; ++column) {
        const ComponentSet& touched = touched_by[static_cast<std::size_t>(column)];
        std::size_t group = 0;
        while (group < occupied.size() && occupied[group].meets(touched)) ++group;
        if (group == occupied.size()) occupied.emplace_back(num_rows);
        occupied[group].unite(touched);
        group_of[static_cast<std::size_t>(column)] = static_cast<int>(group);
    }
    return group_of;
}

}  // namespace eddy::inline v0
