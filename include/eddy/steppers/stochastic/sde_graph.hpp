#pragma once
// Drift and diffusion as programs: (t, y, p) → drift, and → the entries of the diffusion that are not
// zero by construction, row and noise of each known beforehand. What class of noise that is, the
// graph tells. A method of the other calculus gets the drift whose solution is the same:
//
//     drift(Stratonovich) = drift(Itô) − ½ Σ_k (g_k·∇) g_k
//
// by tangents on the graph, so that all derivatives of it follow.
// Test: tests/steppers/stochastic.cpp

#include <eddy/ad/jvp.hpp>
#include <eddy/ad/sparsity.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/steppers/stochastic/columns.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/zero_components.hpp>

namespace eddy::inline v0 {

/// An entry of a diffusion that is not zero by construction.
struct DiffusionEntry {
    int row = 0;
    int noise = 0;  // columns of zeros are not counted
};

namespace detail {

template <class Result>
inline constexpr bool is_columns = false;
template <class... Column>
inline constexpr bool is_columns<Columns<Column...>> = true;

/// A noise_size that is given says how a vector is meant.
template <class Field>
inline constexpr bool has_one_noise = false;
template <class Field>
requires requires { Field::noise_size; }
inline constexpr bool has_one_noise<Field> = Field::noise_size == 1;

template <class Field>
class SdeTrace {
  public:
    static constexpr int size = Field::state_size;

    Graph& graph;    // of somebody else: g++ 12 takes no address within a temporary
    int drift = -1;  // a node
    struct Entry {
        DiffusionEntry at;
        int node;
    };
    List<Entry> entries;  // noise by noise
    int num_noises = 0;

    constexpr explicit SdeTrace(Graph& empty) : graph(empty) {
        graph.arguments = {ArgumentShape<Scalar>::argument, ArgumentShape<Vector<size>>::argument,
                           ArgumentShape<Vector<Field::parameter_size>>::argument};
        const auto t = ArgumentShape<Scalar>::make(graph, 0);
        const auto y = ArgumentShape<Vector<size>>::make(graph, 1);
        const auto p = ArgumentShape<Vector<Field::parameter_size>>::make(graph, 2);
        drift = node_of(graph, Field{}.drift(t, y, p));
        add_diffusion(Field{}.diffusion(t, y, p));
    }

    /// Adds `factor` · Σ_k (g_k·∇) g_k to the drift.
    constexpr void correct_drift(double factor) {
        List<int> rows;
        for (int row = 0; row < size; ++row) rows.push_back(slice_node(graph, drift, row, 1));
        for (int noise = 0; noise < num_noises; ++noise) {
            const List<int> along = along_itself(noise);
            for (std::size_t e = 0; e < entries.size(); ++e) {
                if (along[e] < 0) continue;
                int& row = rows[static_cast<std::size_t>(entries[e].at.row)];
                row = (DynamicTraced(graph, row) + DynamicTraced(graph, along[e]) * factor).node();
            }
        }
        drift = graph.push_list({.op = Op::concat, .size = size}, rows);
    }

    /// For each entry of a column its derivative along the column, (g_k·∇) g_k; −1 where that is
    /// zero by construction, and for entries of other columns.
    constexpr List<int> along_itself(int noise) {
        List<int> parts;
        for (int row = 0; row < size; ++row) parts.push_back(entry_or_zero(row, noise));
        List<int> along = derivatives_along(parts);
        for (std::size_t e = 0; e < entries.size(); ++e) {
            if (entries[e].at.noise != noise) along[e] = -1;
        }
        return along;
    }

    /// For each entry its derivative along Σ_k g_k w_k, where w is an argument behind the others; −1
    /// where that is zero by construction.
    constexpr List<int> along_noise() {
        graph.arguments.push_back({num_noises, false});
        List<int> parts(static_cast<std::size_t>(size), -1);
        for (const Entry& entry : entries) {
            const int w = graph.push_argument(3, entry.at.noise, 1);
            const int moved = (DynamicTraced(graph, entry.node) * DynamicTraced(graph, w)).node();
            int& part = parts[static_cast<std::size_t>(entry.at.row)];
            part = part < 0 ? moved
                            : (DynamicTraced(graph, part) + DynamicTraced(graph, moved)).node();
        }
        for (int& part : parts) {
            if (part < 0) part = graph.push_zeros(1);
        }
        return derivatives_along(parts);
    }

