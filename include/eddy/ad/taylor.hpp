#pragma once
// Taylor mode, from graph to graph: the coefficients of the solution of dy/dt = f(t, y, p) as a power
// series in θ = (t − t0)/h, the part of a step that has passed (Jorba & Zou 2005, Experimental
// Mathematics 14(1), 99–117, section 2):
//
//   y(t0 + θh) = Σ_n Y_n θⁿ,   Y_0 = y,   Y_n = (h/n) F_{n−1},   F the series of f along y
//
// Each operation of f has a recurrence. Sums and products are those of power series; a function
// v = φ(x) follows from the rule of its derivative (ad/rules/), read as an equation between series:
// dv/dθ = rule(dx/dθ, v, x), hence V_n = (1/n) rule(…)_{n−1}. So every function with a rule has a
// recurrence, and its partners, as the cosine of a sine, are computed once. Coefficients that are
// structurally zero have no node. Which branch is taken, and where a step function stands, is decided
// at t0.
// Test: tests/ad/taylor.cpp

#include <eddy/ad/activity.hpp>
#include <eddy/ad/rules/all.hpp>
#include <eddy/trace/passes/write_out.hpp>
#include <eddy/trace/program.hpp>

namespace eddy::inline v0 {
namespace detail {

/// A template, so that only who asks for a series makes what it needs of all rules.
template <class Source>
class TaylorSeries {
  public:
    using Value = DynamicTraced;
    static constexpr int zero = -1;  // of a coefficient: it has no node

    constexpr explicit TaylorSeries(const Source& graph)
        : graph_(graph), outputs_(graph.outputs[0].count) {
        series_.resize(graph_.nodes.size());
        for (int k = 0; k < outputs_; ++k)
            output_.push_back(graph_.output_node(graph_.outputs[0], k));
        result_.arguments = graph_.arguments;
        result_.arguments.push_back({1, true});
        result_.names = graph_.names;
        result_.places = graph_.places;
        result_.run_time = graph_.run_time;
        size_ = graph_.outputs[0].size;
        h_ = result_.push_argument(static_cast<int>(result_.arguments.size()) - 1, 0, 1);
        state_.push_back(zero);
    }

    /// The program of (t, y, p, h) → Y_1, …, Y_order, one after another.
    constexpr Graph run(int order);

    template <Op op>
    constexpr void visit(const Node& node, int i) {
        if constexpr (ActionRule<Rule<op>>)
            integrand_ = rule<op>(node, i, std::make_integer_sequence<int, operand_count(op)>{});
        else
            internal_check(false, "taylor: an operation without a recurrence");
    }

  private:
    struct Series {
        List<int> coefficient;   // nodes of the result, as far as computed
        int stands_for = -1;     // another node with the same series
        int integrand = -1;      // of a function: the node whose series is its derivative's
        int derivative_of = -1;  // of a node that stands for dx/dθ: x
    };

    /// Coefficient n of node i: a node of the result, or `zero`.
    constexpr int coefficient(int i, int n) {
        i = representative(i);
        while (static_cast<int>(at(i).coefficient.size()) <= n) {
            const int next = compute(i, static_cast<int>(at(i).coefficient.size()));
            at(i).coefficient.push_back(next);
        }
        return at(i).coefficient[static_cast<std::size_t>(n)];
    }
    constexpr int compute(int i, int n);
    constexpr int of_leaf(const Node& node, int n);
    constexpr int of_linear(const Node& node, int n);
    constexpr int of_product(const Node& node, int n);
    constexpr int of_function(const Node& node, int i, int n);
    constexpr int of_choice(const Node& node, int n);

    /// The first node of the same function of the same operands; what integer powers and norms are
    /// made of.
    constexpr int representative(int i) {
        const Node node = graph_[i];
        if (at(i).stands_for < 0) {
            int found = i;
            if (node.op == Op::powi)
                found = power(graph_.operand(node, 0), node.index, node.size);
            else if (node.op == Op::norm)
                found = sqrt(Value(dot(source(node, 0), source(node, 0)))).node();
            else if (is_function(node.op))
                found = first_twin(node, i);
            grow();
            at(i).stands_for = found;
        }
        return at(i).stands_for;
    }
    constexpr int first_twin(const Node& node, int i) {
        for (int j = 0; j < i; ++j) {
            bool same = graph_[j].op == node.op && graph_[j].index == node.index;
            for (int k = 0; same && k < node.count; ++k)
                same = graph_.operand(j, k) == graph_.operand(node, k);
            if (same) return j;
        }
        return i;
    }
    /// x^n by squaring.
    constexpr int power(int x, int n, int size) {
        if (n < 0) return (1 / of_source(power(x, -n, size))).node();
        if (n == 0) return Bilinear::broadcast(of_source(graph_.push_constant(1)), size).node();
        if (n == 1) return x;
        const Value half = of_source(power(x, n / 2, size));
        const Value square = half * half;
        return n % 2 == 0 ? square.node() : (square * of_source(x)).node();
    }

