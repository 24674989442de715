#pragma once
// Programs as drawings: `dot -Tsvg program.dot -o program.svg`. Arguments are at the top, results
// at the bottom; remat regions are boxes around their nodes.
// Test: tests/trace/graphviz.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/print.hpp>

namespace eddy::inline v0 {

namespace detail {

/// The nodes and edges of a program, without the braces of a drawing around them. Their names begin
/// with `prefix`.
[[nodiscard]] EDDY_EXPORT std::string graphviz_nodes(const Graph& graph, const ArgumentNames& names,
                                                     const std::string& prefix);
/// A text in quotes.
[[nodiscard]] EDDY_EXPORT std::string dot_text(const std::string& text);

}  // namespace detail

/// A traced program in the language of Graphviz. Edges carry the position of an operand if it
/// matters.
[[nodiscard]] EDDY_EXPORT std::string to_graphviz(const Graph& graph,
                                                  const ArgumentNames& names = {});
template <class Recipe>
[[nodiscard]] std::string to_graphviz(const Program<Recipe>&, const ArgumentNames& names = {}) {
    return to_graphviz(Program<Recipe>::graph.thaw(), names);
}

}  // namespace eddy::inline v0
