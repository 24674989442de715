#pragma once
// Random graphs, built node by node from every operation, with constants that identities look for
// (±0, ±1), infinities and NaN among them, and with repetitions for common-subexpression
// elimination to find. `smooth_graph` keeps to operations whose values stay moderate for moderate
// arguments, so that derivatives can be compared.

#include <algorithm>
#include <eddy/trace/graph.hpp>
#include <limits>
#include <vector>

#include "support/random.hpp"

namespace support {

using eddy::Graph;
using eddy::Node;
using eddy::Op;

inline constexpr int largest_size = 12;

class GraphBuilder {
  public:
    explicit GraphBuilder(std::uint64_t seed) : random_(seed) {
        graph_.arguments = {
            {1, true}, {1 + random_.below(4), false}, {2 + random_.below(5), false}};
        for (int a = 0; a < 3; ++a)
            values_.push_back(
                graph_.push_argument(a, 0, graph_.arguments[static_cast<std::size_t>(a)].size));
    }

    /// Any operation at all.
    void push_any() {
        switch (random_.below(16)) {
            case 0: return add(constant());
            case 1: return add(argument());
            case 2: return push_repetition();
            case 3:
            case 4: return push_unary(random_.one_in(2) ? Op::neg : unary());
            case 5:
            case 6:
            case 7:
            case 8: return push_binary(static_cast<Op>(random_.below(4) + int(Op::add)));
            case 9:
                return push_binary(random_.pick(std::vector{Op::pow, Op::atan2, Op::min, Op::max}));
            case 10: return push_ternary();
            case 11: return push_mask();
            case 12: return push_select();
            default: return push_vector(random_.below(9));
        }
    }
    /// An operation that is smooth almost everywhere and bounded by its operands.
    void push_smooth() {
        const int x = value();
        switch (random_.below(14)) {
            case 0: return add(unary_of(Op::sqrt, one_plus_square(x)));
            case 1:
                return add(unary_of(random_.pick(std::vector{Op::log, Op::cbrt, Op::digamma}),
                                    one_plus_square(x)));
            case 2: return add(unary_of(Op::log1p, binary_of(Op::mul, x, x)));
            case 3: return add(binary_of(Op::div, value(), one_plus_square(x)));
            case 4: return add(binary_of(Op::pow, one_plus_square(x), unary_of(Op::tanh, value())));
            case 5: return add(binary_of(Op::atan2, x, one_plus_square(value())));
            case 6: return add(unary_of(bounded_argument(), scaled_tanh(x)));
            case 7: return add(unary_of(bounded_value(), x));
            case 8:
                return push_binary(random_.pick(std::vector{Op::add, Op::sub, Op::min, Op::max}));
            case 9: return add(binary_of(Op::mul, unary_of(Op::tanh, x), value()));
            case 10: return push_mask();
            case 11: return push_select();
            default: return push_vector(random_.below(8));
        }
    }

    [[nodiscard]] Graph finish() {
        const int num_outputs = 1 + random_.below(3);
        for (int o = 0; o < num_outputs; ++o) {
            std::vector<int> parts;
            int size = 0;
            for (int k = 1 + random_.below(3); k > 0; --k) {
                parts.push_back(value());
                size += graph_[parts.back()].size;
            }
            graph_.push_output(parts, size, size == 1 && random_.one_in(2));
        }
        return std::move(graph_);
    }

  private:
    void add(int node) { values_.push_back(node); }
    /// A node with a value, recent ones first.
    int value() {
        const int count = static_cast<int>(values_.size());
        const int back =
            random_.one_in(2) ? random_.below(count) : random_.below(std::min(count, 4));
        return values_[static_cast<std::size_t>(count - 1 - back)];
    }
    /// A node that can be combined with one of `size` components.
    int partner(int size) {
        for (int attempt = 0; attempt < 8; ++attempt) {
            const int node = value();
            if (size == 1 || graph_[node].size == 1 || graph_[node].size == size) return node;
        }
        return values_[0];  // a scalar
    }
    int value_of_size(int size) {
        for (int attempt = 0; attempt < 8; ++attempt) {
            const int node = value();
            if (graph_[node].size == size) return node;
        }
        if (size == 1) return values_[0];
        return graph_.push({.op = Op::broadcast, .size = size}, values_[0]);
    }
    int number(double x) { return graph_.push_constant(x); }

