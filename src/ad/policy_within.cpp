#include <algorithm>
#include <eddy/ad/policy_within.hpp>
#include <eddy/core/error.hpp>
#include <utility>

namespace eddy::inline v0::detail {
namespace {

constexpr int tried_budgets = 16;  // where the peak decides

List<char> flags_of(const Graph& graph, const List<int>& with_respect_to) {
    List<char> flags(graph.arguments.size(), with_respect_to.empty() ? 1 : 0);
    for (int argument : with_respect_to) {
        require_argument(argument >= 0 && static_cast<std::size_t>(argument) < flags.size(),
                         "policy_within: there is no argument {}; the program has {}", argument,
                         flags.size());
        flags[static_cast<std::size_t>(argument)] = 1;
    }
    return flags;
}

/// The most bytes of values that are alive at once while the nodes are evaluated in order; residuals
/// and cotangents from the start, each until its last use. Arguments and constants lie elsewhere.
std::int64_t peak_of_backward(const Graph& backward, std::size_t num_arguments,
                              int bytes_per_number) {
    List<int> last_use(backward.nodes.size(), -1);
    for (int i = 0; i < backward.size(); ++i)
        for (int k = 0; k < backward[i].count; ++k)
            last_use[static_cast<std::size_t>(backward.operand(i, k))] = i;
    for (int node : passes::output_nodes(backward, 0, backward.outputs.size()))
        last_use[static_cast<std::size_t>(node)] = backward.size();
    const auto is_given = [&](const Node& node) {
        return node.op == Op::argument && static_cast<std::size_t>(node.index) >= num_arguments;
    };
    std::int64_t alive = 0;
    for (const Node& node : backward.nodes)
        if (is_given(node)) alive += node.size;
    std::int64_t peak = alive;
    std::vector<List<int>> ends(backward.nodes.size());
    for (int i = 0; i < backward.size(); ++i) {
        const int last = last_use[static_cast<std::size_t>(i)];
        if (last >= 0 && last < backward.size()) ends[static_cast<std::size_t>(last)].push_back(i);
    }
    const auto takes_memory = [&](const Node& node) {
        return node.op != Op::constant && (node.op != Op::argument || is_given(node));
    };
    for (int i = 0; i < backward.size(); ++i) {
        const Node& node = backward[i];
        if (node.op != Op::argument && node.op != Op::constant) alive += node.size;
        peak = std::max(peak, alive);
        for (int ended : ends[static_cast<std::size_t>(i)])
            if (takes_memory(backward[ended])) alive -= backward[ended].size;
    }
    return peak * bytes_per_number;
}

class Search {
  public:
    Search(const Graph& graph, const ValuePlanOptions& options)
        : graph_(graph),
          options_(options),
          joint_(joint_graph(graph, flags_of(graph, options.with_respect_to))),
          planner_(values_of(joint_, graph.outputs.size(), options.bytes_per_number)) {}

    [[nodiscard]] ValuePlan within(std::int64_t bytes) {
        const KeptValues best = planner_.plan(bytes, default_branches);
        consider(best);
        if (found_) return std::move(plan_);
        const std::int64_t most =
            std::min(bytes, std::numeric_limits<std::int64_t>::max() / tried_budgets);
        for (int k = 0; k < tried_budgets; ++k) {
            consider(planner_.plan(most * k / tried_budgets, 0));
            consider(planner_.corner(most * k / tried_budgets));
        }
        require_argument(
            found_,
            "policy_within: peak_bytes = {} but the lowest peak found is {}; raise it, "
            "or divide the program",
            options_.peak_bytes, lowest_peak_);
        plan_.least_cost = best.least_cost;
        return std::move(plan_);
    }

  private:
    void consider(const KeptValues& values) {
        Graph marked = joint_;
        set_policy(marked, 0, KeepMarked{values.kept});
        const SplitGraph split = split_joined(marked, graph_);
        const std::int64_t peak =
            peak_of_backward(split.backward, graph_.arguments.size(), options_.bytes_per_number);
        lowest_peak_ = std::min(lowest_peak_, peak);
        if (peak > options_.peak_bytes || (found_ && values.cost >= plan_.cost)) return;
        found_ = true;
        plan_ = {{values.kept},
                 std::int64_t{options_.bytes_per_number} * split.residual_size,
                 values.cost,
                 values.least_cost,
                 peak};
    }

    const Graph& graph_;
    const ValuePlanOptions& options_;
    Graph joint_;
    ValuePlanner planner_;
    ValuePlan plan_;
    bool found_ = false;
    std::int64_t lowest_peak_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

ValuePlan policy_within(const Graph& graph, std::int64_t bytes, const ValuePlanOptions& options) {
    require_argument(bytes >= 0, "policy_within: {} bytes; give at least 0", bytes);
    require_argument(options.bytes_per_number >= 1,
                     "policy_within: bytes_per_number = {}; give at least 1",
                     options.bytes_per_number);
    return Search(graph, options).within(bytes);
}

}  // namespace eddy::inline v0::detail
