#pragma once
// Reverse mode, from graph to graph: the vector–Jacobian product. The nodes are walked backwards;
// each hands the cotangent of its value on to its operands by its rule (ad/rules/).
//
// Exact zeros: a cotangent that comes only from a branch of `select` carries that branch's mask as
// its guard. Where a rule multiplies it with a primal value, the product is selected by the guard,
// so a branch not taken contributes zero even where its own derivative is infinite or NaN.
// Test: tests/ad/random_derivatives.cpp, tests/ad/operations_vector.cpp

#include <algorithm>
#include <eddy/ad/activity.hpp>
#include <eddy/ad/loop_body.hpp>
#include <eddy/ad/own_derivative.hpp>
#include <eddy/ad/rules/all.hpp>
#include <eddy/core/list.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/sparse_parts.hpp>

namespace eddy::inline v0 {
namespace detail {

/// A cotangent: the node that holds it, and the mask outside which it is exactly zero (or −1).
struct Cotangent {
    int node = -1;
    int guard = -1;
};

/// What one reader contributes to the cotangent of components [offset, offset + size) of a value.
struct Contribution {
    int offset = 0;
    int size = 0;
    Cotangent cotangent;
};

class Reverse {
  public:
    using Value = DynamicTraced;

    constexpr Reverse(const Graph& graph, const List<char>& with_respect_to)
        : graph_(graph),
          num_primal_(graph.size()),
          active_(active_nodes(graph, with_respect_to)),
          tangents_(tangent_nodes(graph)),
          contributions_(graph.nodes.size()),
          argument_contributions_(graph.arguments.size()) {}

    /// Appends one cotangent argument per output and sweeps back. Outputs become the cotangents of
    /// the arguments.
    constexpr Graph run(const List<char>& with_respect_to);

    template <Op op>
    constexpr void visit(const Node& node, int i) {
        const Value cotangent = value_of(current_.node);
        if constexpr (op == Op::argument) {
            argument_contributions_[static_cast<std::size_t>(node.index)].push_back(
                {node.offset, node.size, current_});
        } else if constexpr (ChoiceRule<Rule<op>>) {
            choose<op>(node, cotangent);
        } else if constexpr (ActionRule<Rule<op>>) {
            act<op>(node, i, cotangent, std::make_integer_sequence<int, operand_count(op)>{});
        } else if constexpr (requires { VectorRule<op>::pullback(*this, node, i, cotangent); }) {
            VectorRule<op>::pullback(*this, node, i, cotangent);
        }
    }

    // What rules see.
    [[nodiscard]] constexpr int operand(const Node& node, int k) const {
        return graph_.operand(node, k);
    }
    [[nodiscard]] constexpr Value value(const Node& node, int k) {
        return value_of(operand(node, k));
    }
    [[nodiscard]] constexpr Value value_of(int i) { return {graph_, i}; }
    [[nodiscard]] constexpr int size_of(int i) const { return graph_[i].size; }
    [[nodiscard]] constexpr bool is_active(int i) const {
        return active_[static_cast<std::size_t>(i)];
    }

    /// Adds a contribution that is linear in the current cotangent alone.
    constexpr void add(int to, Value contribution) { accumulate(to, contribution, current_.guard); }
    /// The same of components of the current cotangent that become others.
    constexpr void add_mixed(int to, Value contribution) {
        accumulate(to, contribution, guard_for(current_.guard, 1));
    }
    /// Adds a contribution that multiplies the current cotangent with primal values: guarded where
    /// there is a guard.
    constexpr void add_product(int to, Value contribution) {
        const int guard = guard_for(current_.guard, contribution.size());
        if (guard >= 0) contribution = select(condition_of(guard), contribution, 0);
        accumulate(to, contribution, guard);
    }
    /// The same where each component of the contribution sums over components of the current
    /// cotangent: a guard of single components says nothing of such a sum.
    constexpr void add_mixed_product(int to, Value contribution) {
        const int guard = guard_for(current_.guard, 1);
        if (guard >= 0) contribution = select(condition_of(guard), contribution, 0);
        accumulate(to, contribution, guard);
    }
    /// Adds components [begin, begin + |to|) of the current cotangent.
    constexpr void add_part(int to, int begin) {
        const int size = size_of(to);
        int guard = current_.guard;
        if (guard >= 0 && size_of(guard) != 1)
            guard = (0 < slice(indicator(guard), begin, size)).node();
        accumulate(to, slice(value_of(current_.node), begin, size), guard);
    }
    /// Adds to components [offset, …) of the cotangent of `to`.
    constexpr void add_piece(int to, int offset, Value contribution) {
        if (!is_active(to) || tangents_.blocks(current_index_, to)) return;
        contributions_[static_cast<std::size_t>(to)].push_back(
            {offset,
             contribution.size(),
             {contribution.node(), guard_for(current_.guard, contribution.size())}});
    }

