#pragma once
// The Jacobian of a program with respect to one argument, with its exact sparsity pattern. Columns
// that share no row are computed by one tangent pass with constant seeds; what the seeds make zero
// is never computed.
// Test: tests/ad/jacobian.cpp

#include <eddy/ad/jvp.hpp>
#include <eddy/ad/sparsity.hpp>
#include <eddy/trace/evaluate.hpp>

namespace eddy::inline v0 {

/// A structural non-zero.
struct JacobianEntry {
    int row = 0;
    int column = 0;

    friend constexpr bool operator==(const JacobianEntry&, const JacobianEntry&) = default;
};

namespace detail {

/// The structural non-zeros in the order in which a program computes them, and which columns are
/// computed together.
struct JacobianPlan {
    List<JacobianEntry> entries;
    List<int> group_of;  // (column)
    int num_groups = 0;
};
/// Row by row. Of a program with loops group by group: those of one group are components of one tangent,
/// most of them neighbours, so that a few slices hold them all whatever the length of the loop.
constexpr JacobianPlan plan_jacobian(const Graph& graph, int argument) {
    const List<ComponentSet> rows = jacobian_rows(graph, argument);
    const int num_columns = graph.arguments[static_cast<std::size_t>(argument)].size;
    JacobianPlan plan{{}, group_columns(rows, num_columns)};
    for (int group : plan.group_of)
        plan.num_groups = group + 1 > plan.num_groups ? group + 1 : plan.num_groups;
    const int num_passes = graph.loops.empty() ? 1 : plan.num_groups;
    List<List<JacobianEntry>> passes(static_cast<std::size_t>(num_passes));
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        rows[static_cast<std::size_t>(row)].for_each([&](int column) {
            const int pass = num_passes == 1 ? 0 : plan.group_of[static_cast<std::size_t>(column)];
            passes[static_cast<std::size_t>(pass)].push_back({row, column});
        });
    }
    for (const auto& pass : passes)
        plan.entries.insert(plan.entries.end(), pass.begin(), pass.end());
    return plan;
}

}  // namespace detail

/// The structural non-zeros of ∂(result 0)/∂(argument), in the order of `jacobian_graph`: row by row; of
/// a program with loops, those of columns that are computed together one after another.
[[nodiscard]] constexpr List<JacobianEntry> jacobian_pattern(const Graph& graph, int argument) {
    if (!reads_argument(graph, argument)) return {};
    return detail::plan_jacobian(graph, argument).entries;
}

namespace detail {

/// A plan in built-in arrays, with room for so many entries. Where they do not fit, only their number is
/// noted.
template <int num_columns, int room>
struct StaticJacobianPlan {
    JacobianEntry entries[room + 1]{};
    int group_of[num_columns + 1]{};
    int num_groups = 0, num_nonzeros = 0;

    constexpr explicit StaticJacobianPlan(const JacobianPlan& plan)
        : num_groups(plan.num_groups), num_nonzeros(static_cast<int>(plan.entries.size())) {
        if (num_nonzeros <= room) copy(plan.entries, plan.group_of);
    }
    template <int other_room>
    constexpr explicit StaticJacobianPlan(const StaticJacobianPlan<num_columns, other_room>& plan)
        : num_groups(plan.num_groups), num_nonzeros(plan.num_nonzeros) {
        copy(plan.entries, plan.group_of);
    }

  private:
    template <class Entries, class Groups>
    constexpr void copy(const Entries& from_entries, const Groups& from_groups) {
        for (int e = 0; e < num_nonzeros; ++e)
            entries[e] = from_entries[static_cast<std::size_t>(e)];
        for (int c = 0; num_nonzeros > 0 && c < num_columns; ++c)
            group_of[c] = from_groups[static_cast<std::size_t>(c)];
    }
};

/// The plan of a program as a constant: what is found turn by turn costs a compiler time, so that all who need it
/// find it here. It is found once, into a buffer that is then cut; only where it does not fit, again.
template <class P, int argument>
struct JacobianPlanOf {
    static constexpr int num_columns = P::graph.arguments[argument].size;
    template <int room>
    static constexpr StaticJacobianPlan<num_columns, room> find() {
        const Graph graph = P::graph.thaw();
        JacobianPlan plan;
        if (reads_argument(graph, argument)) plan = plan_jacobian(graph, argument);
        return StaticJacobianPlan<num_columns, room>(plan);
    }
    static constexpr auto make() {
        constexpr int room = 8 * (P::graph.outputs[0].size + 8);
        constexpr auto buffer = find<room>();
        if constexpr (buffer.num_nonzeros <= room) {
            return StaticJacobianPlan<num_columns, buffer.num_nonzeros>(buffer);
        } else {
            return find<buffer.num_nonzeros>();
        }
    }
    static constexpr auto frozen = make();
    static constexpr int num_nonzeros = frozen.num_nonzeros;

