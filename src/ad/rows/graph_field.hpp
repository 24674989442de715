#pragma once
// An equation that is a graph, as steppers over rows see it.

#include <eddy/trace/graph.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <memory>

namespace eddy::inline v0::detail {

/// The maker of a program (t, y, p) → dy/dt. The way back is made when it is asked for.
[[nodiscard]] std::shared_ptr<const FieldMaker> graph_field(const Graph& graph,
                                                            const FieldSizes& sizes,
                                                            RowLevel level);

}  // namespace eddy::inline v0::detail