    /// A value with a derivative of its own (ad/own_derivative.hpp). A pullback is used up: what it
    /// was traced from is an ordinary value afterwards.
    constexpr void pull_own(const Node& node, int i, Value cotangent) {
        if (node.index != own_pullback)
            return add(operand(node, node.index == own_value ? 0 : 1), cotangent);
        const List<int> made = substitute(graph_, {{operand(node, 1), cotangent.node()}}, i);
        for (int k = 2; k < first_residual(node); k += 2) {
            const int of_x = operand(node, k + 1), changed = made[static_cast<std::size_t>(of_x)];
            add_mixed_product(operand(node, k), value_of(changed < 0 ? of_x : changed));
        }
        forget_pullback(graph_, i);
    }

    /// w = J⁻ᵀ c, one linear solve; what the equation captures receives −(∂r/∂p)ᵀ w.
    constexpr void pull_root(const Node& node, int i, Value cotangent) {
        const RootEquation equation(graph_, node, i);
        note(equation.x(), false);
        List<int> copies;
        for (std::size_t k = 0; k < equation.copies().size(); ++k) {
            const int copy = equation.copies()[k];
            if (copy < 0 || copy == equation.x()) continue;
            note(copy, is_active(static_cast<int>(k)));
            copies.push_back(copy);
        }
        const Value w = value_of(
            solve_jacobian(graph_, equation.jacobian(), cotangent.node(), Op::solve_transposed));
        add_mixed_product(equation.residual(), -w);
        const List<char> in_loop = nodes_in_loops(graph_, graph_.size());
        for (std::size_t k = copies.size(); k-- > 0;) {
            if (!in_loop[static_cast<std::size_t>(copies[k])]) visit_node(copies[k]);
        }
    }

  private:
    friend class LoopReversal;
    /// Hands the cotangent of node i on (reverse_loop.hpp).
    constexpr void visit_node(int i);
    /// A node that was appended as the copy of another one.
    constexpr void note(int i, bool is_active) {
        if (active_.size() <= static_cast<std::size_t>(i)) {
            active_.resize(static_cast<std::size_t>(i) + 1, 0);
            contributions_.resize(static_cast<std::size_t>(i) + 1);
        }
        active_[static_cast<std::size_t>(i)] = is_active;
    }
    /// The mask that holds where one of two guards does; −1 where one is none.
    [[nodiscard]] constexpr int either(int guard, int other) {
        if (guard < 0 || other < 0) return -1;
        return guard == other ? guard : (condition_of(guard) || condition_of(other)).node();
    }
    /// A mask as numbers: 1 where it holds, else 0.
    [[nodiscard]] constexpr Value indicator(int mask) { return select(condition_of(mask), 1, 0); }
    /// A guard for `size` components from one of single components or of the whole: where the sizes
    /// differ, components were mixed, and the guard holds where any component of it does.
    [[nodiscard]] constexpr int guard_for(int guard, int size) {
        if (guard < 0 || size_of(guard) == 1 || size_of(guard) == size) return guard;
        return (0 < sum(indicator(guard))).node();
    }

