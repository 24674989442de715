// Graphs written out component by component.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/trace/op.hpp>
#include <unordered_map>

#include "graph_reads.hpp"
#include "scalar_list.hpp"

namespace eddy::inline v0::detail {
namespace {

class Writer {
  public:
    Writer(const Graph& graph, const RowRoles& roles)
        : graph_(graph), roles_(roles), reads_(graph, roles) {
        for (const Argument& argument : graph.arguments) {
            list_.are_numbers.push_back(is_set(roles.shared, list_.argument_sizes.size()));
            list_.argument_sizes.push_back(argument.size);
            leaves_.emplace_back(static_cast<std::size_t>(argument.size), -1);
        }
        for (std::size_t o = 0; o < graph.outputs.size(); ++o)
            list_.are_numbers.push_back(is_set(roles.summed, o));
    }

    ScalarList run() {
        for (int i = 0; i < graph_.size(); ++i) {
            first_.push_back(static_cast<int>(components_.size()));
            if (reads_.is_needed(i)) write(i);
        }
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
            list_.result_sizes.push_back(graph_.outputs[o].size);
            if (is_set(roles_.summed, o))
                sum_result(o);
            else
                write_result(o, is_set(roles_.adds, o));
        }
        return std::move(list_);
    }

  private:
    /// Component c of node i; a scalar is every component of itself.
    [[nodiscard]] int at(int i, int c) const {
        const int k = graph_[i].size == 1 ? 0 : c;
        return components_[static_cast<std::size_t>(first_[static_cast<std::size_t>(i)] + k)];
    }
    [[nodiscard]] int operand(const Node& node, int k, int c) const {
        return at(graph_.operand(node, k), c);
    }
    [[nodiscard]] int size_of(const Node& node, int k) const {
        return graph_[graph_.operand(node, k)].size;
    }
    int push(const ScalarValue& value) {
        list_.values.push_back(value);
        return static_cast<int>(list_.values.size()) - 1;
    }
    template <class... Operands>
    int push_op(Op op, int index, Operands... operands) {
        return push_values({op, static_cast<int>(sizeof...(operands)), {operands...}, index});
    }
    int argument(int which, int component) {
        int& known = leaves_[static_cast<std::size_t>(which)][static_cast<std::size_t>(component)];
        if (known < 0) known = push({Op::argument, 0, {component}, which});
        return known;
    }
    int constant(double number) {
        const auto [entry, is_new] =
            constants_.try_emplace(std::bit_cast<std::uint64_t>(number), -1);
        if (is_new) {
            entry->second = push({Op::constant, 0, {static_cast<int>(list_.shared.size())}, 0});
            list_.shared.push_back(number);
        }
        return entry->second;
    }

    void write(int i) {
        const Node node = graph_[i];
        const auto give = [&](int value) { components_.push_back(value); };
        if (node.op == Op::argument) {
            for (int c = 0; c < node.size; ++c) give(argument(node.index, node.offset + c));
        } else if (node.op == Op::constant) {
            for (int c = 0; c < node.size; ++c)
                give(constant(graph_.constants[static_cast<std::size_t>(node.offset + c)]));
        } else if (node.op == Op::slice) {
            for (int c = 0; c < node.size; ++c) give(operand(node, 0, node.offset + c));
        } else if (node.op == Op::concat) {
            for (int k = 0; k < node.count; ++k)
                for (int c = 0; c < size_of(node, k); ++c) give(operand(node, k, c));
        } else if (is_identity(node.op) || node.op == Op::broadcast) {
            for (int c = 0; c < node.size; ++c) give(operand(node, 0, c));
        } else if (is_elementwise(node.op)) {
            for (int c = 0; c < node.size; ++c) give(elementwise(node, c));
        } else {
            write_vector(node);
        }
    }
    int elementwise(const Node& node, int c) {
        ScalarValue value{node.op, node.count, {}, has_index(node.op) ? node.index : 0};
        for (int k = 0; k < node.count; ++k) value.operand[k] = operand(node, k, c);
        return push_values(value);
    }
    /// Operands that all lanes share are rows where there is no operation on numbers.
    int push_values(ScalarValue value) {
        using enum Op;
        const bool is_arithmetic = value.op == add || value.op == sub || value.op == mul ||
                                   value.op == div || value.op == mul_add || value.op == mul_sub ||
                                   value.op == neg_mul_add;
        if (is_arithmetic &&
            !(list_.is_shared(value.operand[0]) && list_.is_shared(value.operand[1])))
            return push(value);
        for (int k = 0; k < value.count && value.op != name; ++k) {
            const ScalarValue of = list_.values[static_cast<std::size_t>(value.operand[k])];
            if (of.op != argument || !list_.is_shared(value.operand[k])) continue;
            int& row = rows_of_shared_[value.operand[k]];
            if (row == 0) row = push({name, 1, {value.operand[k]}, 0}) + 1;
            value.operand[k] = row - 1;
        }
        return push(value);
    }

    // Operations on blocks

