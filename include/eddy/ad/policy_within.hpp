#pragma once
// Policies that are computed from a budget: `policy_within(program, bytes)` when the program runs,
// `policy_within<bytes>(program)` when it is compiled. Both keep, of the values of the forward pass, those
// that save the most computing (value_plan.hpp).
//
// Bytes between the passes are not the peak of the backward pass: what is recomputed lives there as well,
// and keeping fewer bytes can need more of them. The plan at run time simulates that.
// Test: tests/ad/policy_within.cpp

#include <cstdint>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/residuals.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/ad/value_plan.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/list.hpp>
#include <limits>

namespace eddy::inline v0 {

namespace detail {

/// What an operation costs, in additions: measured ones differ between machines, and matter little.
[[nodiscard]] constexpr std::int64_t cost_of(const Graph& graph, const Node& node) {
    const auto longest = [&] {
        std::int64_t size = node.size;
        for (int k = 0; k < node.count; ++k)
            size = std::max<std::int64_t>(size, graph[graph.operand(node, k)].size);
        return size;
    };
    switch (node.op) {
        case Op::slice:
        case Op::concat:
        case Op::broadcast:
        case Op::barrier:
        case Op::stop_gradient: return 0;
        case Op::add:
        case Op::sub:
        case Op::mul:
        case Op::neg:
        case Op::fma:
        case Op::mul_add:
        case Op::mul_sub:
        case Op::neg_mul_add:
        case Op::abs:
        case Op::min:
        case Op::max:
        case Op::sign:
        case Op::relu:
        case Op::select: return node.size;
        case Op::dot:
        case Op::sum:
        case Op::norm:
        case Op::dense:
        case Op::dense_transposed:
        case Op::outer: return longest();
        default: return std::int64_t{16} * node.size;
    }
}

/// The values of a joint graph as a plan sees them: (node), with nothing to gain where a node is none
/// of the forward pass.
[[nodiscard]] constexpr List<ValueCost> values_of(const Graph& joint, std::size_t num_results,
                                                  int bytes_per_number) {
    const List<char> is_forward = passes::cone(joint, passes::output_nodes(joint, 0, num_results));
    List<ValueCost> values(static_cast<std::size_t>(joint.size()),
                           ValueCost{.cost = 0, .bytes = 0});
    const auto value_behind = [&](int i) {
        while (passes::is_annotation(joint[i])) i = joint.operand(i, 0);
        return i;
    };
    const auto is_value = [&](int i) {
        const Op op = joint[i].op;
        return is_forward[static_cast<std::size_t>(i)] != 0 && op != Op::argument &&
               op != Op::constant && op != Op::name;
    };
    for (int i = 0; i < joint.size(); ++i) {
        const Node& node = joint[i];
        ValueCost& value = values[static_cast<std::size_t>(i)];
        if (is_value(i)) {
            value.cost = cost_of(joint, node);
            value.bytes = std::int64_t{bytes_per_number} * node.size;
            value.keepable = !is_mask(node.op) && node.op != Op::broadcast;
        }
        for (int k = 0; k < node.count; ++k) {
            const int operand = value_behind(joint.operand(node, k));
            if (!is_value(operand)) continue;
            if (is_forward[static_cast<std::size_t>(i)] == 0) {
                values[static_cast<std::size_t>(operand)].read = true;
            } else if (is_value(i)) {
                value.operands.push_back(operand);
            }
        }
    }
    for (std::size_t o = num_results; o < joint.outputs.size(); ++o) {
        for (int k = 0; k < joint.outputs[o].count; ++k) {
            const int node = value_behind(joint.output_node(joint.outputs[o], k));
            if (is_value(node)) values[static_cast<std::size_t>(node)].read = true;
        }
    }
    return values;
}

/// Keeps the values of the joint graph that are marked.
struct KeepMarked {
    List<char> kept{};  // (node)
    eddy::Saving operator()(const Candidate& value) const {
        const auto node = static_cast<std::size_t>(value.node);
        return save_if(value.node >= 0 && node < kept.size() && kept[node] != 0);
    }
};

template <class P, std::int64_t bytes, int... argument>
struct PolicyWithin {
    static constexpr int size = [] {
        const Graph graph = P::graph.thaw();
        return joint_graph(graph, argument_flags<argument...>(graph)).size();
    }();
    struct Marks {
        bool kept[size > 0 ? size : 1] = {};
    };
    static constexpr Marks marks = [] {
        const Graph graph = P::graph.thaw();
        const Graph joint = joint_graph(graph, argument_flags<argument...>(graph));
        const KeptValues plan =
            plan_values(values_of(joint, graph.outputs.size(), sizeof(double)), bytes, 0);
        Marks result;
        for (int i = 0; i < size; ++i) result.kept[i] = plan.kept[static_cast<std::size_t>(i)] != 0;
        return result;
    }();
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(value.node >= 0 && value.node < size && marks.kept[value.node]);
    }
};

}  // namespace detail

/// What is planned for, beside the bytes that are kept between the passes.
struct ValuePlanOptions {
    List<int> with_respect_to{};  ///< the differentiated arguments; all, where empty
    int bytes_per_number = sizeof(double);
    /// A budget for the peak of the backward pass: fewer bytes are kept where that lowers it.
    std::int64_t peak_bytes = std::numeric_limits<std::int64_t>::max();
};

/// A policy that keeps what was planned for one program, and what the plan promises.
struct ValuePlan : detail::KeepMarked {
    std::int64_t bytes = 0;       ///< kept between the passes
    std::int64_t cost = 0;        ///< of what is computed again, in additions
    std::int64_t least_cost = 0;  ///< no choice within the bytes costs less
    std::int64_t peak_bytes = 0;  ///< of values in the backward pass, simulated
};

namespace detail {
[[nodiscard]] EDDY_EXPORT ValuePlan policy_within(const Graph& graph, std::int64_t bytes,
                                                  const ValuePlanOptions& options);
}  // namespace detail

/// The policy that keeps at most so many bytes of a program or graph and has the least computed again: the
/// optimum up to some 60 values. It is a policy of this program outside of any `remat`, with values.
/// InvalidArgument where no choice has so low a peak.
template <class Source>
[[nodiscard]] ValuePlan policy_within(const Source& source, std::int64_t bytes,
                                      const ValuePlanOptions& options = {}) {
    static_assert(detail::has_graph<Source>,
                  "policy_within: pass a traced program or a Graph; of a loop, a scan or a "
                  "composition pass the program within");
    if constexpr (detail::has_graph<Source>)
        return detail::policy_within(detail::graph_behind(source), bytes, options);
}

/// The same when the program is compiled, for `differentiable(program, policy)` of doubles: nearly the
/// optimum. The arguments that are differentiated follow the bytes, if not all are.
template <std::int64_t bytes, int... argument, class Recipe>
[[nodiscard]] constexpr auto policy_within(const Program<Recipe>&) {
    static_assert(bytes >= 0, "policy_within: give at least 0 bytes");
    return detail::PolicyWithin<Program<Recipe>, bytes, argument...>{};
}

}  // namespace eddy::inline v0
