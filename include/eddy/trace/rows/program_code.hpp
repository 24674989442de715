#pragma once
// A program as one list of operations on rows of lanes: what is left of a graph when its vectors are
// written out component by component, its operations put into an order in which most results are read by
// the next one alone, and its values given places. An engine walks it (trace/rows/row_program.hpp).
// Every operation is that of the graph on the same numbers: bits stay, whatever the order.
// Test: tests/trace/rows/row_program.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/graph.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0 {

namespace detail {
class MachineShelf;
}

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

/// One operation on blocks of rows that follow each other, or with numbers that all lanes share.
struct BlockOperation {
    enum class Kind : unsigned char {
        product,    // rows `to` = W x (+ b): W, b are numbers
        outer_sum,  // numbers `to` += Σ_lanes u vᵀ, row-major
        row_sum,    // numbers `to` += Σ_lanes x
        at,         // rows `to` = as many components of a table as there are, from a place on
        add_at,     // rows `to` = a table, to which rows are added from a place on
        knot,       // row `to` = the interval of a table of knots that a number is in
        scatter,    // rows, or numbers over all lanes, `to` += rows, from a place on
        loop        // rows = the state after the last turn, and what the turns stack
    };
    Kind kind = Kind::product;
    int before = 0;             // of which operation of the list it is done
    int rows = 0, columns = 0;  // columns: of a table its length, or how many rows are added to it
    bool is_even = false;       // of knots
    bool are_numbers = false;   // what is scattered to
    int row_step = 0, column_step = 0;  // of W
    int matrix = -1, bias = -1;         // −1: none. matrix: W, or a table of numbers
    /// x; u and v; or a place, what is added, a table of rows.
    int from[3] = {};
    int to = 0;
    int loop = -1;  // which one
};

struct ProgramCode;
/// A loop, as a program of one turn: of the state and the operands to the next state and what is stacked.
struct LoopOperation {
    struct Operand {
        int size = 0;              // what a turn reads of it
        bool is_walked = false;    // each turn reads the next part
        bool are_numbers = false;  // that all lanes share
    };
    struct Stack {
        int size = 0;  // of a turn
        bool is_read_where_written = false;
    };
    Loop loop;
    std::shared_ptr<const ProgramCode> turn,
        condition;  // condition: of the same arguments, or null
    std::vector<Operand> operands;
    std::vector<Stack> stacks;
    bool counts_turns = false;
    /// The state at the start; guard and turns, where it has them; the operands.
    std::vector<int> from;
    /// The state at the end; what is stacked; how many turns were taken, where that is counted.
    std::vector<int> to;
};

/// What the arguments and results of a program are. Flags by place; those that are missing are not set.
struct RowRoles {
    std::vector<char> adds;    // (result) is added to what lies in its rows
    std::vector<char> shared;  // (argument) a number for each component, not a row
    std::vector<char> summed;  // (result) is added, summed over lanes, to numbers
};

/// The list, and what it works on.
struct ProgramCode {
    std::vector<RowOperation> operations;
    std::vector<BlockOperation> blocks;
    std::vector<LoopOperation> loops;
    std::vector<double> shared;
    std::vector<int> spread;  // (row of scratch): which shared number lies there, in the first ones
    int num_scratch = 0;
    std::vector<int> argument_sizes, result_sizes;
    std::vector<char> are_numbers;                       // (argument, then result)
    std::shared_ptr<detail::MachineShelf> machine_code;  // of all who walk it; null: none is made

    [[nodiscard]] int num_shared() const { return static_cast<int>(shared.size()); }
    /// All rows that a run touches.
    [[nodiscard]] int num_rows() const {
        int rows = num_scratch;
        for (const int size : argument_sizes) rows += size;
        for (const int size : result_sizes) rows += size;
        return rows;
    }
};

/// The list of a graph that is contracted already. Throws InvalidArgument where the graph has an operation
/// that rows do not have.
[[nodiscard]] EDDY_EXPORT ProgramCode row_code(const Graph& graph, const RowRoles& roles = {});

}  // namespace eddy::inline v0
