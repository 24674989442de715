#pragma once
// The root of an equation inside a traced function: Newton's iteration as a loop, through which no
// derivative passes, and a node `root` that differentiates the equation r(x, p) = 0 itself:
//   forward  ẋ = −J⁻¹ (∂r/∂p) ṗ        backward  Jᵀ w = x̄,  p̄ = −(∂r/∂p)ᵀ w,      J = ∂r/∂x.
// Each direction is one linear solve, whatever the number of turns, and reads x through the node, so that
// derivatives of any order are right.
// Test: tests/ad/root.cpp

#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/solve_linear.hpp>

namespace eddy::inline v0 {

/// When a `root` is found.
struct RootOptions {
    double tolerance =
        1e-12;  ///< largest error that is left, relative to 1 + |x|, as the updates tell it
    int max_steps = 30;       ///< the most updates
    bool takes_last = false;  ///< of a root that is not found by then: true: x as it is; false: NaN
};

namespace detail {

/// The same number or vector, of components that are nodes by themselves: what reads one of them depends
/// on no other.
template <class X>
constexpr X in_components(Graph& graph, int node) {
    if (graph[node].size == 1) return {graph, node};
    List<int> components;
    for (int k = 0; k < graph[node].size; ++k)
        components.push_back(graph.push({.op = Op::slice, .offset = k}, node));
    return {graph, graph.push_list({.op = Op::concat, .size = graph[node].size}, components)};
}

/// The Jacobian of node r with respect to x, whose components it was traced from: row-major. It is
/// computed where r is, in the body of a loop too.
constexpr int push_jacobian(Graph& graph, int x, int r) {
    const int n = graph[x].size, end = graph.size();
    const List<char> in_loop = nodes_in_loops(graph, end);
    List<int> columns;
    for (int k = 0; k < n; ++k) {
        const int component = n == 1 ? x : graph.operand(x, k);
        Forward forward(std::move(graph), 0);
        forward.set_tangent(component, forward.graph().push_constant(1));
        for (int i = component + 1; i < end; ++i) {
            if (!in_loop[static_cast<std::size_t>(i)]) forward.push_node(i);
        }
        columns.push_back(forward.tangent_or_zero_of(r).node());
        graph = std::move(forward.graph());
    }
    if (n == 1) return columns[0];
    List<int> entries;
    for (int i = 0; i < n; ++i) {
        for (int column : columns) entries.push_back(slice_node(graph, column, i, 1));
    }
    return graph.push_list({.op = Op::concat, .size = n * n}, entries);
}

/// One update of Newton's iteration; the state is (x, size of the update before: 0 where x is found).
template <class X, class Function>
constexpr int push_newton_turn(Graph& graph, int state_x, Traced<scalar_shape> before,
                               const Function& f, double tolerance) {
    const X x = in_components<X>(graph, state_x);
    const int r = node_of(graph, f(x));
    const int jacobian = push_jacobian(graph, x.node(), r);
    const DynamicTraced update(graph, solve_jacobian(graph, jacobian, r, Op::solve));
    const DynamicTraced next = DynamicTraced(graph, x.node()) - update;
    const auto size_of = [&](const DynamicTraced& v) {
        return Traced<scalar_shape>(graph, v.size() == 1 ? abs(v).node() : norm(v).node());
    };
    // Updates that shrink from a to b leave about b·b/a. Those of rounding shrink no more. The scale is that of
    // x before the update, so that nothing waits for the next.
    const auto size = size_of(update), scale = 1 + size_of(DynamicTraced(graph, x.node()));
    const auto is_found =
        size * size <= tolerance * scale * before || scale + 0.125 * size == scale;
    return graph.push_list({.op = Op::concat, .size = next.size() + 1},
                           {next.node(), select(is_found, 0, size).node()});
}

template <class Guess, class Function>
constexpr TracedState<Guess> traced_root(Graph& graph, const Guess& guess, const Function& f,
                                         const RootOptions& options) {
    using X = TracedState<Guess>;
    const int start = node_of(graph, guess), n = graph[start].size;
    if (n > longest_solved) {
        report(graph, TraceError::sizes_differ, [n] {
            return compose("root: got {} unknowns; give at most {}", n, longest_solved);
        });
        return X(graph, start);
    }
    const double first_size = options.tolerance > 0 ? options.tolerance : 1;
    const int init = graph.push_list({.op = Op::concat, .size = n + 1},
                                     {start, graph.push_constant(first_size)});
    const int loop = push_loop(
        graph, DynamicTraced(graph, init),
        {.length = options.max_steps, .has_condition = true, .fails_when_out = !options.takes_last},
        [&](Graph& into, const DynamicTraced& state) {
            const Traced<scalar_shape> before(into, slice_node(into, state.node(), n, 1));
            const int mask = (0 < before).node();
            return List<int>{push_newton_turn<X>(into, slice_node(into, state.node(), 0, n), before,
                                                 f, options.tolerance),
                             mask};
        });
    const int found =
                  graph.push({.op = Op::stop_gradient, .size = n}, slice_node(graph, loop, 0, n)),
              seed = graph.push({.op = Op::barrier, .size = n}, found);
    const X x = in_components<X>(graph, seed);
    const int r = node_of(graph, f(x)), jacobian = push_jacobian(graph, x.node(), r);
    return X(graph, graph.push({.op = Op::root, .size = n}, found, seed, r, jacobian));
}

/// Newton's iteration on plain numbers, packs and dual numbers.
template <int n, class Real, class Values, class Function>
constexpr auto plain_root(Values x, const Function& f, const RootOptions& options) {
    using Primal = PrimalOf<Real>;
    const auto update = [&](const Vec<Real, n>& at) {
        Real jacobian[n * n], r[n];
        for (int k = 0; k < n; ++k) {
            Vec<Dual<Real>, n> seeded;
            for (int i = 0; i < n; ++i) seeded[i] = Dual<Real>(at[i], Real(i == k ? 1 : 0));
            const auto take = [&](int i, const auto& value) {
                const auto dual = convert<Dual<Real>>(value);
                r[i] = dual.value;
                jacobian[i * n + k] = dual.tangent;
            };
            if constexpr (is_vec<Values>) {
                const auto values = f(seeded);
                for (int i = 0; i < n; ++i) take(i, values[i]);
            } else {
                take(0, f(seeded[0]));
            }
        }
        solve_linear<n>(jacobian, r);
        Vec<Real, n> result;
        for (int i = 0; i < n; ++i) result[i] = r[i];
        return result;
    };
    const auto size_of = [](const Vec<Real, n>& v) {
        Primal total(0);
        for (int i = 0; i < n; ++i) total = total + primal(v[i]) * primal(v[i]);
        using std::sqrt;
        return Primal(sqrt(total));
    };
    Vec<Real, n> state;
    for (int i = 0; i < n; ++i) {
        if constexpr (is_vec<Values>)
            state[i] = convert<Real>(x[i]);
        else
            state[i] = convert<Real>(x);
    }
    Primal before(static_cast<ScalarOf<Real>>(options.tolerance));
    auto goes_on = before == before;
    const auto tolerance = static_cast<ScalarOf<Real>>(options.tolerance);
    const auto take_step = [&] {
        const Vec<Real, n> by = update(state);
        Vec<Real, n> next;
        for (int i = 0; i < n; ++i) next[i] = state[i] - by[i];
        const Primal size = size_of(by), scale = Primal(1) + size_of(state);
        for (int i = 0; i < n; ++i) state[i] = select(goes_on, next[i], state[i]);
        const auto is_small =
            apply<Op::mask_or>(size * size <= Primal(tolerance) * scale * before,
                               scale + Primal(static_cast<ScalarOf<Real>>(0.125)) * size == scale);
        goes_on = apply<Op::mask_and>(
            goes_on, apply<Op::mask_and>(apply<Op::mask_not>(is_small), size == size));
        before = size;
    };
    for (int step = 0; step < options.max_steps && any(goes_on); ++step) take_step();
    const auto fails = goes_on;
    if constexpr (!std::is_same_v<Real, Primal>) {  // tangents are a step behind
        goes_on = Primal(0) == Primal(0);
        take_step();
    }
    const Real nan(std::numeric_limits<ScalarOf<Real>>::quiet_NaN());
    for (int i = 0; i < n && !options.takes_last; ++i)
        state[i] = select(fails, state[i] * nan, state[i]);
    if constexpr (is_vec<Values>)
        return state;
    else
        return state[0];
}

template <class T>
struct PlainUnknown {
    static constexpr int size = 1;
    using Component = T;
};
template <class T, int n>
struct PlainUnknown<Vec<T, n>> {
    static constexpr int size = n;
    using Component = T;
};

}  // namespace detail

/// The root of f(x) = 0 near `guess`, a number or a vector of at most 8, by Newton's iteration. `f` may
/// use every traced value around it. The derivative is that of the equation, in every order; the guess
/// has none. A root that is not found within `max_steps` is NaN, unless `takes_last` asks for the last x.
template <class Guess, class Function>
[[nodiscard]] constexpr auto root(const Guess& guess, Function f, RootOptions options = {}) {
    using Value = std::remove_cvref_t<decltype(f(guess))>;
    if constexpr (!detail::is_traced_state<Guess> && !detail::is_traced_state<Value>) {
        using Unknown = detail::PlainUnknown<Guess>;
        using Component = std::conditional_t<std::is_integral_v<typename Unknown::Component>,
                                             double, typename Unknown::Component>;
        using Real = RichestOf<Component, typename detail::PlainUnknown<Value>::Component>;
        return detail::plain_root<Unknown::size, Real>(guess, f, options);
    } else {
        constexpr int shape = detail::shape_of<detail::TracedState<Guess>>;
        constexpr bool is_small = shape == scalar_shape || shape == dynamic_shape ||
                                  (shape > 0 && shape <= detail::longest_solved);
        static_assert(is_small, "root: the guess must be a number or a vector of at most 8");
        constexpr bool is_same =
            std::is_same_v<detail::TracedState<Guess>, detail::TracedState<Value>>;
        static_assert(is_same,
                      "root: f must return as many equations as there are unknowns: a number for a "
                      "number, a vector of as many components for a vector");
        if constexpr (is_small && is_same) {
            Graph* const graph = detail::find_loop_graph(guess, f);
            if (graph == nullptr) return detail::unknown_state(guess);
            return detail::traced_root(*graph, guess, f, options);
        }
    }
}

}  // namespace eddy::inline v0