    [[nodiscard]] static constexpr bool is_function(Op op) {
        return op >= Op::pow && op <= Op::softplus && op != Op::powi && op != Op::min &&
               op != Op::max && op != Op::sign && op != Op::floor;
    }

    /// Σ_k rule_k(dx_k/dθ, v, x…), as nodes of the graph that is expanded.
    template <Op op, int... k>
    constexpr int rule(const Node& node, int i, std::integer_sequence<int, k...>) {
        int total = -1;
        const auto add = [&](Value term) {
            total = total < 0 ? term.node() : (of_source(total) + term).node();
        };
        if constexpr (op == Op::pow) {  // its rules hold at x = 0 too, and would call pow each
            const Value x = source(node, 0), y = source(node, 1), v = of_source(i);
            add(y * (v * derivative(node, 0)) / x);
            add((v * log(x)) * derivative(node, 1));
        } else {
            (add(Value(Rule<op>::template action<k>(node.index, derivative(node, k), of_source(i),
                                                    source(node, k)...))),
             ...);
        }
        return total;
    }
    /// Stands for dx/dθ of operand k.
    constexpr Value derivative(const Node& node, int k) {
        const int x = graph_.operand(node, k);
        const int placeholder = graph_.push({.op = Op::barrier, .size = graph_[x].size}, x);
        grow();
        at(placeholder).derivative_of = x;
        return of_source(placeholder);
    }

    [[nodiscard]] constexpr Value source(const Node& node, int k) {
        return of_source(graph_.operand(node, k));
    }
    [[nodiscard]] constexpr Value of_source(int i) { return {graph_, i}; }
    [[nodiscard]] constexpr Value result(int node) { return {result_, node}; }
    [[nodiscard]] constexpr Value number(double value) {
        return result(result_.push_constant(value));
    }
    constexpr Series& at(int i) { return series_[static_cast<std::size_t>(i)]; }
    constexpr void grow() { series_.resize(graph_.nodes.size()); }

    /// A coefficient as long as its node.
    constexpr int spanning(int node, int size) {
        if (node == zero || result_[node].size == size) return node;
        return Bilinear::broadcast(result(node), size).node();
    }
    constexpr int or_zeros(int node, int size) {
        return node == zero ? result_.push_zeros(size) : node;
    }
    constexpr int sum_of(int a, int b) {
        if (a == zero || b == zero) return a == zero ? b : a;
        return (result(a) + result(b)).node();
    }
    constexpr int difference_of(int a, int b) {
        if (b == zero) return a;
        return a == zero ? (-result(b)).node() : (result(a) - result(b)).node();
    }

    /// Σ_j a_j b_{n−j}, where `product` multiplies two coefficients; the newest last, since the sum
    /// waits for them.
    template <class Product>
    constexpr int convolution(int a, int b, int n, Product product) {
        int total = zero;
        const auto add = [&](int j) {
            const int left = coefficient(a, j);
            if (left == zero) return;
            const int right = coefficient(b, n - j);
            if (right != zero) total = sum_of(total, product(result(left), result(right)).node());
        };
        for (int j = n / 2; j >= 0; --j) {
            add(j);
            if (n - j != j) add(n - j);
        }
        return total;
    }
    constexpr int product(int a, int b, int n) {
        if (a == b) return square(a, n);
        return convolution(a, b, n, [](Value x, Value y) { return Value(x * y); });
    }
    /// Each pair of a square once.
    constexpr int square(int a, int n) {
        int pairs = zero;
        for (int j = (n + 1) / 2 - 1; j >= 0; --j) {
            const int left = coefficient(a, j), right = coefficient(a, n - j);
            if (left != zero && right != zero)
                pairs = sum_of(pairs, (result(left) * result(right)).node());
        }
        if (pairs != zero) pairs = (2 * result(pairs)).node();
        const int middle = n % 2 == 0 ? coefficient(a, n / 2) : zero;
        return middle == zero ? pairs : sum_of(pairs, (result(middle) * result(middle)).node());
    }
    /// q_n = (a_n − Σ_{j<n} q_j b_{n−j}) / b_0, for the quotient at node i.
    constexpr int quotient(const Node& node, int i, int n) {
        const int a = graph_.operand(node, 0), b = graph_.operand(node, 1);
        int rest = coefficient(a, n);
        for (int j = 0; j < n; ++j) {
            const int q = coefficient(i, j), right = coefficient(b, n - j);
            if (q != zero && right != zero)
                rest = difference_of(rest, (result(q) * result(right)).node());
        }
        if (rest == zero) return zero;
        return (result(rest) / result(or_zeros(coefficient(b, 0), 1))).node();
    }