    template <Op op, int... k>
    constexpr void act(const Node& node, int i, Value cotangent, std::integer_sequence<int, k...>) {
        const auto contribute = [&]<int operand_index>() {
            const int to = operand(node, operand_index);
            if (!is_active(to)) return;
            const Value contribution = Rule<op>::template action<operand_index>(
                node.index, cotangent, value_of(i), value(node, k)...);
            if constexpr (Rule<op>::is_linear) {
                add(to, contribution);
            } else {
                add_product(to, contribution);
            }
        };
        (contribute.template operator()<k>(), ...);
    }

    template <Op op>
    constexpr void choose(const Node& node, Value cotangent) {
        using TheRule = Rule<op>;
        const int mask = [&] {
            if constexpr (op == Op::select)
                return operand(node, 0);
            else if constexpr (op == Op::relu)
                return TheRule::choose(value(node, 0)).node();
            else
                return TheRule::choose(value(node, 0), value(node, 1)).node();
        }();
        if (const int to = operand(node, TheRule::when_true); is_active(to))
            add_chosen(to, mask, cotangent, true);
        if constexpr (TheRule::when_false >= 0) {
            if (const int to = operand(node, TheRule::when_false); is_active(to))
                add_chosen(to, mask, cotangent, false);
        }
    }
    constexpr void add_chosen(int to, int mask, Value cotangent, bool when_true) {
        const TracedMask<dynamic_shape> condition(graph_, mask);
        const Value contribution =
            when_true ? select(condition, cotangent, 0) : select(condition, 0, cotangent);
        const int taken = when_true ? mask : (!condition).node();
        int guard = taken;
        if (current_.guard >= 0) {
            guard = (condition_of(taken) && condition_of(current_.guard)).node();
        }
        accumulate(to, contribution, guard);
    }
    [[nodiscard]] constexpr TracedMask<dynamic_shape> condition_of(int mask) {
        return {graph_, mask};
    }

    /// Adds to the cotangent of node `to`, summing over what was broadcast.
    constexpr void accumulate(int to, Value contribution, int guard) {
        if (!is_active(to) || tangents_.blocks(current_index_, to)) return;
        if (size_of(to) == 1 && contribution.size() > 1) contribution = sum(contribution);
        contributions_[static_cast<std::size_t>(to)].push_back(
            {0, size_of(to), {contribution.node(), guard_for(guard, size_of(to))}});
    }

    /// The whole cotangent of node i, once all its readers have contributed.
    constexpr Cotangent collect(int i) {
        const auto& contributions = contributions_[static_cast<std::size_t>(i)];
        if (contributions.empty()) return {};
        const List<int> parts = assemble(contributions, size_of(i));
        const int guard = common_guard(contributions, size_of(i));
        if (parts.size() == 1) return {parts[0], guard};
        return {graph_.push_list({.op = Op::concat, .size = size_of(i)}, parts), guard};
    }

    /// The mask outside which every contribution is zero; −1 where there is none.
    constexpr int common_guard(const List<Contribution>& contributions, int size) {
        int guard = contributions[0].cotangent.guard;
        bool are_whole = true, any_guard = false;
        for (const Contribution& contribution : contributions) {
            const int other = contribution.cotangent.guard;
            any_guard |= other >= 0;
            are_whole &= contribution.size == size || (other >= 0 && size_of(other) == 1);
        }
        if (!any_guard) return -1;
        if (!are_whole) return guard_of_pieces(contributions, size);
        for (const Contribution& contribution : contributions) {
            const int other = contribution.cotangent.guard;
            if (guard < 0 || other < 0) return -1;
            if (other != guard) guard = (condition_of(guard) || condition_of(other)).node();
        }
        return guard;
    }
    /// The same, component by component: a component is guarded by the pieces that it is in.
    constexpr int guard_of_pieces(List<Contribution> contributions, int size) {
        for (Contribution& contribution : contributions) {
            const int guard = contribution.cotangent.guard;
            Value holds = guard < 0 ? value_of(graph_.push_constant(1)) : indicator(guard);
            if (holds.size() != contribution.size)
                holds = Bilinear::broadcast(holds, contribution.size);
            contribution.cotangent.node = holds.node();
        }
        const List<int> parts = assemble(contributions, size);
        return (0 < value_of(graph_.push_list({.op = Op::concat, .size = size}, parts))).node();
    }

