#pragma once
// The functions of the DSL on traced values. The same names work on plain numbers (core/math.hpp)
// and vectors (core/vec.hpp), so one functor serves both.
// Each takes the place where it is called, for reports.
// Test: tests/trace/functions.cpp

#include <eddy/core/vec_math.hpp>
#include <eddy/trace/operators.hpp>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

/// A Vec of traced scalars, which a function may build before it hands it to a vector operation.
template <class T>
inline constexpr bool is_traced_vec = false;
template <int shape, int length>
inline constexpr bool is_traced_vec<Vec<Traced<shape>, length>> = true;

template <class... T>
concept TracedVectorCall = ((is_symbolic<T> || is_traced_vec<T>) || ...) &&
                           (TraceOperand<T> && ...);

}  // namespace detail

// One traced overload per elementwise function of one argument.
#define EDDY_TRACED_FUNCTION(function)                                                        \
    template <int shape>                                                                      \
    [[nodiscard]] constexpr Traced<shape> function(const Traced<shape>& x,                    \
                                                   SourcePlace place = SourcePlace::here()) { \
        return detail::traced_elementwise<Op::function>(detail::NamedCall{0, place}, x);      \
    }
EDDY_TRACED_FUNCTION(sqrt)
EDDY_TRACED_FUNCTION(cbrt)
EDDY_TRACED_FUNCTION(exp)
EDDY_TRACED_FUNCTION(expm1)
EDDY_TRACED_FUNCTION(log)
EDDY_TRACED_FUNCTION(log1p)
EDDY_TRACED_FUNCTION(sin)
EDDY_TRACED_FUNCTION(cos)
EDDY_TRACED_FUNCTION(tan)
EDDY_TRACED_FUNCTION(asin)
EDDY_TRACED_FUNCTION(acos)
EDDY_TRACED_FUNCTION(atan)
EDDY_TRACED_FUNCTION(sinh)
EDDY_TRACED_FUNCTION(cosh)
EDDY_TRACED_FUNCTION(tanh)
EDDY_TRACED_FUNCTION(erf)
EDDY_TRACED_FUNCTION(erfc)
EDDY_TRACED_FUNCTION(erfcx)
EDDY_TRACED_FUNCTION(log_erfc)
EDDY_TRACED_FUNCTION(lgamma)
EDDY_TRACED_FUNCTION(digamma)
EDDY_TRACED_FUNCTION(abs)
EDDY_TRACED_FUNCTION(sign)
EDDY_TRACED_FUNCTION(floor)
EDDY_TRACED_FUNCTION(sigmoid)
EDDY_TRACED_FUNCTION(softplus)
EDDY_TRACED_FUNCTION(relu)
#undef EDDY_TRACED_FUNCTION

// std::abs and std::fabs are used interchangeably in C++.
template <int shape>
[[nodiscard]] constexpr Traced<shape> fabs(const Traced<shape>& x,
                                           SourcePlace place = SourcePlace::here()) {
    return abs(x, place);
}