    /// For each entry its derivative along a direction, given by its components; −1 where that is zero
    /// by construction.
    constexpr List<int> derivatives_along(const List<int>& parts) {
        const int direction = graph.push_list({.op = Op::concat, .size = size}, parts);
        const int num_primal = graph.size();
        Forward forward(std::move(graph), num_primal);
        for (int i = 0; i < num_primal; ++i) {
            const Node node = forward.graph()[i];
            if (node.op == Op::argument && node.index == 1)
                forward.set_tangent(i,
                                    slice_node(forward.graph(), direction, node.offset, node.size));
        }
        forward.run();
        List<int> along(entries.size(), -1);
        for (std::size_t e = 0; e < entries.size(); ++e) {
            if (forward.has_tangent(entries[e].node))
                along[e] = forward.tangent_of(entries[e].node).node();
        }
        graph = std::move(forward.graph());
        return along;
    }

    /// The entries as the only result, in order.
    constexpr Graph diffusion_graph() const {
        Graph result = graph;
        List<int> nodes;
        for (const Entry& entry : entries) nodes.push_back(entry.node);
        result.outputs.clear();
        result.push_output(nodes, static_cast<int>(nodes.size()), false);
        return result;
    }

  private:
    template <class Result>
    constexpr void add_diffusion(const Result& result) {
        if constexpr (is_columns<Result>) {
            std::apply([&](const auto&... column) { (add_column(column), ...); }, result.column);
        } else if constexpr (has_one_noise<Field>) {
            add_column(result);
        } else {
            const int node = node_of(graph, result);
            for (int row = 0; row < size; ++row) num_noises += add_entry(node, row) ? 1 : 0;
        }
    }
    template <class Column>
    constexpr void add_column(const Column& column) {
        const int node = node_of(graph, column);
        bool any = false;
        for (int row = 0; row < size; ++row) any = add_entry(node, row) || any;
        num_noises += any ? 1 : 0;
    }
    constexpr bool add_entry(int node, int row) {
        if (row >= graph[node].size || ZeroComponents(graph).is_literal(node, row)) return false;
        entries.push_back({{row, num_noises}, slice_node(graph, node, row, 1)});
        return true;
    }
    constexpr int entry_or_zero(int row, int noise) {
        for (const Entry& entry : entries) {
            if (entry.at.row == row && entry.at.noise == noise) return entry.node;
        }
        return graph.push_zeros(1);
    }
};

/// What a program gives: the drift, the diffusion's entries, their derivatives along their columns.
enum class SdeParts : unsigned char { drift = 1, diffusion = 2, both = 3, with_slopes = 7 };

/// `correction`: of the drift, times Σ_k (g_k·∇) g_k. `of_noise`: derivatives of all columns along
/// Σ_k g_k w_k, where w is a fourth argument, in place of those along themselves.
template <class Field, SdeParts parts, int correction_halves, bool of_noise = false>
struct SdeRecipe {
    static constexpr int expected_nodes = 256 + 32 * Field::state_size;
    static constexpr bool has(SdeParts part) {
        return (static_cast<int>(parts) & static_cast<int>(part)) == static_cast<int>(part);
    }

    static constexpr Graph make() {
        Graph graph;
        SdeTrace<Field> trace(graph);
        if (correction_halves != 0 && has(SdeParts::drift))
            trace.correct_drift(0.5 * correction_halves);
        List<int> slopes;
        if (has(SdeParts::with_slopes)) slopes = slopes_of(trace);
        if (has(SdeParts::drift))
            graph.push_output(List<int>{trace.drift}, Field::state_size, false);
        const int count = static_cast<int>(trace.entries.size());
        List<int> nodes;
        for (const auto& entry : trace.entries) nodes.push_back(entry.node);
        if (has(SdeParts::diffusion)) graph.push_output(nodes, count, false);
        if (has(SdeParts::with_slopes)) graph.push_output(slopes, count, false);
        return passes::simplify(passes::order_canonically(graph));
    }

  private:
    static constexpr List<int> slopes_of(SdeTrace<Field>& trace) {
        List<int> slopes(trace.entries.size(), -1);
        if (of_noise) slopes = trace.along_noise();
        for (int noise = 0; noise < trace.num_noises && !of_noise; ++noise) {
            const List<int> along = trace.along_itself(noise);
            for (std::size_t e = 0; e < along.size(); ++e) {
                if (along[e] >= 0) slopes[e] = along[e];
            }
        }
        for (int& slope : slopes) {
            if (slope < 0) slope = trace.graph.push_zeros(1);
        }
        return slopes;
    }
};

/// The entries of one column of the diffusion.
template <class Field, int noise>
struct ColumnRecipe {
    static constexpr int expected_nodes = 256 + 32 * Field::state_size;

    static constexpr Graph make() {
        Graph graph;
        SdeTrace<Field> trace(graph);
        List<int> nodes;
        for (const auto& entry : trace.entries) {
            if (entry.at.noise == noise) nodes.push_back(entry.node);
        }
        graph.push_output(nodes, static_cast<int>(nodes.size()), false);
        return passes::simplify(passes::order_canonically(graph));
    }
};

}  // namespace detail
}  // namespace eddy::inline v0
