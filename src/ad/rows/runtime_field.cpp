// A right-hand side that is known when the program runs.

#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/ad/sparsity.hpp>
#include <eddy/core/error.hpp>
#include <eddy/trace/passes/simplify.hpp>

namespace eddy::inline v0 {

struct RuntimeField::Parts {
    Graph graph, observables;
    FieldNames names;
    FieldSizes sizes;
    std::shared_ptr<const FieldMaker> maker;
};

namespace {

/// The program of some of the results.
Graph with_outputs(Graph graph, std::size_t first, std::size_t last) {
    graph.outputs = {graph.outputs.begin() + static_cast<std::ptrdiff_t>(first),
                     graph.outputs.begin() + static_cast<std::ptrdiff_t>(last)};
    return passes::simplify(std::move(graph));
}

}  // namespace

RuntimeField::RuntimeField(Graph graph, FieldNames names, RowLevel level, InputSizes inputs) {
    require_argument(graph.arguments.size() == 3 && graph.arguments[0].size == 1,
                     "trace_field: a program of {} arguments; make one of (t, y, p)",
                     graph.arguments.size());
    const int num_states = graph.arguments[1].size;
    require_argument(num_states > 0, "trace_field: {} states; give at least one", num_states);
    require_argument(
        !graph.outputs.empty() && graph.outputs[0].size == num_states,
        "trace_field: the function returns {} numbers for {} states; return one for each",
        graph.outputs.empty() ? 0 : graph.outputs[0].size, num_states);
    Parts parts;
    parts.observables = with_outputs(graph, 1, graph.outputs.size());
    parts.graph = with_outputs(std::move(graph), 0, 1);
    parts.names = std::move(names);
    parts.sizes = {num_states, parts.graph.arguments[2].size - inputs.room(),
                   reads_argument(parts.graph, 0), inputs};
    parts.maker = detail::graph_field(parts.graph, parts.sizes, level);
    parts_ = std::make_shared<const Parts>(std::move(parts));
}

int RuntimeField::num_states() const { return parts_->sizes.states; }
int RuntimeField::num_parameters() const { return parts_->sizes.parameters; }
int RuntimeField::num_inputs() const { return parts_->sizes.inputs.size; }
bool RuntimeField::reads_time() const { return parts_->sizes.reads_time; }
const Graph& RuntimeField::graph() const { return parts_->graph; }
const Graph& RuntimeField::observables() const { return parts_->observables; }
const FieldNames& RuntimeField::names() const { return parts_->names; }
std::shared_ptr<const FieldMaker> RuntimeField::maker() const { return parts_->maker; }

}  // namespace eddy::inline v0
