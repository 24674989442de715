#pragma once
// Programs as drawings: `dot -Tsvg program.dot -o program.svg`. Arguments are at the top, results
// at the bottom; remat regions are boxes around their nodes.

#include <eddy/core/export.hpp>
#include <eddy/trace/print.hpp>

namespace eddy::inline v0 {

/// The program in Graphviz's language. Edges carry the place of an operand where it matters.
[[nodiscard]] EDDY_EXPORT std::string to_graphviz(const Graph& graph,
                                                  const ArgumentNames& names = {});
template <class Recipe>
[[nodiscard]] std::string to_graphviz(const Program<Recipe>&, const ArgumentNames& names = {}) {
    return to_graphviz(Program<Recipe>::graph.thaw(), names);
}

}  // namespace eddy::inline v0