    [[nodiscard]] static constexpr List<JacobianEntry> entries() {
        return {frozen.entries, frozen.entries + num_nonzeros};
    }
    [[nodiscard]] static constexpr JacobianPlan plan() {
        return {entries(), {frozen.group_of, frozen.group_of + num_columns}, frozen.num_groups};
    }
};

}  // namespace detail

namespace detail {

/// Seeds the tangents of the argument: 1 for the columns of the group, structurally zero elsewhere.
constexpr void seed_group(Forward& forward, int num_primal, int argument, const List<int>& group_of,
                          int group) {
    Graph& graph = forward.graph();
    for (int i = 0; i < num_primal; ++i) {
        const Node node = graph[i];
        if (node.op != Op::argument || node.index != argument) continue;
        List<double> seed(static_cast<std::size_t>(node.size), 0.0);
        bool any = false;
        for (int c = 0; c < node.size; ++c) {
            if (group_of[static_cast<std::size_t>(node.offset + c)] != group) continue;
            seed[static_cast<std::size_t>(c)] = 1;
            any = true;
        }
        if (!any) continue;
        const int offset = static_cast<int>(graph.constants.size());
        graph.constants.insert(graph.constants.end(), seed.begin(), seed.end());
        forward.set_tangent(i,
                            graph.push({.op = Op::constant, .size = node.size, .offset = offset}));
    }
}

/// The node for components [row, row + size) of result 0, given the nodes that the result is made of.
constexpr int result_components(Graph& graph, const List<int>& parts, int row, int size) {
    std::size_t part = 0;
    while (row >= graph[parts[part]].size) row -= graph[parts[part++]].size;
    return slice_node(graph, parts[part], row, size);
}
/// How many of the entries from `first` on are neighbours in one tangent and in one of its parts.
constexpr int count_neighbours(const Graph& graph, const JacobianPlan& plan, const List<int>& parts,
                               std::size_t first) {
    const auto group = [&](std::size_t e) {
        return plan.group_of[static_cast<std::size_t>(plan.entries[e].column)];
    };
    int end = 0;  // of the part
    for (std::size_t part = 0; end <= plan.entries[first].row; ++part)
        end += graph[parts[part]].size;
    std::size_t last = first;
    while (last + 1 < plan.entries.size() && group(last + 1) == group(first) &&
           plan.entries[last + 1].row == plan.entries[last].row + 1 &&
           plan.entries[last + 1].row < end)
        ++last;
    return static_cast<int>(last - first) + 1;
}

/// The nodes that hold the entries of a group.
constexpr void push_group(Graph& graph, const JacobianPlan& plan, const List<int>& parts, int group,
                          List<int>& values) {
    const bool has_loops = !graph.loops.empty();
    for (std::size_t e = 0; e < plan.entries.size(); ++e) {
        const JacobianEntry& entry = plan.entries[e];
        if (plan.group_of[static_cast<std::size_t>(entry.column)] != group) continue;
        const int count = has_loops ? count_neighbours(graph, plan, parts, e) : 1;
        values[e] = result_components(graph, parts, entry.row, count);
        e += static_cast<std::size_t>(count) - 1;
    }
}

}  // namespace detail

namespace detail {

/// Appends ∂(result 0)/∂(argument) of `graph`, whose nodes come first in `result`, and returns the nodes that its structural
/// non-zeros are made of, in the order of the plan.
constexpr List<int> append_jacobian(Graph& result, const Graph& graph, int argument,
                                    const JacobianPlan& plan) {
    List<int> values(plan.entries.size(), -1);
    for (int group = 0; group < plan.num_groups && !plan.entries.empty(); ++group) {
        Forward forward(std::move(result), graph.size());
        seed_group(forward, graph.size(), argument, plan.group_of, group);
        forward.run();
        List<int> parts;
        for (int k = 0; k < graph.outputs[0].count; ++k) {
            parts.push_back(
                forward.tangent_or_zero_of(graph.output_node(graph.outputs[0], k)).node());
        }
        result = std::move(forward.graph());
        push_group(result, plan, parts, group, values);
    }
    List<int> list;
    for (const int value : values) {
        if (value >= 0) list.push_back(value);
    }
    return list;
}

}  // namespace detail

