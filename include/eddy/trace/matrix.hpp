#pragma once
// Matrices of numbers and of traced values, row-major, and their products. The product with a vector
// is one node whatever its size, that of two matrices one for each row of the first.
// Test: tests/trace/networks.cpp, tests/checkpoint/structured.cpp

#include <eddy/trace/functions.hpp>
#include <utility>

namespace eddy::inline v0 {

/// A matrix, row-major: `Mat<double, rows, columns>` of numbers, or of traced values.
template <class Components, int rows, int columns>
struct MatrixOf {
    Components components;  ///< row by row

    [[nodiscard]] static constexpr int num_rows() { return rows; }
    [[nodiscard]] static constexpr int num_columns() { return columns; }
    [[nodiscard]] constexpr decltype(auto) operator()(int row, int column) {
        return components[row * columns + column];
    }
    [[nodiscard]] constexpr decltype(auto) operator()(int row, int column) const {
        return components[row * columns + column];
    }
    friend bool operator==(const MatrixOf&, const MatrixOf&) = default;
};
/// A matrix of numbers.
template <class Real, int rows, int columns>
using Mat = MatrixOf<Vec<Real, rows * columns>, rows, columns>;

namespace detail {

template <class T>
inline constexpr bool is_matrix = false;
template <class Components, int rows, int columns>
inline constexpr bool is_matrix<MatrixOf<Components, rows, columns>> = true;

/// W x, one node: each row is summed from its first column on, without a bias.
template <int rows, int columns, class W, class X>
constexpr auto matrix_vector(const W& w, const X& x) {
    if constexpr (TracedVectorCall<W, X>) {
        Graph* const graph = common_graph(w, x);
        if (graph == nullptr) return unknown_value<rows>();
        const int node_w = node_of(*graph, w), node_x = node_of(*graph, x);
        return Traced<rows>(*graph, graph->push({.op = Op::dense, .size = rows}, node_w, node_x));
    } else {
        Vec<RichestOf<typename W::value_type, typename X::value_type>, rows> result{};
        for (int row = 0; row < rows; ++row) {
            auto total = w[row * columns] * x[0];
            for (int c = 1; c < columns; ++c) total = mul_add(w[row * columns + c], x[c], total);
            result[row] = total;
        }
        return result;
    }
}
/// xᵀ W, one node.
template <int rows, int columns, class X, class W>
constexpr auto vector_matrix(const X& x, const W& w) {
    if constexpr (TracedVectorCall<X, W>) {
        Graph* const graph = common_graph(w, x);
        if (graph == nullptr) return unknown_value<columns>();
        const int node_w = node_of(*graph, w), node_x = node_of(*graph, x);
        return Traced<columns>(
            *graph, graph->push({.op = Op::dense_transposed, .size = columns}, node_w, node_x));
    } else {
        Vec<RichestOf<typename X::value_type, typename W::value_type>, columns> result{};
        for (int c = 0; c < columns; ++c) {
            auto total = w[c] * x[0];
            for (int row = 1; row < rows; ++row)
                total = mul_add(w[row * columns + c], x[row], total);
            result[c] = total;
        }
        return result;
    }
}
/// Row `row` of A.
template <int rows, int columns, int row, class A>
constexpr auto matrix_row(const A& a) {
    if constexpr (is_symbolic<A>) {
        return slice<row * columns, columns>(a);
    } else {
        Vec<typename A::value_type, columns> result{};
        for (int c = 0; c < columns; ++c) result[c] = a[row * columns + c];
        return result;
    }
}
/// A B: a node for each row of A.
template <int rows, int inner, int columns, class A, class B>
constexpr auto matrix_matrix(const A& a, const B& b) {
    return [&]<int... row>(std::integer_sequence<int, row...>) {
        if constexpr (TracedVectorCall<A, B>) {
            using Product = MatrixOf<Traced<rows * columns>, rows, columns>;
            Graph* const graph = common_graph(a, b);
            if (graph == nullptr) return Product{unknown_value<rows * columns>()};
            const List<int> nodes{node_of(
                *graph, vector_matrix<inner, columns>(matrix_row<rows, inner, row>(a), b))...};
            return Product{Traced<rows * columns>(
                *graph, graph->push_list({.op = Op::concat, .size = rows * columns}, nodes))};
        } else {
            using Real = RichestOf<typename A::value_type, typename B::value_type>;
            Mat<Real, rows, columns> product{};
            const auto put = [&](const Vec<Real, columns>& values, int at) {
                for (int c = 0; c < columns; ++c) product(at, c) = values[c];
            };
            (put(vector_matrix<inner, columns>(matrix_row<rows, inner, row>(a), b), row), ...);
            return product;
        }
    }
    (std::make_integer_sequence<int, rows>{});
}

}  // namespace detail

/// W x: a vector from a matrix and a vector, as one node whatever its size, without a bias.
template <class A, int rows, int columns, class X>
requires(detail::shape_of<X> > 0) [[nodiscard]] constexpr auto operator*(
    const MatrixOf<A, rows, columns>& w, const X& x) {
    static_assert(detail::shape_of<X> == columns,
                  "W * x: the vector must have as many components as the matrix has columns");
    return detail::matrix_vector<rows, columns>(w.components, x);
}
/// xᵀ W, as one node.
template <class X, class A, int rows, int columns>
requires(detail::shape_of<X> > 0) [[nodiscard]] constexpr auto operator*(
    const X& x, const MatrixOf<A, rows, columns>& w) {
    static_assert(detail::shape_of<X> == rows,
                  "x * W: the vector must have as many components as the matrix has rows");
    return detail::vector_matrix<rows, columns>(x, w.components);
}
/// A B, as a node for each row of A.
template <class A, class B, int rows, int inner, int others, int columns>
[[nodiscard]] constexpr auto operator*(const MatrixOf<A, rows, inner>& a,
                                       const MatrixOf<B, others, columns>& b) {
    static_assert(inner == others,
                  "A * B: the second matrix must have as many rows as the first has columns");
    return detail::matrix_matrix<rows, inner, columns>(a.components, b.components);
}
/// A matrix, each component of which is multiplied.
template <class A, int rows, int columns, class Factor>
requires(detail::shape_of<Factor> == scalar_shape) [[nodiscard]] constexpr auto operator*(
    const Factor& factor, const MatrixOf<A, rows, columns>& a) {
    auto product = factor * a.components;
    return MatrixOf<decltype(product), rows, columns>{product};
}
/// The sum, component by component.
template <class A, class B, int rows, int columns>
[[nodiscard]] constexpr auto operator+(const MatrixOf<A, rows, columns>& a,
                                       const MatrixOf<B, rows, columns>& b) {
    auto total = a.components + b.components;
    return MatrixOf<decltype(total), rows, columns>{total};
}
/// The difference, component by component.
template <class A, class B, int rows, int columns>
[[nodiscard]] constexpr auto operator-(const MatrixOf<A, rows, columns>& a,
                                       const MatrixOf<B, rows, columns>& b) {
    auto difference = a.components - b.components;
    return MatrixOf<decltype(difference), rows, columns>{difference};
}

}  // namespace eddy::inline v0
