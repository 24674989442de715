#pragma once
// Functions of formulas, on nodes.

#include <eddy/trace/graph.hpp>
#include <string_view>
#include <vector>

namespace eddy::inline v0::detail {

/// Appends nodes to a graph; operations on constants are constants.
class FormulaNodes {
  public:
    explicit FormulaNodes(Graph& graph) : graph_(graph) {}

    [[nodiscard]] int number(double value) { return graph_.push_constant(value); }
    [[nodiscard]] bool is_number(int node) const { return graph_[node].op == Op::constant; }
    [[nodiscard]] double value_of(int node) const { return graph_.constant_value(graph_[node]); }
    [[nodiscard]] bool is_condition(int node) const { return is_mask(graph_[node].op); }

    int apply(Op op, int a);
    int apply(Op op, int a, int b);
    int select(int mask, int a, int b) { return graph_.push({.op = Op::select}, mask, a, b); }
    int power(int base, int exponent);

  private:
    Graph& graph_;
};

/// The value of a function call, −1 where there is no such function of so many arguments. All arguments
/// are numbers.
[[nodiscard]] int call_function(FormulaNodes& nodes, std::string_view name,
                                const std::vector<int>& arguments);
/// Is there one of that name, whatever it takes?
[[nodiscard]] bool is_function(std::string_view name);

}  // namespace eddy::inline v0::detail
