#pragma once
// A program as data: nodes in topological order, each a scalar (size 1) or a vector. Operands are
// earlier nodes. The same Graph is built and transformed at compile time and at run time;
// `StaticGraph` (trace/static_graph.hpp) is the finished constant that a Program carries.
// Invariant: every operand of node i is below i.
// Test: tests/trace/trace_graph.cpp

#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/list.hpp>
#include <eddy/trace/candidate.hpp>
#include <eddy/trace/op.hpp>
#include <eddy/trace/run_time_parts.hpp>
#include <eddy/trace/source_place.hpp>
#include <string_view>
#include <type_traits>

namespace eddy::inline v0 {

struct Node {
    Op op = Op::constant;
    int size = 1;
    int first = 0;  // operands are graph.operands[first, first + count)
    int count = 0;
    int index = 0;   // argument: which; powi, polygamma: the number; name, loop: which
    int offset = 0;  // argument, slice: first component; constant: place in the pool; of others,
                     // at run time: where it was called (place_of), and no part of what they are
    int region = 0;  // the remat region in which the node was traced (backward nodes: whose
                     // reversal made it)

    bool operator==(const Node&) const = default;
};

/// One result of a program: the concatenation of nodes graph.operands[first, first + count).
struct Output {
    int first = 0;
    int count = 0;
    int size = 0;
    bool is_scalar = false;

    bool operator==(const Output&) const = default;
};

/// An argument of a program.
struct Argument {
    int size = 0;
    bool is_scalar = false;

    bool operator==(const Argument&) const = default;
};

/// A stretch of the trace whose interior is recomputed on the way back, but for what its policy
/// saves.
struct Region {
    int parent = 0;
    PolicyFunction policy = &save_anything;  // never null
    int kept_policy = -1;  // place in Graph::run_time of one that has values; it then decides

    bool operator==(const Region&) const = default;
};

/// A loop of at most `length` turns. What is inside it follows from what depends on its carry
/// (trace/loop_structure.hpp).
struct Loop {
    int length = 0;
    bool has_condition = false;   // operand 3, a mask: a lane where it does not hold leaves
    bool has_guard = false;       // operand 3, a mask: a lane where it does not hold takes no turn
    bool has_turns = false;       // the operand behind: how many turns each lane takes
    bool is_backward = false;     // the last turn first
    bool fails_when_out = false;  // NaN where the condition still holds after `length` turns
    int checkpoints = 0;          // how many states the way back has of it; 0: that of each turn
    bool replays = false;  // its value is its start; where that is no longer kept, it is made again

    /// The operands before those that are stacked.
    [[nodiscard]] constexpr int num_fixed() const {
        return 3 + (has_condition || has_guard) + has_turns;
    }
    bool operator==(const Loop&) const = default;
};

/// What a trace did that no program may do. Compile-time traces turn it into a static_assert,
/// run-time traces throw.
enum class TraceError : unsigned char {
    none,
    index_past_end,
    sizes_differ,
    literals_only,
    policy_with_values,
    no_pushforward,
    leaves_loop,
    own_in_loop,
    loop_lengths,
    loop_checkpoints,
    table_sizes,
    table_knots,
    term_of_no_value,
    unsound_loops
};

/// A traced function: its nodes in the order of evaluation, and its results.
struct Graph {
    List<Node> nodes;
    List<int> operands;
    List<double> constants;
    List<Argument> arguments;
    List<Output> outputs;
    List<std::string_view> names;
    List<SourcePlace> places;                // (name)
    List<Region> regions = List<Region>(1);  // region 0 is the program itself
    List<Loop> loops;                        // from the outside in
    int current_region = 0;
    TraceError error = TraceError::none;
    RunTimeParts run_time;

