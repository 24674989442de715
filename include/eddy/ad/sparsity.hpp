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

/// A set of component indices: those of a chain are few of many.
class ComponentSet {
  public:
    constexpr void insert(int i) {
        std::size_t at = words_.size();
        while (at > 0 && i / 64 < words_[at - 1].number) --at;
        if (at == 0 || words_[at - 1].number < i / 64)
            words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at++), Word{i / 64, 0});
        words_[at - 1].bits |= bit(i);
    }
    [[nodiscard]] constexpr bool contains(int i) const {
        for (const Word& word : words_) {
            if (word.number == i / 64) return (word.bits & bit(i)) != 0;
        }
        return false;
    }
    [[nodiscard]] constexpr bool is_empty() const { return words_.empty(); }
    [[nodiscard]] constexpr bool contains(const ComponentSet& other) const {
        const Word *const mine = words_.data(), *const its = other.words_.data();
        const std::size_t count = words_.size(), count_of_other = other.words_.size();
        std::size_t at = 0;
        for (std::size_t k = 0; k < count_of_other; ++k) {
            while (at < count && mine[at].number < its[k].number) ++at;
            if (at == count || mine[at].number != its[k].number) return false;
            if ((its[k].bits & ~mine[at].bits) != 0) return false;
        }
        return true;
    }
    constexpr void unite(const ComponentSet& other) {
        List<Word> both;
        std::size_t k = 0;
        for (const Word& word : words_) {
            for (; k < other.words_.size() && other.words_[k].number < word.number; ++k)
                both.push_back(other.words_[k]);
            both.push_back(word);
            if (k < other.words_.size() && other.words_[k].number == word.number)
                both.back().bits |= other.words_[k++].bits;
        }
        for (; k < other.words_.size(); ++k) both.push_back(other.words_[k]);
        words_ = std::move(both);
    }
    /// Calls body(i) for each index of the set, in order.
    template <class Body>
    constexpr void for_each(Body body) const {
        for (const Word& word : words_) {
            for (std::uint64_t left = word.bits; left != 0; left &= left - 1)
                body(64 * word.number + std::countr_zero(left));
        }
    }

    friend constexpr bool operator==(const ComponentSet&, const ComponentSet&) = default;

  private:
    /// Indices [64 number, 64 number + 64).
    struct Word {
        int number = 0;
        std::uint64_t bits = 0;
        friend constexpr bool operator==(const Word&, const Word&) = default;
    };
    static constexpr std::uint64_t bit(int i) { return std::uint64_t{1} << (i % 64); }
    List<Word> words_;  // in order, none empty
};

namespace detail {

/// The argument components that each component of each node depends on.
class DependencyAnalysis {
  public:
    constexpr DependencyAnalysis(const Graph& graph, int argument)
        : graph_(graph),
          argument_(argument),
          loop_of_(loops_of_nodes(graph, graph.size())),
          turns_(graph.loops.size(), 0),
          sets_(graph.nodes.size()) {
        compute_all(-1, 0, graph.size());
    }

    [[nodiscard]] constexpr const ComponentSet& of(int i, int c) const {
        return known_[at(number(i, c))];
    }

  private:
    using Sets = List<int>;  // (component): the number of its set
    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

    [[nodiscard]] constexpr int number(int i, int c) const {
        const Sets& sets = sets_[at(i)];
        return sets[sets.size() == 1 ? 0 : at(c)];
    }
    /// Sets are numbered, for most components have that of another one.
    constexpr int unite(int a, int b) {
        if (a == b || b == nothing) return a;
        if (a == nothing) return b;
        if (known_[at(a)].contains(known_[at(b)])) return a;
        if (known_[at(b)].contains(known_[at(a)])) return b;
        known_.push_back(known_[at(a)]);
        known_.back().unite(known_[at(b)]);
        return static_cast<int>(known_.size()) - 1;
    }
    [[nodiscard]] constexpr bool are_equal(const Sets& a, const Sets& b) const {
        for (std::size_t c = 0; c < a.size(); ++c) {
            if (a[c] != b[c] && !(known_[at(a[c])] == known_[at(b[c])])) return false;
        }
        return true;
    }

    /// Those of nodes [first, last) that are in this loop and in none inside it.
    constexpr void compute_all(int loop, int first, int last) {
        for (int i = first; i < last; ++i) {
            if (loop_of_[at(i)] != loop) continue;
            const Op op = graph_[i].op;
            if (op == Op::loop) {
                run_turns(i);
            } else if (op != Op::carry && op != Op::stacked) {
                const Node& node = graph_[i];
                Sets& sets = sets_[at(i)];
                if (sets.empty()) sets = Sets(at(node.size), nothing);  // once for all turns
                for (int c = 0; c < node.size; ++c) sets[at(c)] = component(node, c);
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
            if (graph_[j].op == Op::stacked) sets_[at(j)] = Sets(at(graph_[j].size), nothing);
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
                for (int c = 0; c < size; ++c) sets_[at(s)][at(turn * size + c)] = number(y, c);
            }
            Sets after = all_of(next);
            for (std::size_t c = 0; may_leave && c < after.size(); ++c)
                after[c] = unite(after[c], sets_[at(carry)][c]);
            if (!reads_turn && are_equal(after, sets_[at(carry)])) break;
            sets_[at(carry)] = std::move(after);
        }
        sets_[at(i)] = sets_[at(carry)];
    }
    [[nodiscard]] constexpr Sets all_of(int i) const {
        Sets sets;
        for (int c = 0; c < graph_[i].size; ++c) sets.push_back(number(i, c));
        return sets;
    }

