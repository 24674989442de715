// Losses of calls on rows.

#include <eddy/backends/rows/row_ask.hpp>
#include <eddy/trace/passes/leave_out_missing.hpp>

namespace eddy::inline v0 {

std::shared_ptr<const FieldMaker> detail::loss_field(const Graph& loss, FieldSizes sizes,
                                                     int num_data, bool may_miss_values,
                                                     RowLevel level) {
    require_argument(loss.outputs.size() == 1 && loss.outputs[0].size == 1,
                     "value_and_gradient: the loss returns {} numbers; return one",
                     loss.outputs.empty() ? 0 : loss.outputs[0].size);
    sizes.parameters += num_data;
    sizes.inputs = {};
    if (!may_miss_values) return graph_field(loss, sizes, level);
    const Graph observed = passes::leave_out_missing(loss, 3);
    require_argument(observed.error == TraceError::none,
                     "value_and_gradient: missing_as_nan, and the loss adds what reads no data "
                     "to terms of several values; put it before the term that it belongs to, "
                     "both in brackets, or write sum(a + b) of vectors");
    return graph_field(observed, sizes, level);
}

}  // namespace eddy::inline v0
