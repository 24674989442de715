#pragma once
// Programs as text, one line per node. `%5 = mul %1 %2` multiplies the values of lines 1 and 2; a
// vector shows its length, `%7 = tanh %6 : 64`; parts of arguments show which, `y[2]`, `w[0:128]`.
// Test: tests/trace/print.cpp

#include <eddy/core/export.hpp>
#include <eddy/core/list.hpp>
#include <eddy/trace/program.hpp>
#include <string>

namespace eddy::inline v0 {

/// What arguments are called in texts and drawings, in order; those without a name are x0, x1, ….
using ArgumentNames = List<std::string>;

/// A traced program as text, a line for each node; with `places`, also where the function was called
/// that made it, as far as the graph knows.
[[nodiscard]] EDDY_EXPORT std::string to_text(const Graph& graph, const ArgumentNames& names = {},
                                              bool places = false);
template <class Recipe>
[[nodiscard]] std::string to_text(const Program<Recipe>&, const ArgumentNames& names = {}) {
    return to_text(Program<Recipe>::graph.thaw(), names);
}

/// Writes a traced program to standard output.
EDDY_EXPORT void print(const Graph& graph, const ArgumentNames& names = {});
template <class Recipe>
void print(const Program<Recipe>& program, const ArgumentNames& names = {}) {
    (void)program;
    print(Program<Recipe>::graph.thaw(), names);
}

}  // namespace eddy::inline v0