template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto atan2(const A& y, const B& x,
                                   SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::atan2>(detail::NamedCall{0, place}, y, x);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto min(const A& a, const B& b, SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::min>(detail::NamedCall{0, place}, a, b);
}
template <class A, class B>
requires detail::TracedCall<A, B>
[[nodiscard]] constexpr auto max(const A& a, const B& b, SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::max>(detail::NamedCall{0, place}, a, b);
}
template <class A, class B, class C>
requires detail::TracedCall<A, B, C>
[[nodiscard]] constexpr auto fma(const A& a, const B& b, const C& c,
                                 SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::fma>(detail::NamedCall{0, place}, a, b, c);
}
template <class X, class Low, class High>
requires detail::TracedCall<X, Low, High>
[[nodiscard]] constexpr auto clamp(const X& x, const Low& low, const High& high,
                                   SourcePlace place = SourcePlace::here()) {
    return min(max(x, low, place), high, place);
}

// `using std::max; max(x, y)` on traced values of one shape: std::max would be the better match,
// and branch.
template <int shape>
[[nodiscard]] constexpr Traced<shape> min(const Traced<shape>& a, const Traced<shape>& b,
                                          SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::min>(detail::NamedCall{0, place}, a, b);
}
template <int shape>
[[nodiscard]] constexpr Traced<shape> max(const Traced<shape>& a, const Traced<shape>& b,
                                          SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::max>(detail::NamedCall{0, place}, a, b);
}

/// x^n by repeated multiplication.
template <int shape>
[[nodiscard]] constexpr Traced<shape> pow(const Traced<shape>& x, int n,
                                          SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::powi>(detail::NamedCall{n, place}, x);
}
template <class A, class B>
requires detail::TracedCall<A, B> &&(!std::same_as<B, int>)
    [[nodiscard]] constexpr auto pow(const A& x, const B& y,
                                     SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::pow>(detail::NamedCall{0, place}, x, y);
}

/// The derivative of order n ≥ 1 of digamma.
template <int shape>
[[nodiscard]] constexpr Traced<shape> polygamma(int n, const Traced<shape>& x,
                                                SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::polygamma>(detail::NamedCall{n, place}, x);
}

/// x·sigmoid(x).
template <int shape>
[[nodiscard]] constexpr Traced<shape> silu(const Traced<shape>& x,
                                           SourcePlace place = SourcePlace::here()) {
    return x * sigmoid(x, place);
}
/// x·Φ(x), with the error function (not the tanh approximation).
template <int shape>
[[nodiscard]] constexpr Traced<shape> gelu(const Traced<shape>& x,
                                           SourcePlace place = SourcePlace::here()) {
    return 0.5 * x * (1 + erf(x * 0.70710678118654752440, place));
}

/// `a` where the mask holds, else `b`. Both are computed; the branch not taken contributes exactly
/// zero to the gradient.
template <int shape, class A, class B>
requires detail::TraceOperand<A> && detail::TraceOperand<B>
[[nodiscard]] constexpr auto select(const TracedMask<shape>& mask, const A& a, const B& b,
                                    SourcePlace place = SourcePlace::here()) {
    constexpr int result_shape = detail::common_shape<TracedMask<shape>, A, B>();
    static_assert(result_shape != no_shape,
                  "select: vectors of different sizes are combined; operands must have one size or "
                  "be scalars");
    Graph* const found = detail::common_graph(mask, a, b);
    if (found == nullptr) return detail::unknown_value<result_shape>();
    Graph& graph = *found;
    const int nodes[] = {detail::node_of(graph, mask), detail::node_of(graph, a),
                         detail::node_of(graph, b)};
    const int node = detail::push_elementwise(graph, Op::select, 0, nodes, 3);
    detail::place_last(graph, place);
    return Traced<result_shape>(graph, node);
}

/// x, through which no derivative flows.
template <int shape>
[[nodiscard]] constexpr Traced<shape> stop_gradient(const Traced<shape>& x,
                                                    SourcePlace place = SourcePlace::here()) {
    return detail::traced_elementwise<Op::stop_gradient>(detail::NamedCall{0, place}, x);
}

/// x, tagged with a name for policies of remat (ad/remat.hpp). A name made at run time is copied into
/// the graph. Reports can say where it was given.
template <int shape>
[[nodiscard]] constexpr Traced<shape> checkpoint_name(const Traced<shape>& x,
                                                      std::string_view label,
                                                      SourcePlace place = SourcePlace::here()) {
    if (x.graph() == nullptr) return x;
    Graph& graph = *x.graph();
    return detail::traced_elementwise<Op::name>(graph.push_name(label, place), x);
}

// Outside a trace a name is the identity.
template <class T>
requires(!is_symbolic<T>) [[nodiscard]] EDDY_HD constexpr T
    checkpoint_name(const T& x, std::string_view) {
    return x;
}

/// A vector of scalars, in the order given.
template <class... T>
requires(is_symbolic<T> || ...) &&
    ((detail::shape_of<T> == scalar_shape || detail::shape_of<T> == dynamic_shape) && ...)
        [[nodiscard]] constexpr auto vec(const T&... x) {
    constexpr int length = static_cast<int>(sizeof...(T));
    constexpr bool dynamic = ((detail::shape_of<T> == dynamic_shape) || ...);
    using Joined = Traced<dynamic ? dynamic_shape : length>;
    Graph* graph = detail::common_graph(x...);
    if constexpr (!dynamic) {
        if (graph == nullptr) return Joined(Vec<Traced<scalar_shape>, length>{{x...}});
    }
    const List<int> parts{detail::node_of(*graph, x)...};
    return Joined(*graph, graph->push_list({.op = Op::concat, .size = length}, parts));
}

/// The components of a, then those of b.
template <class A, class B>
requires detail::TracedVectorCall<A, B>
[[nodiscard]] constexpr auto concat(const A& a, const B& b,
                                    SourcePlace place = SourcePlace::here()) {
    constexpr int shape_a = detail::shape_of<A>, shape_b = detail::shape_of<B>;
    constexpr bool dynamic = shape_a == dynamic_shape || shape_b == dynamic_shape;
    constexpr int length =
        (shape_a == scalar_shape ? 1 : shape_a) + (shape_b == scalar_shape ? 1 : shape_b);
    using Joined = Traced<dynamic ? dynamic_shape : length>;
    Graph* const found = detail::common_graph(a, b);
    if (found == nullptr)
        return Joined(detail::unknown_value < dynamic ? dynamic_shape : length > ());
    Graph& graph = *found;
    const int node_a = detail::node_of(graph, a), node_b = detail::node_of(graph, b);
    const int size = graph[node_a].size + graph[node_b].size;
    const int node = graph.push({.op = Op::concat, .size = size}, node_a, node_b);
    detail::place_last(graph, place);
    return Joined(graph, node);
}

/// The components of all parts, one after another, for run-time traces.
[[nodiscard]] inline DynamicTraced concat(const std::vector<DynamicTraced>& parts,
                                          SourcePlace place = SourcePlace::here()) {
    Graph* graph = nullptr;
    for (const DynamicTraced& part : parts) graph = graph != nullptr ? graph : part.graph();
    require_argument(graph != nullptr,
                     "concat: none of the {} parts is traced; pass at least one that is",
                     parts.size());
    List<int> nodes;
    int size = 0;
    for (const DynamicTraced& part : parts) {
        nodes.push_back(detail::node_of(*graph, part));
        size += (*graph)[nodes.back()].size;
    }
    const int node = graph->push_list({.op = Op::concat, .size = size}, nodes);
    detail::place_last(*graph, place);
    return {*graph, node};
}

/// Components [first, first + count) of x.
template <int first, int count, int shape>
requires(shape != scalar_shape) [[nodiscard]] constexpr auto slice(const Traced<shape>& x) {
    static_assert(shape == dynamic_shape || (first >= 0 && count > 0 && first + count <= shape),
                  "slice: the range reads past the end of the vector");
    if (x.graph() == nullptr) return detail::unknown_value<count>();
    return Traced<count>(*x.graph(), detail::slice_node(*x.graph(), x.node(), first, count));
}
/// The same with a range known only when the trace runs.
[[nodiscard]] constexpr DynamicTraced slice(const DynamicTraced& x, int first, int count) {
    return {*x.graph(), detail::slice_node(*x.graph(), x.node(), first, count)};
}

/// Σ x_i, summed from the first component on.
template <class X>
requires detail::TracedVectorCall<X> &&(detail::shape_of<X> != scalar_shape)
    [[nodiscard]] constexpr Traced<scalar_shape> sum(const X& x,
                                                     SourcePlace place = SourcePlace::here()) {
    Graph* const graph = detail::common_graph(x);
    if (graph == nullptr) return detail::unknown_value<scalar_shape>();
    const int node = graph->push({.op = Op::sum}, detail::node_of(*graph, x));
    detail::place_last(*graph, place);
    return {*graph, node};
}

/// Σ a_i·b_i, accumulated from the first component on.
template <class A, class B>
requires detail::TracedVectorCall<A, B>
[[nodiscard]] constexpr Traced<scalar_shape> dot(const A& a, const B& b,
                                                 SourcePlace place = SourcePlace::here()) {
    constexpr int shape = detail::common_shape<A, B>();
    static_assert(shape != no_shape && shape != scalar_shape,
                  "dot: both operands must be vectors of one size");
    Graph* const found = detail::common_graph(a, b);
    if (found == nullptr) return detail::unknown_value<scalar_shape>();
    Graph& graph = *found;
    const int node_a = detail::node_of(graph, a), node_b = detail::node_of(graph, b);
    if (graph[node_a].size != graph[node_b].size) {
        detail::report(graph, TraceError::sizes_differ,
                       [a = graph[node_a].size, b = graph[node_b].size] {
                           return detail::sizes_differ_message(a, b);
                       });
    }
    const int node = graph.push({.op = Op::dot}, node_a, node_b);
    detail::place_last(graph, place);
    return {graph, node};
}

/// √(Σ x_i²). Its derivative at x = 0 is zero.
template <class X>
requires detail::TracedVectorCall<X> &&(detail::shape_of<X> != scalar_shape)
    [[nodiscard]] constexpr Traced<scalar_shape> norm(const X& x,
                                                      SourcePlace place = SourcePlace::here()) {
    Graph* const graph = detail::common_graph(x);
    if (graph == nullptr) return detail::unknown_value<scalar_shape>();
    const int node = graph->push({.op = Op::norm}, detail::node_of(*graph, x));
    detail::place_last(*graph, place);
    return {*graph, node};
}

/// W x + b, one node of any width. W has |b|·|x| components, row-major: W[i·|x| + j] multiplies
/// x[j] in row i.
template <class W, class B, class X>
requires detail::TracedVectorCall<W, B, X>
[[nodiscard]] constexpr auto dense(const W& weights, const B& bias, const X& x,
                                   SourcePlace place = SourcePlace::here()) {
    constexpr int rows = detail::shape_of<B>, columns = detail::shape_of<X>,
                  length = detail::shape_of<W>;
    constexpr bool dynamic =
        rows == dynamic_shape || columns == dynamic_shape || length == dynamic_shape;
    static_assert(dynamic || length == rows * columns,
                  "dense: the weights must have |b| times |x| components, row-major");
    using Product = Traced<dynamic ? dynamic_shape : rows>;
    Graph* const found = detail::common_graph(weights, bias, x);
    if (found == nullptr)
        return Product(detail::unknown_value < dynamic ? dynamic_shape : rows > ());
    Graph& graph = *found;
    const int node_w = detail::node_of(graph, weights), node_b = detail::node_of(graph, bias),
              node_x = detail::node_of(graph, x);
    const int size_w = graph[node_w].size, size_b = graph[node_b].size, size_x = graph[node_x].size;
    if (size_w != size_b * size_x) {
        detail::report(graph, TraceError::sizes_differ, [size_w, size_b, size_x] {
            return detail::compose(
                "dense: {} weights for a bias of {} and a vector of {} components; pass |b| times "
                "|x| weights, row-major",
                size_w, size_b, size_x);
        });
    }
    const int node = graph.push({.op = Op::dense, .size = size_b}, node_w, node_x, node_b);
    detail::place_last(graph, place);
    return Product(graph, node);
}

}  // namespace eddy::inline v0