    Source graph_;  // f; rules append the derivatives of its functions
    Graph result_;  // the coefficients
    List<Series> series_;
    List<int> output_;  // nodes of f's result
    List<int> state_;   // Y_n
    int outputs_;
    int size_ = 0;
    int h_ = 0;
    int integrand_ = -1;
};

template <class Source>
constexpr int TaylorSeries<Source>::compute(int i, int n) {
    const Node node = graph_[i];
    if (const int x = at(i).derivative_of; x >= 0) {
        const int next = coefficient(x, n + 1);
        return next == zero ? zero : (number(n + 1) * result(next)).node();
    }
    int found = zero;
    switch (node.op) {
        case Op::argument:
        case Op::constant: found = of_leaf(node, n); break;
        case Op::mul: found = product(graph_.operand(node, 0), graph_.operand(node, 1), n); break;
        case Op::div: found = quotient(node, i, n); break;
        case Op::fma:
        case Op::mul_add:
        case Op::mul_sub:
        case Op::neg_mul_add: {
            const int ab = product(graph_.operand(node, 0), graph_.operand(node, 1), n);
            const int c = coefficient(graph_.operand(node, 2), n);
            found = node.op == Op::mul_sub       ? difference_of(ab, c)
                    : node.op == Op::neg_mul_add ? difference_of(c, ab)
                                                 : sum_of(ab, c);
            break;
        }
        case Op::dot:
        case Op::dense:
        case Op::dense_transposed:
        case Op::outer: found = of_product(node, n); break;
        case Op::min:
        case Op::max:
        case Op::relu:
        case Op::select: found = of_choice(node, n); break;
        default: found = is_function(node.op) ? of_function(node, i, n) : of_linear(node, n);
    }
    return spanning(found, node.size);
}

template <class Source>
constexpr int TaylorSeries<Source>::of_leaf(const Node& node, int n) {
    if (node.op == Op::constant) {
        if (n > 0) return zero;
        const int first = result_.push_zeros(node.size);
        for (int k = 0; k < node.size; ++k)
            result_.constants[static_cast<std::size_t>(result_[first].offset + k)] =
                graph_.constants[static_cast<std::size_t>(node.offset + k)];
        return first;
    }
    if (n == 0) return result_.push_argument(node.index, node.offset, node.size);
    if (node.index == 0) return n == 1 ? h_ : zero;  // t = t0 + hθ
    if (node.index == 1)
        return slice_node(result_, state_[static_cast<std::size_t>(n)], node.offset, node.size);
    return zero;
}

/// What acts on each coefficient by itself; masks, step functions and places look at the first alone.
template <class Source>
constexpr int TaylorSeries<Source>::of_linear(const Node& node, int n) {
    const bool is_step = node.op == Op::sign || node.op == Op::floor || node.op == Op::knot;
    if (n > 0 && (is_mask(node.op) || is_step)) return zero;
    List<int> operands;
    bool any = n == 0;
    for (int k = 0; k < node.count; ++k) {
        const bool is_place = is_table_op(node.op) && k == 1;
        operands.push_back(coefficient(graph_.operand(node, k), is_place ? 0 : n));
        any = any || (operands.back() != zero && !is_place);
    }
    if (!any) return zero;
    if (node.op == Op::add) return sum_of(operands[0], operands[1]);
    if (node.op == Op::sub) return difference_of(operands[0], operands[1]);
    if (passes::is_annotation(node)) return operands[0];
    for (int k = 0; k < node.count; ++k) {
        int& operand = operands[static_cast<std::size_t>(k)];
        operand = or_zeros(operand, graph_[graph_.operand(node, k)].size);
    }
    return result_.push_list(node, operands);
}

template <class Source>
constexpr int TaylorSeries<Source>::of_product(const Node& node, int n) {
    const int a = graph_.operand(node, 0), b = graph_.operand(node, 1);
    const int sum = convolution(a, b, n, [&](Value x, Value y) -> Value {
        return {result_, result_.push({.op = node.op, .size = node.size}, x.node(), y.node())};
    });
    return node.count == 3 ? sum_of(sum, coefficient(graph_.operand(node, 2), n)) : sum;
}

/// Which operand it is, is decided by the first coefficients.
template <class Source>
constexpr int TaylorSeries<Source>::of_choice(const Node& node, int n) {
    const auto first = [&](int k) {
        const int x = graph_.operand(node, k);
        return result(or_zeros(coefficient(x, 0), graph_[x].size));
    };
    const int a = node.op == Op::select ? 1 : 0;
    const int when_true = coefficient(graph_.operand(node, a), n);
    const int when_false = node.op == Op::relu ? zero : coefficient(graph_.operand(node, a + 1), n);
    if (when_true == zero && when_false == zero) return zero;
    const Value left = result(or_zeros(when_true, 1)), right = result(or_zeros(when_false, 1));
    if (node.op == Op::select)
        return select(TracedMask<dynamic_shape>(result_, first(0).node()), left, right).node();
    if (node.op == Op::relu) return select(0 < first(0), left, right).node();
    if (node.op == Op::max) return select(first(0) < first(1), right, left).node();
    return select(first(1) < first(0), right, left).node();
}

template <class Source>
constexpr int TaylorSeries<Source>::of_function(const Node& node, int i, int n) {
    if (n == 0) {
        List<int> operands;
        for (int k = 0; k < node.count; ++k) {
            const int x = graph_.operand(node, k);
            operands.push_back(or_zeros(coefficient(x, 0), graph_[x].size));
        }
        return result_.push_list(node, operands);
    }
    if (at(i).integrand < 0) {
        visit_op(node.op, *this, node, i);
        grow();
        at(i).integrand = integrand_;
    }
    const int rate = coefficient(at(i).integrand, n - 1);
    return rate == zero ? zero : (number(1. / n) * result(rate)).node();
}

template <class Source>
constexpr Graph TaylorSeries<Source>::run(int order) {
    const int num_nodes = graph_.size();
    for (int n = 1; n <= order; ++n) {
        // In the order of the nodes: what a coefficient needs is there, and nothing nests deeply.
        for (int i = 0; i < num_nodes; ++i) (void)coefficient(i, n - 1);
        List<int> parts;
        const Value size = number(1. / n) * result(h_);
        for (int node : output_) {
            const int rate = coefficient(node, n - 1);
            parts.push_back(rate == zero ? result_.push_zeros(graph_[node].size)
                                         : (size * result(rate)).node());
        }
        state_.push_back(parts.size() == 1
                             ? parts[0]
                             : result_.push_list({.op = Op::concat, .size = size_}, parts));
    }
    result_.push_output({state_.begin() + 1, state_.end()}, order * size_, false);
    return std::move(result_);
}

template <class P, int order>
struct TaylorOf {
    static constexpr int expected_nodes = (order + 1) * (order + 2) / 2 * P::graph.size() + 192;
    static constexpr Graph make() {
        return passes::simplify(TaylorSeries(passes::write_out_loops(P::graph.thaw())).run(order));
    }
};

}  // namespace detail

/// The Taylor series of the solution of dy/dt = f(t, y, p): a program of (t, y, p, h), h a scalar,
/// that returns Y_1, …, Y_order in one vector, with y(t + θh) = y + Σ_n Y_n θⁿ.
template <int order, class Recipe>
[[nodiscard]] constexpr auto taylor(const Program<Recipe>&) {
    constexpr bool is_straight = passes::has_known_lengths(Program<Recipe>::graph);
    static_assert(is_straight,
                  "taylor: the right-hand side has a bounded_while or a root, which have no series "
                  "here; use another method, or repeat and scan");
    if constexpr (is_straight) return Program<detail::TaylorOf<Program<Recipe>, order>>{};
}

}  // namespace eddy::inline v0
