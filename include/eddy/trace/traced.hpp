#pragma once
// The value types that a function meets while it is traced: `Traced<shape>` stands for a number or
// a vector, and its operators append nodes to the graph instead of computing. The shape is part of
// the type, so a program that would not fit together does not compile; `Traced<dynamic_shape>`
// knows its size at run time only and throws instead. A scalar that has met no graph yet (a
// default-constructed accumulator, a literal) holds its number itself.

#include <concepts>
#include <eddy/core/vec.hpp>
#include <eddy/trace/graph.hpp>
#include <eddy/trace/misuse.hpp>
#include <type_traits>

namespace eddy {

inline constexpr int scalar_shape = 0;    // a vector of n components has shape n
inline constexpr int dynamic_shape = -1;  // the size is known when the trace runs
inline constexpr int no_shape = -2;       // operands that do not fit together

template <int shape>
class Traced;

/// A traced value whose size is known at run time.
using DynamicTraced = Traced<dynamic_shape>;

namespace detail {

template <class T>
struct ShapeOf {
    static constexpr int value = std::is_arithmetic_v<T> ? scalar_shape : no_shape;
};
template <int shape>
struct ShapeOf<Traced<shape>> {
    static constexpr int value = shape;
};
template <class T, int length>
struct ShapeOf<Vec<T, length>> {
    static constexpr int value = length;
};
template <class T>
inline constexpr int shape_of = ShapeOf<T>::value;

constexpr int broadcast_shape(int a, int b) {
    if (a == no_shape || b == no_shape) return no_shape;
    if (a == dynamic_shape || b == dynamic_shape) return dynamic_shape;
    if (a == scalar_shape) return b;
    return b == scalar_shape || a == b ? a : no_shape;
}

template <class First, class... Rest>
constexpr int common_shape() {
    int shape = shape_of<First>;
    ((shape = broadcast_shape(shape, shape_of<Rest>)), ...);
    return shape;
}

/// What the tracer's operators accept beside traced values: numbers, and vectors of numbers or of
/// traced scalars.
template <class T>
concept TraceOperand = is_symbolic<T> || std::is_arithmetic_v<T> || is_vec<T>;

template <class... T>
concept TracedCall = (is_symbolic<T> || ...) && (TraceOperand<T> && ...);

template <class T>
constexpr Graph* graph_of(const T& x) {
    if constexpr (requires { x.graph(); }) {
        return x.graph();
    } else if constexpr (is_vec<T>) {
        Graph* graph = nullptr;
        for (const auto& component : x) {
            if (graph == nullptr) graph = graph_of(component);
        }
        return graph;
    } else {
        return nullptr;
    }
}

template <class... T>
constexpr Graph* common_graph(const T&... x) {
    Graph* graph = nullptr;
    ((graph = graph != nullptr ? graph : graph_of(x)), ...);
    return graph;
}

}  // namespace detail

/// The outcome of a traced comparison. It cannot steer C++ control flow, because both branches are
/// part of the program.
template <int shape>
class TracedMask {
  public:
    constexpr TracedMask(Graph& graph, int node) : graph_(&graph), node_(node) {}
    [[nodiscard]] constexpr Graph* graph() const { return graph_; }
    [[nodiscard]] constexpr int node() const { return node_; }

    template <class Bool>
    requires std::same_as<Bool, bool>
    constexpr explicit operator Bool() const {
        static_assert(sizeof(Bool) == 0,
                      "trace: a traced comparison cannot steer if, while, && or ?: of C++; use "
                      "eddy::select(condition, a, b)");
        return false;
    }

  private:
    Graph* graph_;
    int node_;
};

template <int shape>
class Traced {
  public:
    constexpr Traced() requires(shape == scalar_shape) = default;
    /// A literal; it joins a graph when it meets a traced value.
    template <class Number>
    requires(shape == scalar_shape && std::is_arithmetic_v<Number>) constexpr Traced(Number literal)
        : literal_(static_cast<double>(literal)) {}
    constexpr Traced(Graph& graph, int node) : graph_(&graph), node_(node) {}
    /// Forgets the static shape.
    template <int other>
    requires(shape == dynamic_shape &&
             other != dynamic_shape) constexpr Traced(const Traced<other>& x)
        : graph_(x.graph()), node_(x.node()), literal_(x.literal()) {}

    [[nodiscard]] constexpr Graph* graph() const { return graph_; }
    [[nodiscard]] constexpr int node() const { return node_; }
    [[nodiscard]] constexpr double literal() const { return literal_; }

