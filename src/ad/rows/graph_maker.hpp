#pragma once
// An equation that is a graph, as calls on rows see it: which components change is known from its trace.

#include <eddy/trace/rows/field_on_tile.hpp>
#include <vector>

namespace eddy::inline v0::detail {

class GraphMaker : public FieldMaker {
  public:
    using FieldMaker::FieldMaker;
    /// The components that count in norms, in order: all that change. Where none does they all count.
    [[nodiscard]] virtual std::vector<int> counted_components() const = 0;
};

}  // namespace eddy::inline v0::detail
