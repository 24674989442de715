// Graphs written out component by component: their nodes, and what results are made of.

#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/trace/op.hpp>
#include <eddy/trace/solve_linear.hpp>

#include "loop_writer.hpp"

namespace eddy::inline v0::detail {
namespace {

class Writer : LoopWriter {
  public:
    using LoopWriter::LoopWriter;

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
        } else if (node.op == Op::loop) {
            write_loop(i);
        } else if (node.op == Op::stacked || node.op == Op::turns) {
            give_part(parts_.at(i));
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

    // Operations on blocks

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
        give_part(add_part(block, block.what.rows));
        list_.blocks.push_back(std::move(block));
    }
    void push_sum(BlockOperation::Kind kind, int rows, int columns, ScalarBlock::Place to,
                  std::vector<RowBlock> from) {
        ScalarBlock block;
        block.what = {.kind = kind, .rows = rows, .columns = columns};
        block.parts = {{-1, 0, to}};
        block.from = std::move(from);
        list_.block_results.push_back(static_cast<int>(list_.blocks.size()));
        list_.blocks.push_back(std::move(block));
    }
    /// The numbers that node i is made of: the first of them first, as compiled programs add them.
    void push_scattered(int i, ScalarBlock::Place to) {
        const Node& node = graph_[i];
        if (node.op != Op::add_at) return;
        push_scattered(graph_.operand(node, 0), to);
        push_sum(BlockOperation::Kind::scatter, node.size, size_of(node, 2), to,
                 {values_of(graph_.operand(node, 1)), values_of(graph_.operand(node, 2))});
        list_.blocks.back().what.are_numbers =
            list_.are_numbers[static_cast<std::size_t>(to.block)] != 0;
    }
    /// Outer products and what is scattered each by itself, all else that lies behind each other at once.
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
            const bool is_outer = reads_.is_summed_outer(i),
                       is_scattered = reads_.is_scattered(o, i);
            if (is_outer || is_scattered || is_zero(i)) end_values();
            if (is_scattered) {
                push_scattered(i, next);
            } else if (is_outer) {
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

    void write_solution(const Node& node) {
        const auto of = [&](int k) {
            return [this, &node, k](int c) { return ListedNumber{this, operand(node, k, c)}; };
        };
        ListedNumber x[longest_solved];
        solve_linear_of_size<1>(node.size, of(0), of(1), x, node.op == Op::solve_transposed);
        for (int c = 0; c < node.size; ++c) components_.push_back(x[c].value);
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
            case Op::solve:
            case Op::solve_transposed: return write_solution(node);
            default: internal_check(false, "write_out: every operation is one of rows");
        }
    }

    void write_result(std::size_t o, bool adds) {
        const Output& output = graph_.outputs[o];
        const int block = static_cast<int>(list_.argument_sizes.size() + o);
        int component = 0;
        for (int k = 0; k < output.count; ++k) {
            const int node = graph_.output_node(output, k);
            if (reads_.is_scattered(o, node)) {
                push_scattered(node, {block, component});
                component += graph_[node].size;
                continue;
            }
            for (int c = 0; c < graph_[node].size; ++c, ++component) {
                int value = at(node, c);
                if (!adds && begins_own_part(node, c)) {
                    const ScalarValue& made = list_.values[static_cast<std::size_t>(value)];
                    ScalarBlock::Part& part = part_of(made);
                    part.to = {block, component};
                    list_.block_results.push_back(made.block);
                    c += part.rows - 1;
                    component += part.rows - 1;
                    continue;
                }
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
    /// A product with weights, or a part of what a loop makes, that has no place yet: all of it, from component c on.
    [[nodiscard]] bool begins_own_part(int node, int c) {
        const int v = at(node, c);
        const ScalarValue& value = list_.values[static_cast<std::size_t>(v)];
        if (value.block < 0 || value.operand[0] > 0) return false;
        const BlockOperation::Kind kind =
            list_.blocks[static_cast<std::size_t>(value.block)].what.kind;
        if (kind != BlockOperation::Kind::product && kind != BlockOperation::Kind::loop)
            return false;
        const ScalarBlock::Part& part = part_of(value);
        bool follows = part.to.block < 0 && c + part.rows <= graph_[node].size;
        for (int row = 1; follows && row < part.rows; ++row) follows = at(node, c + row) == v + row;
        return follows;
    }
    [[nodiscard]] bool is_result(int value) const {
        const auto v = static_cast<std::size_t>(value);
        return v < is_result_.size() && is_result_[v] != 0;
    }

    std::vector<char> is_result_;  // (value)
};

}  // namespace

ScalarList write_out(const Graph& graph, const RowRoles& roles) {
    return Writer(without_derivatives(graph), roles).run();
}

}  // namespace eddy::inline v0::detail
