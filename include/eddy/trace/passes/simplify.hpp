#pragma once
// The passes that never change a result, in order, until nothing folds any more.

#include <eddy/trace/passes/cse.hpp>
#include <eddy/trace/passes/dce.hpp>
#include <eddy/trace/passes/fold.hpp>

namespace eddy::passes {

[[nodiscard]] constexpr Graph simplify(Graph graph) {
    int num_folded = 0;
    graph = fold(eliminate_dead_code(graph), num_folded);
    do {
        graph = eliminate_dead_code(eliminate_common_subexpressions(graph));
        graph = fold(graph, num_folded);
    } while (num_folded > 0);
    return graph;
}

}  // namespace eddy::passes