    /// Overlapping contributions as a list of disjoint nodes that cover [0, size): sums where
    /// several meet, zeros where there is none.
    constexpr List<int> assemble(const List<Contribution>& contributions, int size) {
        const auto of = [&](int k) -> const Contribution& {
            return contributions[static_cast<std::size_t>(k)];
        };
        List<int> ends{size}, waiting, open, parts;  // open: in the order of contributions
        for (int k = 0; k < static_cast<int>(contributions.size()); ++k) {
            const int first = of(k).offset, last = first + of(k).size;
            if (first > 0) ends.push_back(first);
            if (last < size) ends.push_back(last);
            if (first < last) waiting.push_back(k);
        }
        std::sort(ends.begin(), ends.end());
        std::sort(waiting.begin(), waiting.end(),
                  [&](int a, int b) { return of(a).offset < of(b).offset; });
        std::size_t entered = 0;
        int begin = 0;
        for (const int end : ends) {
            if (end == begin) continue;
            erase_if(open, [&](int k) { return of(k).offset + of(k).size <= begin; });
            for (; entered < waiting.size() && of(waiting[entered]).offset <= begin; ++entered)
                open.insert(std::upper_bound(open.begin(), open.end(), waiting[entered]),
                            waiting[entered]);
            List<int> terms;
            for (const int k : open)
                terms.push_back(
                    slice_node(graph_, of(k).cotangent.node, begin - of(k).offset, end - begin));
            parts.push_back(terms.empty() ? graph_.push_zeros(end - begin) : sum_of(terms));
            begin = end;
        }
        return parts;
    }

    /// The sum of the terms, products behind the others: each of those is then contracted into the
    /// addition. What is zero but at some places comes last, and is added there alone.
    constexpr int sum_of(const List<int>& terms) {
        int total = -1;
        for (const bool products : {false, true}) {
            for (int term : terms) {
                if (is_sparse(graph_, term) || (graph_[term].op == Op::mul) != products) continue;
                total = total < 0 ? term : (value_of(total) + value_of(term)).node();
            }
        }
        for (int term : terms) {
            if (is_sparse(graph_, term)) total = total < 0 ? term : add_sparse(total, term);
        }
        return total;
    }
    constexpr int add_sparse(int total, int term) {
        const Node node = graph_[term];
        if (node.op != Op::add_at) return total;
        const int to = add_sparse(total, graph_.operand(node, 0));
        return graph_.push(node, to, graph_.operand(node, 1), graph_.operand(node, 2));
    }

    constexpr void seed() {
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
            const Output output = graph_.outputs[o];
            const int argument = static_cast<int>(graph_.arguments.size());
            graph_.arguments.push_back({output.size, output.is_scalar});
            int begin = 0;
            for (int k = 0; k < output.count; ++k) {
                const int node = graph_.output_node(output, k);
                if (is_active(node)) {
                    accumulate(node, value_of(graph_.push_argument(argument, begin, size_of(node))),
                               -1);
                }
                begin += size_of(node);
            }
        }
    }

    constexpr void write_outputs(const List<char>& with_respect_to) {
        graph_.outputs.clear();
        for (std::size_t a = 0; a < with_respect_to.size(); ++a) {
            if (!with_respect_to[a]) continue;
            const Argument argument = graph_.arguments[a];
            graph_.push_output(assemble(argument_contributions_[a], argument.size), argument.size,
                               argument.is_scalar);
        }
    }

    Graph graph_;
    int num_primal_;
    List<char> active_;
    TangentNodes tangents_;
    List<List<Contribution>> contributions_;
    List<List<Contribution>> argument_contributions_;
    Cotangent current_;
    int current_index_ = 0;
};

}  // namespace detail
}  // namespace eddy::inline v0
