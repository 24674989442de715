#pragma once
// A graph written out: every component of every vector a value of its own.

#include <eddy/trace/graph.hpp>
#include <vector>

namespace eddy::inline v0::detail {

struct ScalarValue {
    Op op = Op::constant;
    int count = 0;        // operands
    int operand[3] = {};  // argument: component; constant: place among the shared numbers
    int index = 0;  // argument: which, results behind the arguments; powi, polygamma: the number
};

[[nodiscard]] inline bool is_leaf(const ScalarValue& value) {
    return value.op == Op::argument || value.op == Op::constant;
}

struct ScalarList {
    struct Result {
        int value, block, component;
    };
    std::vector<ScalarValue> values;
    std::vector<double> shared;
    std::vector<Result> results;  // each an operation of its own
    std::vector<int> argument_sizes, result_sizes;
};

[[nodiscard]] ScalarList write_out(const Graph& graph, const std::vector<char>& adds);

/// Operations in the order in which they are computed: depth first from the results, the longer way
/// first, so that most values are read by the next operation.
[[nodiscard]] std::vector<int> schedule(const ScalarList& list);

}  // namespace eddy::inline v0::detail
