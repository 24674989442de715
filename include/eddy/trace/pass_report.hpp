#pragma once
// What each pass does to a program: node counts before and after.
// Test: tests/trace/pass_report.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/program.hpp>
#include <string>

namespace eddy::inline v0 {

namespace detail {

/// The table for a graph before any pass and the code that it ends as.
[[nodiscard]] EDDY_EXPORT std::string pass_table(const Graph& raw, const Graph& code);

}  // namespace detail

/// A table of node counts before and after each pass, from the traced graph to the one that is
/// evaluated.
[[nodiscard]] EDDY_EXPORT std::string report_passes(const Graph& graph);
/// The same for a program. If its recipe does not keep the graph before simplification, the table
/// starts from the simplified graph.
template <class Recipe>
[[nodiscard]] std::string report_passes(const Program<Recipe>&) {
    const Graph code = Program<Recipe>::code.thaw();
    if constexpr (requires { Recipe::make_raw(); }) {
        return detail::pass_table(Recipe::make_raw(), code);
    } else {
        return detail::pass_table(Program<Recipe>::graph.thaw(), code);
    }
}

}  // namespace eddy::inline v0