    int constant() {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const std::vector<double> numbers{
            0.0,   -0.0,     1,         -1,
            2,     0.5,      3,         -0.1,
            1e300, infinity, -infinity, 1e-310,
            1,     0.0,      16777217,  std::numeric_limits<double>::quiet_NaN()};
        const int size = random_.one_in(3) ? 1 + random_.below(4) : 1;
        const int offset = static_cast<int>(graph_.constants.size());
        for (int k = 0; k < size; ++k) graph_.constants.push_back(random_.pick(numbers));
        return graph_.push({.op = Op::constant, .size = size, .offset = offset});
    }
    int argument() {
        const int a = random_.below(3), size = graph_.arguments[static_cast<std::size_t>(a)].size;
        const int offset = random_.below(size);
        return graph_.push_argument(a, offset, 1 + random_.below(size - offset));
    }
    Op unary() {
        const std::vector<Op> rest{Op::abs,      Op::sign, Op::floor,         Op::sigmoid,
                                   Op::softplus, Op::relu, Op::stop_gradient, Op::name,
                                   Op::barrier,  Op::powi, Op::powi};
        const Op function =
            static_cast<Op>(int(Op::sqrt) + random_.below(int(Op::polygamma) - int(Op::sqrt) + 1));
        const bool is_unary = function != Op::atan2;
        return is_unary && random_.one_in(2) ? function : random_.pick(rest);
    }
    Op bounded_argument() {
        return random_.pick(std::vector{Op::asin, Op::acos, Op::exp, Op::expm1, Op::sinh, Op::cosh,
                                        Op::tan, Op::erfcx, Op::log_erfc, Op::powi});
    }
    Op bounded_value() {
        return random_.pick(std::vector{Op::sin, Op::cos, Op::atan, Op::tanh, Op::erf, Op::erfc,
                                        Op::abs, Op::sigmoid, Op::softplus, Op::relu, Op::neg,
                                        Op::sign, Op::floor, Op::name, Op::barrier});
    }

    int unary_of(Op op, int x) {
        Node node{.op = op, .size = graph_[x].size};
        if (op == Op::powi) node.index = random_.below(8) - 3;
        if (op == Op::polygamma) node.index = 1 + random_.below(2);
        if (op == Op::name) {
            node.index = static_cast<int>(graph_.names.size());
            graph_.names.push_back("label");
        }
        return graph_.push(node, x);
    }
    int binary_of(Op op, int x, int y) {
        if (graph_[x].size != 1 && graph_[y].size != 1 && graph_[x].size != graph_[y].size)
            y = values_[0];
        return graph_.push({.op = op, .size = std::max(graph_[x].size, graph_[y].size)}, x, y);
    }
    int one_plus_square(int x) { return binary_of(Op::add, number(1), binary_of(Op::mul, x, x)); }
    int scaled_tanh(int x) {  // in (0.1, 0.9)
        return binary_of(Op::add, number(0.5),
                         binary_of(Op::mul, number(0.4), unary_of(Op::tanh, x)));
    }

