#pragma once
// Programs as drawings: `dot -Tsvg program.dot -o program.svg`. Arguments are at the top, results
// at the bottom; remat regions are boxes around their nodes.
// Test: tests/trace/graphviz.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/print.hpp>
#include <eddy/trace/trace.hpp>

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
/// matters. The tooltip of a node that a function with a name made is where it was called.
[[nodiscard]] EDDY_EXPORT std::string to_graphviz(const Graph& graph,
                                                  const ArgumentNames& names = {});
template <class Recipe>
[[nodiscard]] std::string to_graphviz(const Program<Recipe>& program,
                                      const ArgumentNames& names = {}) {
    return to_graphviz(detail::graph_with_places(program), names);
}

}  // namespace eddy::inline v0
