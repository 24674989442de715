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

/// The structural non-zeros of ∂(result 0)/∂(argument), row by row.
[[nodiscard]] constexpr std::vector<JacobianEntry> jacobian_pattern(const Graph& graph,
                                                                    int argument) {
    const std::vector<ComponentSet> rows = jacobian_rows(graph, argument);
    std::vector<JacobianEntry> entries;
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        for (int column = 0; column < graph.arguments[static_cast<std::size_t>(argument)].size;
             ++column) {
            if (rows[static_cast<std::size_t>(row)].contains(column))
                entries.push_back({row, column});
        }
    }
    return entries;
}

namespace detail {

/// Seeds the tangents of the argument: 1 for the columns of the group, structurally zero elsewhere.
constexpr void seed_group(Forward& forward, int num_primal, int argument,
                          const std::vector<int>& group_of, int group) {
    Graph& graph = forward.graph();
    for (int i = 0; i < num_primal; ++i) {
        const Node node = graph[i];
        if (node.op != Op::argument || node.index != argument) continue;
        std::vector<double> seed(static_cast<std::size_t>(node.size), 0.0);
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

/// The node for component `row` of result 0, given the nodes that the result is made of.
constexpr int result_component(Graph& graph, const std::vector<int>& parts, int row) {
    std::size_t part = 0;
    while (row >= graph[parts[part]].size) row -= graph[parts[part++]].size;
    return slice_node(graph, parts[part], row, 1);
}

}  // namespace detail

/// The values of the structural non-zeros as one vector result, in the order of `jacobian_pattern`.
/// Not simplified.
[[nodiscard]] constexpr Graph jacobian_graph(const Graph& graph, int argument) {
    const std::vector<ComponentSet> rows = jacobian_rows(graph, argument);
    const std::vector<JacobianEntry> entries = jacobian_pattern(graph, argument);
    const std::vector<int> group_of =
        group_columns(rows, graph.arguments[static_cast<std::size_t>(argument)].size);
    int num_groups = 0;
    for (int group : group_of) num_groups = group + 1 > num_groups ? group + 1 : num_groups;

    Graph result = graph;
    std::vector<int> values(entries.size(), -1);
    for (int group = 0; group < num_groups; ++group) {
        detail::Forward forward(std::move(result), graph.size());
        detail::seed_group(forward, graph.size(), argument, group_of, group);
        forward.run();
        std::vector<int> parts;
        for (int k = 0; k < graph.outputs[0].count; ++k) {
            parts.push_back(
                forward.tangent_or_zero_of(graph.output_node(graph.outputs[0], k)).node());
        }
        result = std::move(forward.graph());
        for (std::size_t e = 0; e < entries.size(); ++e) {
            if (group_of[static_cast<std::size_t>(entries[e].column)] != group) continue;
            values[e] = detail::result_component(result, parts, entries[e].row);
        }
    }
    result.outputs.clear();
    result.push_output(values, static_cast<int>(values.size()), false);
    return result;
}

namespace detail {

template <class P, int argument>
struct JacobianOf {
    static constexpr int expected_nodes = 6 * P::graph.size() + 64;
    static constexpr Graph make() {
        return passes::simplify(jacobian_graph(P::graph.thaw(), argument));
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
    static constexpr int num_nonzeros =
        static_cast<int>(jacobian_pattern(P::graph.thaw(), argument).size());
    static_assert(num_nonzeros > 0, "jacobian: the result does not depend on this argument");
    /// Where the non-zeros are, row by row.
    static constexpr auto pattern = [] {
        Vec<JacobianEntry, num_nonzeros> entries{};
        int e = 0;
        for (const JacobianEntry& entry : jacobian_pattern(P::graph.thaw(), argument))
            entries[e++] = entry;
        return entries;
    }();
    using Values = Program<detail::JacobianOf<P, argument>>;

    template <class... Arguments>
    [[nodiscard]] constexpr auto operator()(const Arguments&... x) const {
        return Values{}(x...);
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
