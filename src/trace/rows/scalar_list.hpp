#pragma once
// A graph written out: every component of every vector a value of its own.

#include <eddy/trace/graph.hpp>
#include <eddy/trace/rows/program_code.hpp>
#include <vector>

namespace eddy::inline v0::detail {

[[nodiscard]] constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct ScalarValue {
    Op op = Op::constant;
    int count = 0;        // operands
    int operand[3] = {};  // argument: component; constant: place among the shared numbers
    int index = 0;  // argument: which, results behind the arguments; powi, polygamma: the number
    int block =
        -1;  // which operation on blocks makes it, as component operand[0] of part operand[1]
};

/// Values that an operation on blocks reads, row by row.
using RowBlock = std::vector<int>;
/// An operation on blocks of rows. Places of numbers are components of an argument or a result.
struct ScalarBlock {
    struct Place {
        static constexpr int none = -1, constants = -2;  // constants: among the shared numbers
        int block = none, component = 0;

        [[nodiscard]] bool is_somewhere() const { return block != none; }
    };
    /// What it makes: values, rows that follow each other, or a sum.
    struct Part {
        int first_value = -1, rows = 0;  // −1: no values
        Place to;                        // the result that it is, if any
        bool continues = false;          // its rows are those behind the values before
    };
    BlockOperation what;
    Place matrix, bias;
    std::vector<Part> parts;
    std::vector<RowBlock> from;  // empty: none
    LoopOperation loop;
    std::vector<Place> numbers;  // (operand of a loop): where it lies if lanes share it
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
    std::vector<ScalarBlock> blocks;
    std::vector<int>
        block_results;  // operations on blocks that make results, in the order of the graph
    std::vector<int> argument_sizes, result_sizes;
    std::vector<char> are_numbers;  // (argument, then result)

    /// Is a value the same number for all lanes?
    [[nodiscard]] bool is_shared(int v) const {
        const ScalarValue& value = values[static_cast<std::size_t>(v)];
        return value.op == Op::constant ||
               (value.op == Op::argument &&
                are_numbers[static_cast<std::size_t>(value.index)] != 0);
    }
};

[[nodiscard]] ScalarList write_out(const Graph& graph, const RowRoles& roles);

/// Operations in the order in which they are computed: depth first from the results, the longer way
/// first, so that most values are read by the next operation. Those on blocks are ~place.
[[nodiscard]] std::vector<int> schedule(const ScalarList& list);

/// Rows of scratch that follow each other, for what operations on blocks read and make.
struct BlockRows {
    struct Row {
        int run = -1, row = 0;  // −1: none
    };
    std::vector<Row> of;         // (value)
    std::vector<int> run_sizes;  // (run)
};
/// Gives operations on blocks rows that follow each other: where they do not, values are copied (which adds to
/// the list). Those that lie behind each other as arguments or results are left where they are.
[[nodiscard]] BlockRows gather_blocks(ScalarList& list);
/// Where each run begins, of rows that are used again; the last entry is how many rows there are.
[[nodiscard]] std::vector<int> place_runs(const ScalarList& list, const BlockRows& rows,
                                          const std::vector<int>& order);

}  // namespace eddy::inline v0::detail