    void push_unary(Op op) { add(unary_of(op, value())); }
    void push_binary(Op op) {
        const int x = value();
        const int y = partner(graph_[x].size);
        add(random_.one_in(2) ? binary_of(op, x, y) : binary_of(op, y, x));
    }
    void push_ternary() {
        const Op op =
            random_.one_in(2) ? Op::fma : static_cast<Op>(int(Op::mul_add) + random_.below(3));
        const int x = value();
        const int y = partner(graph_[x].size);
        const int size = std::max(graph_[x].size, graph_[y].size);
        const int z = partner(size);
        add(graph_.push({.op = op, .size = std::max(size, graph_[z].size)}, x, y, z));
    }
    void push_mask() {
        if (masks_.size() >= 2 && random_.one_in(3)) {
            const int a = random_.pick(masks_), b = random_.pick(masks_);
            if (random_.one_in(3)) {
                masks_.push_back(graph_.push({.op = Op::mask_not, .size = graph_[a].size}, a));
            } else if (graph_[a].size == 1 || graph_[b].size == 1 ||
                       graph_[a].size == graph_[b].size) {
                const Op op = random_.one_in(2) ? Op::mask_and : Op::mask_or;
                masks_.push_back(graph_.push(
                    {.op = op, .size = std::max(graph_[a].size, graph_[b].size)}, a, b));
            }
            return;
        }
        const int x = value();
        masks_.push_back(binary_of(static_cast<Op>(int(Op::less) + random_.below(3)), x,
                                   partner(graph_[x].size)));
    }
    void push_select() {
        if (masks_.empty()) return push_mask();
        const int mask = random_.pick(masks_);
        const int x = partner(graph_[mask].size);
        const int size = std::max(graph_[mask].size, graph_[x].size);
        const int y = random_.one_in(8) ? x : partner(size);
        add(graph_.push({.op = Op::select, .size = std::max(size, graph_[y].size)}, mask, x, y));
    }
    /// The same operation on the same operands once more, swapped where that must not matter.
    void push_repetition() {
        const int i = value();
        const Node node = graph_[i];
        std::vector<int> operands;
        for (int k = 0; k < node.count; ++k) operands.push_back(graph_.operand(node, k));
        if (eddy::is_commutative(node.op) && random_.one_in(2)) std::swap(operands[0], operands[1]);
        add(graph_.push_list(node, operands));
    }

    void push_vector(int kind) {
        const int x = value(), size = graph_[x].size;
        if (kind == 0) {
            const int offset = random_.below(size);
            add(graph_.push(
                {.op = Op::slice, .size = 1 + random_.below(size - offset), .offset = offset}, x));
        } else if (kind == 1) {
            const int y = value();
            if (size + graph_[y].size <= largest_size)
                add(graph_.push({.op = Op::concat, .size = size + graph_[y].size}, x, y));
        } else if (kind == 2) {
            if (size == 1) add(graph_.push({.op = Op::broadcast, .size = 1 + random_.below(5)}, x));
        } else if (kind == 3) {
            add(graph_.push({.op = Op::sum}, x));
        } else if (kind == 4) {
            add(graph_.push({.op = Op::dot}, x, value_of_size(size)));
        } else if (kind == 5) {
            add(graph_.push({.op = Op::norm}, x));
        } else if (kind == 6) {
            push_dense(x);
        } else if (kind == 7) {
            const int y = value();
            if (size * graph_[y].size <= largest_size)
                add(graph_.push({.op = Op::outer, .size = size * graph_[y].size}, x, y));
        } else {
            add(graph_.push({.op = Op::concat, .size = size}, x));
        }
    }
    void push_dense(int x) {
        const int columns = graph_[x].size, rows = 1 + random_.below(3);
        if (rows * columns > largest_size) return;
        const int weights = value_of_size(rows * columns);
        switch (random_.below(3)) {
            case 0: return add(graph_.push({.op = Op::dense, .size = rows}, weights, x));
            case 1: {
                const int bias = value_of_size(rows);
                return add(graph_.push({.op = Op::dense, .size = rows}, weights, x, bias));
            }
            default:
                return add(graph_.push({.op = Op::dense_transposed, .size = rows}, weights, x));
        }
    }

    Random random_;
    Graph graph_;
    std::vector<int> values_, masks_;
};

inline Graph random_graph(std::uint64_t seed, int num_steps) {
    GraphBuilder builder(seed);
    for (int step = 0; step < num_steps; ++step) builder.push_any();
    return builder.finish();
}
inline Graph smooth_graph(std::uint64_t seed, int num_steps) {
    GraphBuilder builder(seed);
    for (int step = 0; step < num_steps; ++step) builder.push_smooth();
    return builder.finish();
}

}  // namespace support
