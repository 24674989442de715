// Graphs written out component by component.

#include <bit>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/trace/op.hpp>
#include <unordered_map>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {
namespace {

class Writer {
  public:
    explicit Writer(const Graph& graph) : graph_(graph) {
        for (const Argument& argument : graph.arguments) {
            list_.argument_sizes.push_back(argument.size);
            leaves_.emplace_back(static_cast<std::size_t>(argument.size), -1);
        }
    }

    ScalarList run(const std::vector<char>& adds) {
        for (int i = 0; i < graph_.size(); ++i) {
            first_.push_back(static_cast<int>(components_.size()));
            write(i);
        }
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o)
            write_result(o, o < adds.size() && adds[o] != 0);
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
        return push({op, static_cast<int>(sizeof...(operands)), {operands...}, index});
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
        return push(value);
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
                const int columns = size_of(node, 1);
                for (int row = 0; row < node.size; ++row) {
                    const auto weight = [&](int c) { return operand(node, 0, row * columns + c); };
                    give(products(columns, weight, of(1),
                                  node.count == 3 ? operand(node, 2, row) : -1));
                }
                return;
            }
            case Op::dense_transposed:
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
        list_.result_sizes.push_back(output.size);
        int component = 0;
        for (int k = 0; k < output.count; ++k) {
            const int node = graph_.output_node(output, k);
            for (int c = 0; c < graph_[node].size; ++c, ++component) {
                int value = at(node, c);
                const bool is_zero =
                    list_.values[static_cast<std::size_t>(value)].op == Op::constant &&
                    list_.shared[static_cast<std::size_t>(
                        list_.values[static_cast<std::size_t>(value)].operand[0])] == 0;
                if (adds && is_zero) continue;
                if (adds) {
                    const int before = push({Op::argument, 0, {component}, block});
                    value = push_op(Op::add, 0, value, before);
                } else if (is_leaf(list_.values[static_cast<std::size_t>(value)]) ||
                           is_result(value)) {
                    value = push_op(Op::name, 0, value);
                }
                is_result_.resize(list_.values.size(), 0);
                is_result_[static_cast<std::size_t>(value)] = 1;
                list_.results.push_back({value, block, component});
            }
        }
    }
    [[nodiscard]] bool is_result(int value) const {
        const auto v = static_cast<std::size_t>(value);
        return v < is_result_.size() && is_result_[v] != 0;
    }

    const Graph& graph_;
    ScalarList list_;
    std::vector<int> first_, components_;   // (node); of all nodes, one after another
    std::vector<std::vector<int>> leaves_;  // (argument, component)
    std::unordered_map<std::uint64_t, int> constants_;
    std::vector<char> is_result_;
};

}  // namespace

ScalarList write_out(const Graph& graph, const std::vector<char>& adds) {
    return Writer(graph).run(adds);
}

}  // namespace eddy::inline v0::detail