    [[nodiscard]] RowBlock values_of(int i) const {
        RowBlock values;
        for (int c = 0; c < graph_[i].size; ++c) values.push_back(at(i, c));
        return values;
    }
    /// W x (+ b) of weights that all lanes share; false where they do not.
    bool write_product(const Node& node) {
        if (!reads_.is_product(node)) return false;
        const bool is_transposed = node.op == Op::dense_transposed;
        const int columns = size_of(node, 1);
        ScalarBlock block;
        block.matrix = reads_.numbers_of(graph_.operand(node, 0));
        if (node.count == 3) block.bias = reads_.numbers_of(graph_.operand(node, 2));
        block.what = {.kind = BlockOperation::Kind::product,
                      .rows = node.size,
                      .columns = columns,
                      .row_step = is_transposed ? 1 : columns,
                      .column_step = is_transposed ? node.size : 1};
        block.from = {values_of(graph_.operand(node, 1))};
        push_values_of(std::move(block));
        return true;
    }
    /// Those numbers, side by side.
    [[nodiscard]] ScalarBlock::Place table_numbers(int table) {
        const Node& node = graph_[table];
        if (node.op != Op::constant) return reads_.numbers_of(table);
        const auto [entry, is_new] =
            tables_.try_emplace(table, static_cast<int>(list_.shared.size()));
        for (int c = 0; is_new && c < node.size; ++c)
            list_.shared.push_back(graph_.constants[static_cast<std::size_t>(node.offset + c)]);
        return {ScalarBlock::Place::constants, entry->second};
    }
    void write_table(const Node& node) {
        const int table = graph_.operand(node, 0);
        ScalarBlock block;
        block.what = {.rows = node.size, .columns = graph_[table].size, .is_even = node.index == 1};
        block.from = {values_of(graph_.operand(node, 1)), {}, {}};
        if (reads_.is_table_of_numbers(node))
            block.matrix = table_numbers(table);
        else
            block.from[2] = values_of(table);
        block.what.kind = node.op == Op::at     ? BlockOperation::Kind::at
                          : node.op == Op::knot ? BlockOperation::Kind::knot
                                                : BlockOperation::Kind::add_at;
        if (node.op == Op::add_at) {
            block.from[1] = values_of(graph_.operand(node, 2));
            block.what.columns = size_of(node, 2);
        }
        push_values_of(std::move(block));
    }
    /// An operation on blocks that makes values.
    void push_values_of(ScalarBlock block) {
        block.first_value = static_cast<int>(list_.values.size());
        for (int row = 0; row < block.what.rows; ++row)
            components_.push_back(push({.op = Op::dense,
                                        .operand = {row},
                                        .block = static_cast<int>(list_.blocks.size())}));
        list_.blocks.push_back(std::move(block));
    }
    void push_sum(BlockOperation::Kind kind, int rows, int columns, ScalarBlock::Place to,
                  std::vector<RowBlock> from) {
        ScalarBlock block;
        block.what = {.kind = kind, .rows = rows, .columns = columns};
        block.to = to;
        block.from = std::move(from);
        list_.block_results.push_back(static_cast<int>(list_.blocks.size()));
        list_.blocks.push_back(std::move(block));
    }
    /// Outer products each by itself, all else that lies behind each other at once.
    void sum_result(std::size_t o) {
        const Output& output = graph_.outputs[o];
        ScalarBlock::Place next{static_cast<int>(list_.argument_sizes.size() + o), 0}, first = next;
        RowBlock values;
        const auto end_values = [&] {
            const auto size = static_cast<int>(values.size());
            if (size > 0) push_sum(BlockOperation::Kind::row_sum, size, 1, first, {values});
            values.clear();
        };
        for (int k = 0; k < output.count; ++k) {
            const int i = graph_.output_node(output, k);
            const bool is_outer = reads_.is_summed_outer(i);
            if (is_outer || is_zero(i)) end_values();
            if (is_outer) {
                const int u = graph_.operand(i, 0), v = graph_.operand(i, 1);
                push_sum(BlockOperation::Kind::outer_sum, graph_[u].size, graph_[v].size, next,
                         {values_of(u), values_of(v)});
            } else if (!is_zero(i)) {
                if (values.empty()) first = next;
                const RowBlock more = values_of(i);
                values.insert(values.end(), more.begin(), more.end());
            }
            next.component += graph_[i].size;
        }
        end_values();
    }
    [[nodiscard]] bool is_zero(int i) const {
        if (reads_.is_summed_outer(i)) return false;
        const RowBlock values = values_of(i);
        return std::all_of(values.begin(), values.end(),
                           [&](int v) { return is_zero_constant(v); });
    }
    [[nodiscard]] bool is_zero_constant(int v) const {
        const ScalarValue& value = list_.values[static_cast<std::size_t>(v)];
        return value.op == Op::constant &&
               list_.shared[static_cast<std::size_t>(value.operand[0])] == 0;
    }

