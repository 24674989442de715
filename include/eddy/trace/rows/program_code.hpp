#pragma once
// A program as one list of operations on rows of lanes: what is left of a graph when its vectors are
// written out component by component, its operations put into an order in which most results are read by
// the next one alone, and its values given places. An engine walks it (trace/rows/row_program.hpp).
// Every operation is that of the graph on the same numbers: bits stay, whatever the order.
// Test: tests/trace/rows/row_program.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/graph.hpp>
#include <vector>

namespace eddy::inline v0 {

/// Where an operand comes from.
enum class RowOperand : unsigned char {
    row,     // one number of each lane
    shared,  // one number for all lanes
    last     // the result of the operation before, which is still in registers
};

/// One operation on rows. Places count the shared numbers, then the rows of scratch, then those of each
/// argument and of each result.
struct RowOperation {
    Op op = Op::name;  // `name` copies
    RowOperand kind[3] = {};
    bool is_stored = false;
    int to = 0;
    int from[3] = {};
    int index = 0;  // of powi and polygamma
};

/// The list, and what it works on.
struct ProgramCode {
    std::vector<RowOperation> operations;
    std::vector<double> shared;
    std::vector<int> spread;  // (row of scratch): which shared number lies there, in the first ones
    int num_scratch = 0;
    std::vector<int> argument_sizes, result_sizes;

    [[nodiscard]] int num_shared() const { return static_cast<int>(shared.size()); }
    /// All rows that a run touches.
    [[nodiscard]] int num_rows() const {
        int rows = num_scratch;
        for (const int size : argument_sizes) rows += size;
        for (const int size : result_sizes) rows += size;
        return rows;
    }
};

/// The list of a graph that is contracted already. Results that are flagged in `adds` are added to what
/// lies in their rows. Throws InvalidArgument where the graph has an operation that rows do not have.
[[nodiscard]] EDDY_EXPORT ProgramCode row_code(const Graph& graph,
                                               const std::vector<char>& adds = {});

}  // namespace eddy::inline v0