/// The values of the structural non-zeros as one vector result, in the order of `jacobian_pattern`.
/// Not simplified.
[[nodiscard]] constexpr Graph jacobian_graph(const Graph& graph, int argument,
                                             const detail::JacobianPlan& plan) {
    Graph result = graph;
    const List<int> list = detail::append_jacobian(result, graph, argument, plan);
    result.outputs.clear();
    result.push_output(list, static_cast<int>(plan.entries.size()), false);
    return result;
}

[[nodiscard]] constexpr Graph jacobian_graph(const Graph& graph, int argument) {
    return jacobian_graph(graph, argument, detail::plan_jacobian(graph, argument));
}

namespace detail {

template <class P, int argument>
struct JacobianOf {
    static constexpr int expected_nodes = 6 * P::graph.size() + 64;
    static constexpr Graph make() {
        return passes::simplify(
            jacobian_graph(P::graph.thaw(), argument, JacobianPlanOf<P, argument>::plan()));
    }
};

}  // namespace detail

/// ∂(result)/∂(argument) of program P. Calling it gives the structural non-zeros, row by row, as a
/// Vec.
template <class P, int argument>
struct Jacobian {
    static_assert(P::graph.num_outputs() == 1, "jacobian: the program must have one result");
    static constexpr int num_rows = P::graph.outputs[0].size;
    static constexpr int num_columns = P::graph.arguments[argument].size;
    static constexpr int num_nonzeros = detail::JacobianPlanOf<P, argument>::num_nonzeros;
    static_assert(num_nonzeros > 0, "jacobian: the result does not depend on this argument");

  private:
    struct Order {
        Vec<JacobianEntry, num_nonzeros> pattern{};
        Vec<int, num_nonzeros> place{};  // among what the program computes
        bool is_given = true;
        constexpr Order() {
            const List<JacobianEntry> entries = detail::JacobianPlanOf<P, argument>::entries();
            List<List<int>> rows(static_cast<std::size_t>(num_rows));
            for (std::size_t e = 0; e < entries.size(); ++e)
                rows[static_cast<std::size_t>(entries[e].row)].push_back(static_cast<int>(e));
            int to = 0;
            for (List<int>& row : rows) {
                for (std::size_t k = 1; k < row.size(); ++k) {  // few: by insertion
                    for (std::size_t j = k;
                         j > 0 && column(entries, row[j]) < column(entries, row[j - 1]); --j)
                        std::swap(row[j], row[j - 1]);
                }
                for (const int e : row) {
                    is_given = is_given && e == to;
                    pattern[to] = entries[static_cast<std::size_t>(e)];
                    place[to++] = e;
                }
            }
        }
        static constexpr int column(const List<JacobianEntry>& entries, int e) {
            return entries[static_cast<std::size_t>(e)].column;
        }
    };
    static constexpr Order order{};

  public:
    /// Where the non-zeros are, row by row.
    static constexpr auto pattern = order.pattern;
    using Values = Program<detail::JacobianOf<P, argument>>;

    template <class... Arguments>
    [[nodiscard]] constexpr auto operator()(const Arguments&... x) const {
        if constexpr (order.is_given) {
            return Values{}(x...);
        } else {
            const auto computed = Values{}(x...);
            auto values = computed;
            for (int e = 0; e < num_nonzeros; ++e) values[e] = computed[order.place[e]];
            return values;
        }
    }

    /// The whole matrix, row-major, zeros included.
    template <class... Arguments>
    [[nodiscard]] constexpr auto dense(const Arguments&... x) const {
        const auto values = (*this)(x...);
        Vec<std::remove_cvref_t<decltype(values[0])>, num_rows * num_columns> matrix{};
        for (int e = 0; e < num_nonzeros; ++e)
            matrix[pattern[e].row * num_columns + pattern[e].column] = values[e];
        return matrix;
    }
};

/// The Jacobian of a program's result with respect to one of its arguments.
template <int argument, class Recipe>
[[nodiscard]] constexpr auto jacobian(const Program<Recipe>&) {
    if constexpr (detail::check_arguments<Program<Recipe>, argument>())
        return Jacobian<Program<Recipe>, argument>{};
}

}  // namespace eddy::inline v0