    /// Sums in the order of trace/evaluate.hpp: the first term, then the others, products contracted.
    void write_vector(const Node& node) {
        const auto give = [&](int value) { components_.push_back(value); };
        const auto products = [&](int length, auto a, auto b, int start) {
            int total = start;
            for (int c = 0; c < length; ++c)
                total = total < 0 ? push_op(Op::mul, 0, a(c), b(c))
                                  : push_op(Op::mul_add, 0, a(c), b(c), total);
            return total < 0 ? constant(0) : total;
        };
        const auto of = [&](int k) {
            return [this, &node, k](int c) { return operand(node, k, c); };
        };
        switch (node.op) {
            case Op::sum: {
                int total = size_of(node, 0) == 0 ? constant(0) : operand(node, 0, 0);
                for (int c = 1; c < size_of(node, 0); ++c)
                    total = push_op(Op::add, 0, total, operand(node, 0, c));
                return give(total);
            }
            case Op::dot: return give(products(size_of(node, 0), of(0), of(1), -1));
            case Op::norm:
                return give(push_op(Op::sqrt, 0, products(size_of(node, 0), of(0), of(0), -1)));
            case Op::dense: {
                if (write_product(node)) return;
                const int columns = size_of(node, 1);
                for (int row = 0; row < node.size; ++row) {
                    const auto weight = [&](int c) { return operand(node, 0, row * columns + c); };
                    give(products(columns, weight, of(1),
                                  node.count == 3 ? operand(node, 2, row) : -1));
                }
                return;
            }
            case Op::dense_transposed:
                if (write_product(node)) return;
                for (int column = 0; column < node.size; ++column) {
                    const auto weight = [&](int r) {
                        return operand(node, 0, r * node.size + column);
                    };
                    give(products(size_of(node, 1), weight, of(1), -1));
                }
                return;
            case Op::outer:
                for (int row = 0; row < size_of(node, 0); ++row)
                    for (int column = 0; column < size_of(node, 1); ++column)
                        give(push_op(Op::mul, 0, operand(node, 0, row), operand(node, 1, column)));
                return;
            case Op::at:
            case Op::add_at:
            case Op::knot: return write_table(node);
            default:
                require_argument(
                    false,
                    "trace_field: the right-hand side has the operation '{}', which is "
                    "not computed over rows; make it a field at compile time, or write "
                    "it without loops, roots and linear solves",
                    name(node.op));
        }
    }

    void write_result(std::size_t o, bool adds) {
        const Output& output = graph_.outputs[o];
        const int block = static_cast<int>(list_.argument_sizes.size() + o);
        int component = 0;
        for (int k = 0; k < output.count; ++k) {
            const int node = graph_.output_node(output, k);
            if (!adds && is_own_product(node)) {
                const int made = list_.values[static_cast<std::size_t>(at(node, 0))].block;
                list_.blocks[static_cast<std::size_t>(made)].to = {block, component};
                list_.block_results.push_back(made);
                component += graph_[node].size;
                continue;
            }
            for (int c = 0; c < graph_[node].size; ++c, ++component) {
                int value = at(node, c);
                if (adds && is_zero_constant(value)) continue;
                if (adds) {
                    const int before = push({Op::argument, 0, {component}, block});
                    value = push_op(Op::add, 0, value, before);
                } else if (is_leaf(list_.values[static_cast<std::size_t>(value)]) ||
                           list_.values[static_cast<std::size_t>(value)].block >= 0 ||
                           is_result(value)) {
                    value = push_op(Op::name, 0, value);
                }
                is_result_.resize(list_.values.size(), 0);
                is_result_[static_cast<std::size_t>(value)] = 1;
                list_.results.push_back({value, block, component});
            }
        }
    }
    /// A product with weights that has no place yet.
    [[nodiscard]] bool is_own_product(int i) const {
        const bool is_product = graph_[i].op == Op::dense || graph_[i].op == Op::dense_transposed;
        const int block = is_product ? list_.values[static_cast<std::size_t>(at(i, 0))].block : -1;
        return block >= 0 && list_.blocks[static_cast<std::size_t>(block)].to.block < 0;
    }
    [[nodiscard]] bool is_result(int value) const {
        const auto v = static_cast<std::size_t>(value);
        return v < is_result_.size() && is_result_[v] != 0;
    }

    const Graph& graph_;
    const RowRoles& roles_;
    GraphReads reads_;
    ScalarList list_;
    std::vector<int> first_, components_;   // (node); of all nodes, one after another
    std::vector<std::vector<int>> leaves_;  // (argument, component)
    std::unordered_map<std::uint64_t, int> constants_;
    std::unordered_map<int, int> tables_;  // (constant vector): its place among the shared numbers
    std::vector<char> is_result_;          // (value)
    std::unordered_map<int, int> rows_of_shared_;  // (number that lanes share): its row, and one
};

}  // namespace

ScalarList write_out(const Graph& graph, const RowRoles& roles) {
    return Writer(graph, roles).run();
}

}  // namespace eddy::inline v0::detail