    [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }
    [[nodiscard]] constexpr const Node& operator[](int i) const {
        return nodes[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] constexpr int operand(const Node& node, int k) const {
        return operands[static_cast<std::size_t>(node.first + k)];
    }
    [[nodiscard]] constexpr int operand(int i, int k) const { return operand((*this)[i], k); }
    [[nodiscard]] constexpr int output_node(const Output& output, int k) const {
        return operands[static_cast<std::size_t>(output.first + k)];
    }

    /// Appends `node` with the given operands and returns its index.
    template <class... Operands>
    constexpr int push(Node node, Operands... operand) {
        if (!std::is_constant_evaluated()) {
            const int list[] = {operand..., 0};
            return push_at_run_time(node, list, sizeof...(operand));
        }
        node.first = static_cast<int>(operands.size());
        node.count = static_cast<int>(sizeof...(operand));
        node.region = current_region;
        (operands.push_back(operand), ...);
        nodes.push_back(node);
        return size() - 1;
    }
    constexpr int push_list(Node node, const List<int>& list) {
        if (!std::is_constant_evaluated()) return push_at_run_time(node, list.data(), list.size());
        return push_all(node, list.begin(), list.end());
    }
    constexpr int push_all(Node node, const int* begin, const int* end) {
        node.first = static_cast<int>(operands.size());
        node.count = static_cast<int>(end - begin);
        node.region = current_region;
        for (const int* operand = begin; operand != end; ++operand) operands.push_back(*operand);
        nodes.push_back(node);
        return size() - 1;
    }
    /// Appends an operand to a node that is there already, and does not depend on it.
    constexpr void append_operand(int i, int operand) {
        Node& node = nodes[static_cast<std::size_t>(i)];
        List<int> list;
        for (int k = 0; k < node.count; ++k) list.push_back(this->operand(node, k));
        list.push_back(operand);
        node.first = static_cast<int>(operands.size());
        ++node.count;
        operands.insert(operands.end(), list.begin(), list.end());
    }
    constexpr int push_constant(double value) {
        if (!std::is_constant_evaluated()) return push_constants_at_run_time(1, value);
        constants.push_back(value);
        return push(
            {.op = Op::constant, .size = 1, .offset = static_cast<int>(constants.size()) - 1});
    }
    constexpr int push_zeros(int size) {
        if (!std::is_constant_evaluated()) return push_constants_at_run_time(size, 0);
        const int offset = static_cast<int>(constants.size());
        constants.resize(constants.size() + static_cast<std::size_t>(size), 0.0);
        return push({.op = Op::constant, .size = size, .offset = offset});
    }
    constexpr int push_argument(int index, int offset, int size) {
        return push({.op = Op::argument, .size = size, .index = index, .offset = offset});
    }
    constexpr void push_output(const List<int>& list, int size, bool is_scalar) {
        if (!std::is_constant_evaluated()) return push_output_at_run_time(list, size, is_scalar);
        outputs.push_back(
            {static_cast<int>(operands.size()), static_cast<int>(list.size()), size, is_scalar});
        for (int node : list) operands.push_back(node);
    }

    /// Adds a name and returns its place. At compile time it is a literal, at run time a copy.
    constexpr int push_name(std::string_view name, SourcePlace place) {
        places.resize(names.size());
        places.push_back(place);
        names.push_back(std::is_constant_evaluated() ? name : run_time.keep(name));
        return static_cast<int>(names.size()) - 1;
    }

    /// The last node was made by a call there. Only a graph made at run time remembers it.
    void place_last(const SourcePlace& place) {
        Node& node = nodes.back();
        if (!has_offset(node.op)) node.offset = run_time.keep_place(place);
    }
    /// Where node i was made by the call of a function with a name; line 0: not known.
    [[nodiscard]] SourcePlace place_of(int i) const {
        const Node& node = (*this)[i];
        return has_offset(node.op) ? SourcePlace{} : run_time.place(node.offset);
    }

    /// Where a name was given.
    [[nodiscard]] constexpr SourcePlace place_of_name(int name) const {
        const auto k = static_cast<std::size_t>(name);
        return k < places.size() ? places[k] : SourcePlace{};
    }

    /// What the policy of a region decides.
    [[nodiscard]] constexpr Saving ask(int region, const Candidate& value) const {
        const Region& asked = regions[static_cast<std::size_t>(region)];
        return asked.kept_policy < 0 ? asked.policy(value) : run_time.ask(asked.kept_policy, value);
    }

    /// The value of a scalar constant node.
    [[nodiscard]] constexpr double constant_value(const Node& node) const {
        return constants[static_cast<std::size_t>(node.offset)];
    }
    [[nodiscard]] constexpr bool is_constant(int i, double value) const {
        const Node& node = (*this)[i];
        return node.op == Op::constant && node.size == 1 && constant_value(node) == value;
    }

    // The same at run time: compiled in the library, not where a function is traced.
    EDDY_EXPORT int push_at_run_time(Node node, const int* list, std::size_t count);
    EDDY_EXPORT int push_constants_at_run_time(int size, double value);
    EDDY_EXPORT void push_output_at_run_time(const List<int>& list, int size, bool is_scalar);
};

constexpr int Candidate::num_operands() const {
    return graph == nullptr ? 0 : (*graph)[node].count;
}

constexpr Candidate Candidate::operand(int k) const {
    int from = graph->operand(node, k);
    while ((*graph)[from].op == Op::name) from = graph->operand(from, 0);
    return {.op = (*graph)[from].op, .size = (*graph)[from].size, .graph = graph, .node = from};
}

constexpr int Candidate::depth() const {
    int count = 0;
    if (graph == nullptr) return count;
    for (int region = (*graph)[node].region; region != 0; ++count)
        region = graph->regions[static_cast<std::size_t>(region)].parent;
    return count;
}

}  // namespace eddy::inline v0
