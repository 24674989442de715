#pragma once
// Loops inside a traced function. The body is traced once; what it captures, and how loops nest, follows
// from what depends on what (trace/loop_structure.hpp). On plain numbers the same calls are plain loops.
// Test: tests/trace/loops.cpp

#include <eddy/trace/loop_state.hpp>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/tables.hpp>
#include <limits>

namespace eddy::inline v0 {

/// How a `bounded_while` treats a trajectory that is not done when the turns run out.
struct WhileOptions {
    bool takes_last = false;  ///< true: its state as it is; false: NaN
    /// How many states the backward pass keeps; it takes turns again for the others. 0: all.
    int checkpoints = 0;
};
/// Lets a `bounded_while` that runs out of turns give the state as it is.
inline constexpr WhileOptions take_last{.takes_last = true};

/// How a `repeat` or a `scan` is taken back.
struct RepeatOptions {
    /// Lengths of loops in loops, the outermost first, whose product is the number of turns. The
    /// backward pass keeps as many states as their sum, and takes each turn once more for each length
    /// behind the first. None: it keeps the states of all turns.
    int nested_lengths[8] = {};
};

/// What the body of a `scan` returns.
template <class Carry, class Out>
struct CarryAndOut {
    Carry carry;  ///< the state of the next turn
    Out out;      ///< what this turn gives out
};
/// The state of the next turn of a `scan`, and what this turn gives out: a number or a vector.
template <class Carry, class Out>
[[nodiscard]] constexpr CarryAndOut<Carry, Out> carry_and_out(const Carry& carry, const Out& out) {
    return {carry, out};
}
/// What a `scan` returns.
template <class Carry, class Outs>
struct CarryAndOuts {
    Carry carry;  ///< the state after the last turn
    Outs outs;    ///< what the turns gave out, one after another
};

namespace detail {

template <class State, class Next>
consteval bool check_loop() {
    constexpr bool is_state = is_loop_state<State>;
    static_assert(is_state, "loop: the state must be a number, a vector, or a std::tuple of them");
    constexpr bool is_same =
        !is_state ||
        (is_loop_state<Next> && may_be_same_state<TracedState<State>, TracedState<Next>>);
    static_assert(
        is_same,
        "loop: the body must return a state of the same shape as the one it starts from: "
        "a number for a number, a vector of as many components, a std::tuple of as many parts");
    return is_state && is_same;
}

/// Where the body of a loop that starts from literals finds a graph: in what it captures.
template <class State, class Body>
constexpr Graph* find_loop_graph(const State& init, const Body& body) {
    if (Graph* graph = graph_of_state(init); graph != nullptr) return graph;
    return graph_of_state(body(init));
}

/// Lengths of loops in loops, the outermost first; 0 ends them.
struct TurnGroups {
    int lengths[9] = {};
};
/// The groups that options ask for, all turns in one where they ask for none; the first is 0 where
/// they do not fit.
constexpr TurnGroups groups_of_turns(int length, const RepeatOptions& options) {
    TurnGroups groups{{length}};
    if (options.nested_lengths[0] == 0) return groups;
    long long turns = 1;
    bool fit = true, has_ended = false;
    for (int k = 0; k < 8; ++k) {
        const int group = groups.lengths[k] = options.nested_lengths[k];
        fit = fit && group >= 0 && !(has_ended && group != 0) && turns <= length;
        has_ended = has_ended || group == 0;
        if (!has_ended) turns *= group;
    }
    if (!fit || turns != length) groups.lengths[0] = 0;
    return groups;
}
inline constexpr const char* groups_do_not_fit =
    "repeat, scan: nested_lengths must be positive, and their product the number of turns";
inline constexpr const char* no_such_checkpoints =
    "bounded_while: checkpoints must not be negative";
constexpr TurnGroups checked_groups(Graph& graph, int length, const RepeatOptions& options) {
    const TurnGroups groups = groups_of_turns(length, options);
    if (groups.lengths[0] > 0) return groups;
    report(graph, TraceError::loop_lengths, [] { return groups_do_not_fit; });
    return {{length}};
}
constexpr void require_groups(int length, const RepeatOptions& options) {
    if (groups_of_turns(length, options).lengths[0] == 0) throw InvalidArgument(groups_do_not_fit);
}

/// A new loop: trace_turn(graph, state) gives the operands behind (carry, init).
template <class State, class TraceTurn>
constexpr int push_loop(Graph& graph, const State& init, Loop description, TraceTurn trace_turn) {
    const int start = node_of_state(graph, init), size = graph[start].size,
              id = static_cast<int>(graph.loops.size());
    graph.loops.push_back(description);
    const int carry = graph.push({.op = Op::carry, .size = size, .index = id});
    List<int> operands{carry, start};
    for (int operand : trace_turn(graph, state_of_node(graph, carry, init)))
        operands.push_back(operand);
    const int next_size = graph[operands[2]].size;
    if (next_size != size) {
        report(graph, TraceError::sizes_differ,
               [size, next_size] { return sizes_differ_message(size, next_size); });
        operands[2] = graph.push_zeros(size);
    }
    return graph.push_list({.op = Op::loop, .size = size, .index = id}, operands);
}

/// Part `turn` of a vector of parts: a number where the part has one component.
template <int size, class Parts>
constexpr auto part_of(const Parts& xs, int turn) {
    using Number = std::remove_cvref_t<decltype(xs[0])>;
    if constexpr (size == 1) {
        return Number(xs[turn]);
    } else {
        Vec<Number, size> part{};
        for (int k = 0; k < size; ++k) part[k] = xs[turn * size + k];
        return part;
    }
}

/// Loops in loops of these lengths, and the body inside: the node of the last state.
template <class State, class Body>
constexpr int push_repeat(Graph& graph, const State& init, const int* lengths, const Body& body) {
    return push_loop(graph, init, {.length = *lengths}, [&](Graph& into, const auto& state) {
        const bool is_innermost = lengths[1] == 0;
        return List<int>{is_innermost ? node_of_state(into, body(state))
                                      : push_repeat(into, state, lengths + 1, body)};
    });
}
/// The same over the parts of node `from`: the nodes of the last state and of what the turns gave out.
template <class Part, class State, class Body>
constexpr std::pair<int, int> push_scan(Graph& graph, const State& init, int from,
                                        const int* lengths, const Body& body) {
    const int id = static_cast<int>(graph.loops.size()), size = graph[from].size / *lengths;
    int out = -1;
    const int loop =
        push_loop(graph, init, {.length = *lengths}, [&](Graph& into, const auto& state) {
            const int part = into.push({.op = Op::element, .size = size, .index = id}, from);
            if (lengths[1] != 0) {
                const auto [next, outs] = push_scan<Part>(into, state, part, lengths + 1, body);
                out = outs;
                return List<int>{next, outs};
            }
            const auto turn = body(state, Part(into, part));
            out = node_of(into, turn.out);
            return List<int>{node_of_state(into, turn.carry), out};
        });
    const int all = graph[out].size * *lengths;
    return {loop, graph.push({.op = Op::stacked, .size = all, .index = id}, loop, out)};
}

template <int length, int part_shape, class Out, class State, class Parts, class Body>
constexpr auto traced_scan(const State& init, const Parts& xs, const Body& body,
                           const RepeatOptions& options) {
    constexpr int out_shape = shape_of<Out>, out_size = out_shape == scalar_shape ? 1 : out_shape;
    static_assert(out_shape != no_shape,
                  "scan: what a turn gives out must be a number or a vector");
    using Outs = Traced<out_shape == dynamic_shape ? dynamic_shape : length * out_size>;
    using Result = CarryAndOuts<TracedState<State>, Outs>;
    Graph* graph = graph_of_state(init);
    if (graph == nullptr) graph = graph_of(xs);
    if constexpr (!is_symbolic<Parts>) {
        constexpr int size = part_shape == scalar_shape ? 1 : part_shape;
        if (graph == nullptr) graph = graph_of_state(body(init, part_of<size>(xs, 0)).carry);
    }
    if (graph == nullptr)
        return Result{unknown_state(init), Outs(unknown_value<length * out_size>())};
    const int from = node_of(*graph, xs);
    if ((*graph)[from].size % length != 0) {
        report(*graph, TraceError::sizes_differ, [total = (*graph)[from].size] {
            return compose("scan: {} components are no multiple of the {} turns", total, length);
        });
    }
    const TurnGroups groups = checked_groups(*graph, length, options);
    const auto [loop, outs] =
        push_scan<Traced<part_shape>>(*graph, init, from, groups.lengths, body);
    return Result{state_of_node(*graph, loop, init), Outs(*graph, outs)};
}

template <class Mask>
inline constexpr bool is_scalar_mask = false;
template <>
inline constexpr bool is_scalar_mask<TracedMask<scalar_shape>> = true;
template <>
inline constexpr bool is_scalar_mask<TracedMask<dynamic_shape>> = true;

}  // namespace detail

/// The state after `length` turns of state = body(state). The body is traced once.
template <int length, class State, class Body>
[[nodiscard]] constexpr auto repeat(const State& init, Body body,
                                    const RepeatOptions& options = {}) {
    static_assert(length > 0, "repeat: the number of turns must be positive");
    using Next = std::remove_cvref_t<decltype(body(init))>;
    if constexpr (!detail::is_traced_state<State> && !detail::is_traced_state<Next>) {
        detail::require_groups(length, options);
        auto state = body(init);
        for (int turn = 1; turn < length; ++turn) state = body(state);
        return state;
    } else if constexpr (detail::check_loop<State, Next>()) {
        Graph* const graph = detail::find_loop_graph(init, body);
        if (graph == nullptr) return detail::unknown_state(init);
        const detail::TurnGroups groups = detail::checked_groups(*graph, length, options);
        return detail::state_of_node(*graph,
                                     detail::push_repeat(*graph, init, groups.lengths, body), init);
    }
}

/// The first state that the condition refuses, of at most `max` turns of state = body(state). The
/// condition is asked before each turn, of each trajectory by itself. One that is not done after `max`
/// turns becomes NaN, unless `take_last` asks for its state as it is.
template <int max, class State, class Condition, class Body>
[[nodiscard]] constexpr auto bounded_while(const State& init, Condition condition, Body body,
                                           WhileOptions options = {}) {
    static_assert(max > 0, "bounded_while: the most turns must be positive");
    using Next = std::remove_cvref_t<decltype(body(init))>;
    if constexpr (!detail::is_traced_state<State> && !detail::is_traced_state<Next>) {
        if (options.checkpoints < 0) throw InvalidArgument(detail::no_such_checkpoints);
        Next state = init;
        for (int turn = 0; condition(state); ++turn) {
            if (turn == max) {
                if (options.takes_last) break;
                return detail::changed_state(state, [](const auto& part) {
                    return std::remove_cvref_t<decltype(part)>(
                        part * std::numeric_limits<double>::quiet_NaN());
                });
            }
            state = body(state);
        }
        return state;
    } else if constexpr (detail::check_loop<State, Next>()) {
        using Mask = std::remove_cvref_t<decltype(condition(
            std::declval<const detail::TracedState<State>&>()))>;
        constexpr bool is_condition = detail::is_scalar_mask<Mask>;
        static_assert(
            is_condition,
            "bounded_while: the condition must be one comparison of traced values, such as "
            "abs(x) > 1e-12; of a vector, compare a number such as its norm");
        Graph* const graph = detail::find_loop_graph(init, body);
        if constexpr (is_condition) {
            if (graph == nullptr) return detail::unknown_state(init);
            if (options.checkpoints < 0) {
                detail::report(*graph, TraceError::loop_checkpoints,
                               [] { return detail::no_such_checkpoints; });
            }
            const int loop = detail::push_loop(
                *graph, init,
                {.length = max,
                 .has_condition = true,
                 .fails_when_out = !options.takes_last,
                 .checkpoints = options.checkpoints < max ? options.checkpoints : 0},
                [&](Graph& into, const auto& state) {
                    const int goes_on = condition(state).node_in(into);
                    return List<int>{detail::node_of_state(into, body(state)), goes_on};
                });
            return detail::state_of_node(*graph, loop, init);
        }
    }
}

/// (state, outs) of `length` turns: carry_and_out(state, out) = body(state, x) for each of the `length`
/// equal parts x of the vector xs. `outs` holds what the turns gave out, one after another.
template <int length, class State, class Parts, class Body>
[[nodiscard]] constexpr auto scan(const State& init, const Parts& xs, Body body,
                                  const RepeatOptions& options = {}) {
    static_assert(length > 0, "scan: the number of turns must be positive");
    constexpr int total = detail::shape_of<Parts>;
    constexpr bool is_divided = total == dynamic_shape || (total > 0 && total % length == 0);
    static_assert(is_divided,
                  "scan: xs must be a vector of length * k components, k of them for each turn");
    if constexpr (is_divided) {
        constexpr int size = total == dynamic_shape ? 1 : total / length;
        constexpr int part_shape =
            total == dynamic_shape ? dynamic_shape : (size == 1 ? scalar_shape : size);
        using Part = std::conditional_t<is_symbolic<Parts>, Traced<part_shape>,
                                        decltype(detail::part_of<size>(xs, 0))>;
        using Turn = std::remove_cvref_t<decltype(body(init, std::declval<const Part&>()))>;
        constexpr bool is_turn = requires(Turn turn) {
            turn.carry;
            turn.out;
        };
        static_assert(is_turn, "scan: the body must return eddy::carry_and_out(state, out)");
        if constexpr (is_turn) {
            using Next = decltype(Turn::carry);
            using Out = decltype(Turn::out);
            constexpr bool is_traced = is_symbolic<Parts> || detail::is_traced_vec<Parts> ||
                                       detail::is_traced_state<State> ||
                                       detail::is_traced_state<Next>;
            if constexpr (!is_traced) {
                constexpr int out_size = is_vec<Out> ? detail::vec_length<Out> : 1;
                const auto number = [](const auto& out) {
                    if constexpr (is_vec<Out>)
                        return out[0];
                    else
                        return out;
                };
                detail::require_groups(length, options);
                Next state = init;
                Vec<decltype(number(std::declval<Out>())), length * out_size> outs{};
                for (int turn = 0; turn < length; ++turn) {
                    const Turn of_turn = body(state, detail::part_of<size>(xs, turn));
                    state = of_turn.carry;
                    for (int k = 0; k < out_size; ++k) {
                        if constexpr (is_vec<Out>)
                            outs[turn * out_size + k] = of_turn.out[k];
                        else
                            outs[turn] = of_turn.out;
                    }
                }
                return CarryAndOuts<Next, decltype(outs)>{state, outs};
            } else if constexpr (detail::check_loop<State, Next>()) {
                return detail::traced_scan<length, part_shape, Out>(init, xs, body, options);
            }
        }
    }
}

/// Component `index` of the vector x, the index rounded down; NaN where x has no such component.
template <class Values, class Index>
requires(is_vec<Values> || is_symbolic<Values>)
    [[nodiscard]] constexpr auto at(const Values& x, const Index& index) {
    static_assert(!std::is_same_v<Values, Traced<scalar_shape>>,
                  "at: the first argument must be a vector");
    if constexpr (!is_symbolic<Values> && !detail::is_traced_vec<Values> && !is_symbolic<Index>) {
        std::remove_cvref_t<decltype(x[0])> found{};
        detail::components_at<decltype(found), 1>(
            primal(index), detail::vec_length<Values>,
            [&](int k, int lane) { return get_lane(x[k], lane); },
            [&](int, const auto& value) { found = value; });
        return found;
    } else {
        Graph& graph = *detail::common_graph(x, index);
        const int node = detail::node_of(graph, x);
        if constexpr (std::is_arithmetic_v<Index>) {
            return Traced<scalar_shape>(
                graph, detail::slice_node(graph, node, static_cast<int>(index), 1));
        } else {
            static_assert(
                detail::shape_of<Index> == scalar_shape || detail::shape_of<Index> == dynamic_shape,
                "at: the index must be a number");
            const int place = detail::node_of(graph, index);
            return Traced<scalar_shape>(graph, graph.push({.op = Op::at}, node, place));
        }
    }
}

}  // namespace eddy::inline v0
