#pragma once
// Formulas to nodes of a graph, by descent. Numbers among themselves are computed at once, as C++ does it.

#include <eddy/trace/graph.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

namespace eddy::inline v0::detail {

/// What a name, or a part of a formula, is: a node that holds a number or a mask.
using NamedNodes = std::unordered_map<std::string, int>;

/// Appends the nodes of a formula, and returns the one of its value. `where` names the formula in messages.
[[nodiscard]] int parse_formula(Graph& graph, const NamedNodes& names, std::string_view formula,
                                const std::string& where, bool may_be_condition);

/// Names that mean something themselves: t, pi, and, …
[[nodiscard]] bool is_reserved_name(std::string_view name);
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace eddy::inline v0::detail
