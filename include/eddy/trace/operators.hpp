#pragma once
// Arithmetic and comparisons of traced values: each operator appends a node to the graph instead of
// computing.
// Test: tests/trace/functions.cpp, tests/trace/trace_graph.cpp

#include <eddy/trace/traced.hpp>

namespace eddy::inline v0 {

namespace detail {

/// The node that stands for x in `graph`.
template <class T>
constexpr int node_of(Graph& graph, const T& x) {
    if constexpr (requires { x.node_in(graph); }) {
        return x.node_in(graph);
    } else if constexpr (is_vec<T>) {
        if constexpr (std::is_arithmetic_v<typename T::value_type>) {
            const int offset = static_cast<int>(graph.constants.size());
            for (const auto& component : x)
                graph.constants.push_back(static_cast<double>(component));
            return graph.push({.op = Op::constant, .size = x.size(), .offset = offset});
        } else {
            List<int> parts;
            for (const auto& component : x) parts.push_back(node_of(graph, component));
            return graph.push_list({.op = Op::concat, .size = x.size()}, parts);
        }
    } else {
        return graph.push_constant(static_cast<double>(x));
    }
}

/// The size of an elementwise result: the longest operand; all others are as long, or scalars.
constexpr int broadcast_size(Graph& graph, const int* nodes, int count) {
    int size = 1;
    for (int k = 0; k < count; ++k) {
        const int of_operand = graph[nodes[k]].size;
        size = of_operand > size ? of_operand : size;
    }
    int other = 1;
    for (int k = 0; k < count; ++k) {
        const int of_operand = graph[nodes[k]].size;
        other = of_operand != 1 && of_operand != size ? of_operand : other;
    }
    if (other != 1) {
        report(graph, TraceError::sizes_differ,
               [size, other] { return sizes_differ_message(other, size); });
    }
    return size;
}

/// The node of an elementwise operation on these.
constexpr int push_elementwise_here(Graph& graph, Op op, int index, const int* nodes, int count) {
    return graph.push_all({.op = op, .size = broadcast_size(graph, nodes, count), .index = index},
                          nodes, nodes + count);
}
/// The same at run time: compiled in the library, not where a function is traced.
[[nodiscard]] EDDY_EXPORT int push_elementwise_at_run_time(Graph& graph, Op op, int index,
                                                           const int* nodes, int count);
constexpr int push_elementwise(Graph& graph, Op op, int index, const int* nodes, int count) {
    return std::is_constant_evaluated()
               ? push_elementwise_here(graph, op, index, nodes, count)
               : push_elementwise_at_run_time(graph, op, index, nodes, count);
}

/// The outcome of an operation on literals, which have no graph to hold it.
template <int shape>
constexpr Traced<shape> unknown_value() {
    if (!std::is_constant_evaluated()) {
        throw InvalidArgument(
            "trace: an operation is applied to literals only; compute it on plain numbers");
    }
    using Component = Traced<scalar_shape>;
    if constexpr (shape > 0) {
        Traced<shape> x;
        for (Component& component : x) component = Component::make_unknown();
        return x;
    } else {
        return Component::make_unknown();
    }
}

/// The node that was made last is of a call there.
constexpr void place_last(Graph& graph, const SourcePlace& place) {
    if (!std::is_constant_evaluated()) graph.place_last(place);
}

/// `which` is the node's index, with the place where a function with a name was called.
template <Op op, class Which, class... T>
constexpr auto traced_elementwise(const Which& which, const T&... x) {
    constexpr bool has_place = std::is_same_v<Which, NamedCall>;
    constexpr int shape = common_shape<T...>();
    static_assert(shape != no_shape,
                  "trace: vectors of different sizes are combined; operands must have one size or "
                  "be scalars");
    constexpr int result_shape = shape == no_shape ? scalar_shape : shape;
    Graph* graph = common_graph(x...);
    if (graph == nullptr) {
        Traced<result_shape> unknown = unknown_value<result_shape>();
        if constexpr (is_mask(op))
            return TracedMask<result_shape>();
        else
            return unknown;
    }
    // Operands are pushed in the order in which they are written.
    const int nodes[] = {node_of(*graph, x)...};
    int index;
    if constexpr (has_place)
        index = which.index;
    else
        index = which;
    const int node = push_elementwise(*graph, op, index, nodes, static_cast<int>(sizeof...(T)));
    if constexpr (has_place) place_last(*graph, which.place);
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

template <class T>
constexpr bool is_unknown(const T& x) {
    if constexpr (is_symbolic<T>)
        return x.is_unknown();
    else
        return false;
}

/// Arithmetic of two operands; literals that have met no graph are computed at once, as C++ would.
template <Op op, class A, class B>
constexpr auto traced_arithmetic(const A& a, const B& b) {
    if constexpr (shape_of<A> == scalar_shape && shape_of<B> == scalar_shape) {
        if (common_graph(a, b) == nullptr && !is_unknown(a) && !is_unknown(b)) {
            const double x = literal_of(a), y = literal_of(b);
            return Traced<scalar_shape>(op == Op::add   ? x + y
                                        : op == Op::sub ? x - y
                                        : op == Op::mul ? x * y
                                                        : x / y);
        }
    }
    return traced_elementwise<op>(0, a, b);
}

}  // namespace detail

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
        if (a.graph() == nullptr && !a.is_unknown()) return Traced<shape>(-a.literal());
    }
    return detail::traced_elementwise<Op::neg>(0, a);
}
template <int shape>
[[nodiscard]] constexpr Traced<shape> operator+(const Traced<shape>& a) {
    return a;
}

// Compound assignment: a new value for what stands on the left.
#define EDDY_TRACED_ASSIGNMENT(operation)                                                    \
    template <int shape, class T>                                                            \
    constexpr Traced<shape>& operator operation##=(Traced<shape>& a, const T& b) {           \
        return a = a operation b;                                                            \
    }                                                                                        \
    template <int shape, class T>                                                            \
    constexpr const Traced<shape>& operator operation##=(const Traced<shape>& a, const T&) { \
        detail::refuse_assignment<T>();                                                      \
        return a;                                                                            \
    }                                                                                        \
    template <class Number, int shape>                                                       \
    requires std::is_arithmetic_v<Number>                                                    \
    constexpr Number& operator operation##=(Number& a, const Traced<shape>&) {               \
        detail::refuse_number<Number>();                                                     \
        return a;                                                                            \
    }                                                                                        \
    template <int shape, class T>                                                            \
    requires detail::TraceOperand<T>                                                         \
    constexpr T operator operation(const TracedMask<shape>&, const T& b) {                   \
        return detail::refuse_mask(b);                                                       \
    }                                                                                        \
    template <int shape, class T>                                                            \
    requires detail::TraceOperand<T>                                                         \
    constexpr T operator operation(const T& a, const TracedMask<shape>&) {                   \
        return detail::refuse_mask(a);                                                       \
    }
EDDY_TRACED_ASSIGNMENT(+)
EDDY_TRACED_ASSIGNMENT(-)
EDDY_TRACED_ASSIGNMENT(*)
EDDY_TRACED_ASSIGNMENT(/)
#undef EDDY_TRACED_ASSIGNMENT

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

}  // namespace eddy::inline v0
