#pragma once
// The state of a loop: a number, a vector, or a tuple of them, as one node of the graph and back.
// Test: tests/trace/loops.cpp

#include <eddy/trace/functions.hpp>
#include <eddy/trace/slice_node.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// What a state becomes when it is traced.
template <class T>
struct TracedStateType {
    using type = Traced<shape_of<T> == no_shape ? scalar_shape : shape_of<T>>;
    static constexpr bool is_state = shape_of<T> != no_shape;
    static constexpr bool is_traced = is_symbolic<T> || is_traced_vec<T>;
};
template <class... T>
struct TracedStateType<std::tuple<T...>> {
    using type = std::tuple<typename TracedStateType<T>::type...>;
    static constexpr bool is_state = sizeof...(T) > 0 && (TracedStateType<T>::is_state && ...);
    static constexpr bool is_traced = (TracedStateType<T>::is_traced || ...);
};
template <class T>
using TracedState = typename TracedStateType<std::remove_cvref_t<T>>::type;
template <class T>
inline constexpr bool is_loop_state = TracedStateType<std::remove_cvref_t<T>>::is_state;
template <class T>
inline constexpr bool is_traced_state = TracedStateType<std::remove_cvref_t<T>>::is_traced;

/// Are the shapes the same? Of a vector whose size is known at run time only, the size is asked then.
template <class A, class B>
inline constexpr bool may_be_same_state = std::is_same_v<A, B>;
template <int a, int b>
inline constexpr bool may_be_same_state<Traced<a>, Traced<b>> =
    a == b ||
    (a != scalar_shape && b != scalar_shape && (a == dynamic_shape || b == dynamic_shape));
template <class... A, class... B>
requires(sizeof...(A) == sizeof...(B))  //
    inline constexpr bool may_be_same_state<std::tuple<A...>, std::tuple<B...>> =
        (may_be_same_state<A, B> && ...);

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// The graph of the first part that has one.
template <class T>
constexpr Graph* graph_of_state(const T& state) {
    if constexpr (is_tuple<T>)
        return std::apply([](const auto&... part) { return common_graph(part...); }, state);
    else
        return graph_of(state);
}

/// The state as one node: of a tuple, its parts one after another.
template <class T>
constexpr int node_of_state(Graph& graph, const T& state) {
    if constexpr (is_tuple<T>) {
        List<int> parts;
        std::apply([&](const auto&... part) { (parts.push_back(node_of(graph, part)), ...); },
                   state);
        return joined_node(graph, parts);
    } else {
        return node_of(graph, state);
    }
}

/// The state that node holds, of the shape of `like`.
template <class T>
constexpr TracedState<T> state_of_node(Graph& graph, int node, [[maybe_unused]] const T& like) {
    if constexpr (is_tuple<T>) {
        int begin = 0;
        const auto take = [&](const auto& part) {
            const int size = graph[node_of(graph, part)].size;
            begin += size;
            return TracedState<decltype(part)>(graph, slice_node(graph, node, begin - size, size));
        };
        return std::apply([&](const auto&... part) { return TracedState<T>{take(part)...}; }, like);
    } else {
        return {graph, node};
    }
}

/// What cannot be known of a loop among literals.
template <class T>
constexpr TracedState<T> unknown_state(const T&) {
    if constexpr (is_tuple<T>)
        return []<class... Part>(std::type_identity<std::tuple<Part...>>) {
            return std::tuple<Part...>{Part(unknown_value<shape_of<Part>>())...};
        }(std::type_identity<TracedState<T>>{});
    else
        return TracedState<T>(unknown_value<shape_of<TracedState<T>>>());
}

/// The same state on numbers.
template <class T, class Change>
constexpr T changed_state(const T& state, Change change) {
    if constexpr (is_tuple<T>)
        return std::apply([&](const auto&... part) { return T{change(part)...}; }, state);
    else
        return change(state);
}

}  // namespace eddy::inline v0::detail