    [[nodiscard]] static constexpr int size() requires(shape > 0) { return shape; }
    [[nodiscard]] constexpr int size() const requires(shape == dynamic_shape) {
        return (*graph_)[node_].size;
    }

    /// One component.
    [[nodiscard]] constexpr Traced<scalar_shape> operator[](int i) const
        requires(shape != scalar_shape);

    template <class Number>
    requires std::same_as<Number, double>
    constexpr operator Number() const {
        static_assert(sizeof(Number) == 0,
                      "trace: a traced value is not a number yet and cannot become a double; call "
                      "eddy::sin(x), or using "
                      "std::sin; sin(x), instead of std::sin(x)");
        return 0;
    }
    template <class Bool>
    requires std::same_as<Bool, bool>
    constexpr explicit operator Bool() const {
        static_assert(sizeof(Bool) == 0,
                      "trace: a traced value cannot steer if, while, && or ?: of C++; use "
                      "eddy::select(condition, a, b)");
        return false;
    }

    template <class T>
    constexpr Traced& operator+=(const T& x) {
        return *this = *this + x;
    }
    template <class T>
    constexpr Traced& operator-=(const T& x) {
        return *this = *this - x;
    }
    template <class T>
    constexpr Traced& operator*=(const T& x) {
        return *this = *this * x;
    }
    template <class T>
    constexpr Traced& operator/=(const T& x) {
        return *this = *this / x;
    }

