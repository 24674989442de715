#pragma once
// Shapes of traced values, as part of their types: how operands fit together, and to which graph
// they belong.
// Test: tests/trace/trace_graph.cpp, tests/checkpoint/structured.cpp

#include <eddy/core/vec.hpp>
#include <eddy/trace/graph.hpp>
#include <type_traits>

namespace eddy::inline v0 {

inline constexpr int scalar_shape = 0;    // a vector of n components has shape n
inline constexpr int dynamic_shape = -1;  // the size is known when the trace runs
inline constexpr int no_shape = -2;       // operands that do not fit together

template <int shape>
class Traced;

/// A traced value whose size is known only at run time.
using DynamicTraced = Traced<dynamic_shape>;

template <int shape>
inline constexpr bool is_symbolic<Traced<shape>> = true;

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

}  // namespace eddy::inline v0