    [[nodiscard]] constexpr int component(const Node& node, int c) {
        if (!has_derivative(node.op)) return nothing;
        int set = nothing;
        switch (node.op) {
            case Op::argument:
                if (node.index != argument_) return nothing;
                known_.emplace_back();
                known_.back().insert(node.offset + c);
                return static_cast<int>(known_.size()) - 1;
            case Op::slice: return number(graph_.operand(node, 0), node.offset + c);
            case Op::concat: return of_concat(node, c);
            case Op::element:
                return number(graph_.operand(node, 0), turns_[at(node.index)] * node.size + c);
            case Op::root: unite_all(set, graph_.operand(node, 2)); return set;
            case Op::at: unite_all(set, graph_.operand(node, 0)); return set;
            case Op::add_at:
                unite_all(set, graph_.operand(node, 2));
                return unite(set, number(graph_.operand(node, 0), c));
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
                return unite(number(graph_.operand(node, 0), c / columns),
                             number(graph_.operand(node, 1), c % columns));
            }
            default:  // elementwise, broadcast
                for (int k = 0; k < node.count; ++k)
                    set = unite(set, number(graph_.operand(node, k), c));
                return set;
        }
    }
    [[nodiscard]] constexpr int of_concat(const Node& node, int c) const {
        int k = 0;
        while (c >= graph_[graph_.operand(node, k)].size)
            c -= graph_[graph_.operand(node, k++)].size;
        return number(graph_.operand(node, k), c);
    }
    constexpr void unite_all(int& set, int i) {
        for (const int other : sets_[at(i)]) set = unite(set, other);
    }
    constexpr void unite_row(int& set, const Node& node, int row) {
        const int w = graph_.operand(node, 0), x = graph_.operand(node, 1),
                  columns = graph_[x].size;
        for (int j = 0; j < columns; ++j) set = unite(set, number(w, row * columns + j));
        unite_all(set, x);
        if (node.count == 3) set = unite(set, number(graph_.operand(node, 2), row));
    }
    constexpr void unite_column(int& set, const Node& node, int column) {
        const int w = graph_.operand(node, 0), u = graph_.operand(node, 1), rows = graph_[u].size;
        for (int r = 0; r < rows; ++r) set = unite(set, number(w, r * node.size + column));
        unite_all(set, u);
    }

    const Graph& graph_;
    int argument_;
    static constexpr int nothing = 0;
    List<ComponentSet> known_{ComponentSet{}};  // (number)
    List<int> loop_of_;
    List<int> turns_;  // (loop)
    List<Sets> sets_;  // (node, component)
};

}  // namespace detail

/// May result 0 depend on the argument? False where nothing reads it.
[[nodiscard]] constexpr bool reads_argument(const Graph& graph, int argument) {
    for (const Node& node : graph.nodes) {
        if (node.op == Op::argument && node.index == argument) return true;
    }
    return false;
}

/// The structural non-zeros of ∂(result 0)/∂(argument), a set of columns per row.
[[nodiscard]] constexpr List<ComponentSet> jacobian_rows(const Graph& graph, int argument) {
    const detail::DependencyAnalysis dependencies(graph, argument);
    List<ComponentSet> rows;
    const Output& output = graph.outputs[0];
    for (int k = 0; k < output.count; ++k) {
        const int node = graph.output_node(output, k);
        for (int c = 0; c < graph[node].size; ++c) rows.push_back(dependencies.of(node, c));
    }
    return rows;
}

/// A group for each column, such that columns of one group share no row; first fit in the order of
/// columns.
[[nodiscard]] constexpr List<int> group_columns(const List<ComponentSet>& rows, int num_columns) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    List<List<int>> touched_by(at(num_columns));  // (column): rows
    for (std::size_t row = 0; row < rows.size(); ++row)
        rows[row].for_each(
            [&](int column) { touched_by[at(column)].push_back(static_cast<int>(row)); });
    List<List<char>> occupied;  // (group, row)
    List<int> group_of(at(num_columns), 0);
    const auto fits = [&](std::size_t group, int column) {
        for (const int row : touched_by[at(column)]) {
            if (occupied[group][at(row)]) return false;
        }
        return true;
    };
    for (int column = 0; column < num_columns; ++column) {
        std::size_t group = 0;
        while (group < occupied.size() && !fits(group, column)) ++group;
        if (group == occupied.size()) occupied.emplace_back(rows.size(), char{0});
        for (const int row : touched_by[at(column)]) occupied[group][at(row)] = 1;
        group_of[at(column)] = static_cast<int>(group);
    }
    return group_of;
}

}  // namespace eddy::inline v0