  private:
    Graph* graph_ = nullptr;
    int node_ = -1;
    double literal_ = 0;
};

template <int shape>
inline constexpr bool is_symbolic<Traced<shape>> = true;
template <int shape>
struct detail::ShapeOf<TracedMask<shape>> {
    static constexpr int value = shape;
};

namespace detail {

/// The node that stands for x in `graph`.
template <class T>
constexpr int node_of(Graph& graph, const T& x) {
    if constexpr (requires { x.literal(); }) {
        return x.node() < 0 ? graph.push_constant(x.literal()) : x.node();
    } else if constexpr (requires { x.node(); }) {
        return x.node();
    } else if constexpr (is_vec<T>) {
        if constexpr (std::is_arithmetic_v<typename T::value_type>) {
            const int offset = static_cast<int>(graph.constants.size());
            for (const auto& component : x)
                graph.constants.push_back(static_cast<double>(component));
            return graph.push({.op = Op::constant, .size = x.size(), .offset = offset});
        } else {
            std::vector<int> parts;
            for (const auto& component : x) parts.push_back(node_of(graph, component));
            return graph.push_list({.op = Op::concat, .size = x.size()}, parts);
        }
    } else {
        return graph.push_constant(static_cast<double>(x));
    }
}

/// The size of an elementwise result: the longest operand; all others are as long, or scalars.
template <class... Nodes>
constexpr int broadcast_size(Graph& graph, Nodes... node) {
    int size = 1;
    ((size = graph[node].size > size ? graph[node].size : size), ...);
    int other = 1;
    ((other = graph[node].size != 1 && graph[node].size != size ? graph[node].size : other), ...);
    if (other != 1) {
        report(graph, TraceError::sizes_differ,
               [size, other] { return sizes_differ_message(other, size); });
    }
    return size;
}

template <Op op, class... T>
constexpr auto traced_elementwise(int index, const T&... x) {
    constexpr int shape = common_shape<T...>();
    static_assert(shape != no_shape,
                  "trace: vectors of different sizes are combined; operands must have one size or "
                  "be scalars");
    constexpr int result_shape = shape == no_shape ? scalar_shape : shape;
    Graph* graph = common_graph(x...);
    if (graph == nullptr) {
        throw InvalidArgument(
            "trace: an operation is applied to literals only; compute it on plain numbers");
    }
    // Operands are pushed in the order in which they are written.
    const int nodes[] = {node_of(*graph, x)...};
    const int node = [&]<int... k>(std::integer_sequence<int, k...>) {
        return graph->push({.op = op, .size = broadcast_size(*graph, nodes[k]...), .index = index},
                           nodes[k]...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
    if constexpr (is_mask(op)) {
        return TracedMask<result_shape>(*graph, node);
    } else {
        return Traced<result_shape>(*graph, node);
    }
}

template <class T>
constexpr double literal_of(const T& x) {
    if constexpr (is_symbolic<T>) {
        return x.literal();
    } else if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<double>(x);
    } else {
        return 0;
    }
}

/// Arithmetic of two operands; literals that have met no graph are computed at once, as C++ would.
template <Op op, class A, class B>
constexpr auto traced_arithmetic(const A& a, const B& b) {
    if constexpr (shape_of<A> == scalar_shape && shape_of<B> == scalar_shape) {
        if (common_graph(a, b) == nullptr) {
            const double x = literal_of(a), y = literal_of(b);
            return Traced<scalar_shape>(op == Op::add   ? x + y
                                        : op == Op::sub ? x - y
                                        : op == Op::mul ? x * y
                                                        : x / y);
        }
    }
    return traced_elementwise<op>(0, a, b);
}

/// The node for component(s) [offset, offset + size) of `node`, looking through what is already
/// known of it.
constexpr int slice_node(Graph& graph, int node, int offset, int size) {
    const Node source = graph[node];
    if (offset < 0 || size < 1 || offset + size > source.size) {
        report(graph, TraceError::index_past_end, [offset, size, length = source.size] {
            return past_end_message(offset, size, length);
        });
        return graph.push_zeros(
            size < 1 ? 1 : size);  // keeps a compile-time trace going until the static_assert
    }
    if (size == source.size) return node;
    if (source.op == Op::argument)
        return graph.push_argument(source.index, source.offset + offset, size);
    if (source.op == Op::concat) {
        int begin = 0;
        for (int k = 0; k < source.count; ++k) {
            const int part = graph.operand(source, k);
            if (offset >= begin && offset + size <= begin + graph[part].size) {
                return slice_node(graph, part, offset - begin, size);
            }
            begin += graph[part].size;
        }
    }
    return graph.push({.op = Op::slice, .size = size, .offset = offset}, node);
}

}  // namespace detail

template <int shape>
constexpr Traced<scalar_shape> Traced<shape>::operator[](int i) const
    requires(shape != scalar_shape) {
    return {*graph_, detail::slice_node(*graph_, node_, i, 1)};
}

template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator+(const A& a, const B& b) {
    return detail::traced_arithmetic<Op::add>(a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator-(const A& a, const B& b) {
    return detail::traced_arithmetic<Op::sub>(a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator*(const A& a, const B& b) {
    return detail::traced_arithmetic<Op::mul>(a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator/(const A& a, const B& b) {
    return detail::traced_arithmetic<Op::div>(a, b);
}
template <int shape>
[[nodiscard]] constexpr Traced<shape> operator-(const Traced<shape>& a) {
    if constexpr (shape == scalar_shape) {
        if (a.graph() == nullptr) return Traced<shape>(-a.literal());
    }
    return detail::traced_elementwise<Op::neg>(0, a);
}
template <int shape>
[[nodiscard]] constexpr Traced<shape> operator+(const Traced<shape>& a) {
    return a;
}

template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator<(const A& a, const B& b) {
    return detail::traced_elementwise<Op::less>(0, a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator<=(const A& a, const B& b) {
    return detail::traced_elementwise<Op::less_equal>(0, a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator>(const A& a, const B& b) {
    return detail::traced_elementwise<Op::less>(0, b, a);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator>=(const A& a, const B& b) {
    return detail::traced_elementwise<Op::less_equal>(0, b, a);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator==(const A& a, const B& b) {
    // On plain Vecs it would say whether they are equal as a whole.
    static_assert(!(detail::shape_of<A> > 0 && detail::shape_of<B> > 0),
                  "trace: == and != do not compare two vectors; compare their components");
    return detail::traced_elementwise<Op::equal>(0, a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto operator!=(const A& a, const B& b) { return !(a == b); }
template <int a_shape, int b_shape>
[[nodiscard]] constexpr auto operator&&(const TracedMask<a_shape>& a,
                                        const TracedMask<b_shape>& b) {
    return detail::traced_elementwise<Op::mask_and>(0, a, b);
}
template <int a_shape, int b_shape>
[[nodiscard]] constexpr auto operator||(const TracedMask<a_shape>& a,
                                        const TracedMask<b_shape>& b) {
    return detail::traced_elementwise<Op::mask_or>(0, a, b);
}
template <int shape>
[[nodiscard]] constexpr auto operator!(const TracedMask<shape>& a) {
    return detail::traced_elementwise<Op::mask_not>(0, a);
}

}  // namespace eddy
