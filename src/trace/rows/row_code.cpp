// Where the operands of each operation come from, and which values need a row.

#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/trace/rows/program_code.hpp>

#include "machine_code.hpp"
#include "row_engine.hpp"
#include "scalar_list.hpp"

namespace eddy::inline v0 {
namespace detail {
namespace {

class Placer {
  public:
    explicit Placer(ScalarList list)
        : list_(std::move(list)),
          blocks_(gather_blocks(list_)),
          order_(schedule(list_)),
          needs_row_(list_.values.size(), 0),
          last_use_(list_.values.size(), -1),
          place_(list_.values.size(), -1) {
        int next = 0;  // behind scratch, whose size is known in the end
        for (const int size : list_.argument_sizes) {
            first_.push_back(next);
            next += size;
        }
        for (const int size : list_.result_sizes) {
            first_.push_back(next);
            next += size;
        }
    }

    ProgramCode run() {
        code_.machine_code = std::make_shared<MachineShelf>();
        code_.shared = list_.shared;
        code_.argument_sizes = list_.argument_sizes;
        code_.result_sizes = list_.result_sizes;
        code_.are_numbers = list_.are_numbers;
        spread_of_.assign(list_.shared.size(), -1);
        for (const ScalarList::Result& result : list_.results)
            result_place(result.value) = first_[at(result.block)] + result.component;
        for (std::size_t s = 0; s < order_.size(); ++s) choose_operands(static_cast<int>(s));
        const int num_spread = static_cast<int>(code_.spread.size());
        const std::vector<int> runs = place_runs(list_, blocks_, order_);
        for (std::size_t v = 0; v < blocks_.of.size(); ++v) {
            const BlockRows::Row row = blocks_.of[v];
            if (row.run >= 0) place_[v] = row_place(num_spread + runs[at(row.run)] + row.row);
        }
        num_scratch_ = num_spread + runs.back();
        int operation = 0;
        for (const int now : order_) {
            if (now < 0)
                place_block(list_.blocks[at(~now)], operation);
            else
                place(now, operation++);
        }
        code_.num_scratch = num_scratch_;
        shift_blocks();
        return std::move(code_);
    }

  private:
    [[nodiscard]] const ScalarValue& value(int v) const { return list_.values[at(v)]; }

    // The rows of arguments and results are numbered from −2 downwards until scratch has its size.
    static int block_place(int place) { return -2 - place; }
    int& result_place(int v) {
        has_result_.resize(list_.values.size(), -1);
        return has_result_[at(v)];
    }

    void choose_operands(int s) {
        if (order_[at(s)] < 0) return;
        const int now_at = static_cast<int>(code_.operations.size());
        const ScalarValue& now = value(order_[at(s)]);
        RowOperation operation{.op = now.op, .index = now.index};
        for (int k = 0; k < now.count; ++k) {
            const int v = now.operand[k];
            operation.from[k] = v;
            operation.kind[k] = list_.is_shared(v)                ? RowOperand::shared
                                : s > 0 && v == order_[at(s - 1)] ? RowOperand::last
                                                                  : RowOperand::row;
        }
        arrange(operation, now.count);
        for (int k = 0; k < now.count; ++k) {
            if (operation.kind[k] != RowOperand::row) continue;
            const int v = operation.from[k];
            internal_check(value(v).op != Op::argument || !list_.is_shared(v),
                           "row_code: numbers of an argument are read as numbers");
            if (value(v).op == Op::constant) spread(value(v).operand[0]);
            needs_row_[at(v)] = 1;
            last_use_[at(v)] = now_at;
        }
        code_.operations.push_back(operation);
    }

    /// Takes operands in an order, and from where, that there is a handler for.
    static void arrange(RowOperation& operation, int count) {
        if (!is_row_arithmetic(operation.op)) {
            for (RowOperand& kind : operation.kind) kind = RowOperand::row;
            return;
        }
        const auto rank = [](RowOperand kind) {
            return kind == RowOperand::last ? 0 : kind == RowOperand::row ? 1 : 2;
        };
        const bool swaps = operation.op == Op::add || operation.op == Op::mul || count == 3;
        if (swaps && rank(operation.kind[1]) < rank(operation.kind[0])) {
            std::swap(operation.kind[0], operation.kind[1]);
            std::swap(operation.from[0], operation.from[1]);
        }
        for (int k = count - 1; k >= 0 && !has_row_handler(operation.op, operation.kind); --k)
            operation.kind[k] = RowOperand::row;
    }

    void spread(int shared) {
        int& row = spread_of_[at(shared)];
        if (row >= 0) return;
        row = static_cast<int>(code_.spread.size());
        code_.spread.push_back(shared);
    }

    /// The row of a value, or its place among the shared numbers.
    [[nodiscard]] int place_of(RowOperand kind, int v) const {
        const ScalarValue& of = value(v);
        if (kind == RowOperand::last) return 0;
        if (kind == RowOperand::shared && of.op == Op::constant) return of.operand[0];
        if (of.op == Op::constant) return row_place(spread_of_[at(of.operand[0])]);
        if (of.op == Op::argument) return block_place(first_[at(of.index)] + of.operand[0]);
        if (of.block < 0) return place_[at(v)];
        const ScalarBlock::Place to = list_.blocks[at(of.block)].parts[at(of.operand[1])].to;
        return to.block >= 0 ? number_place(to) - of.operand[0] : place_[at(v)];
    }
    /// Where a component of an argument or a result lies.
    [[nodiscard]] int number_place(const ScalarBlock::Place& of) const {
        if (of.block < 0) return std::max(of.component, 0);  // a constant, or nothing
        return block_place(first_[at(of.block)] + of.component);
    }
    /// An operation on blocks, behind those that are placed.
    void place_block(const ScalarBlock& block, int before) {
        BlockOperation now = block.what;
        now.before = before;
        for (const ScalarBlock::Part& part : block.parts)
            for (int r = 0; r < part.rows; ++r)
                last_use_[at(part.first_value + r)] = -2;  // its rows are its own
        if (now.kind == BlockOperation::Kind::loop) {
            now.loop = place_loop(block);
            return code_.blocks.push_back(now);
        }
        for (std::size_t k = 0; k < block.from.size(); ++k)
            if (!block.from[k].empty()) now.from[k] = place_of(RowOperand::row, block.from[k][0]);
        now.matrix = block.matrix.is_somewhere() ? number_place(block.matrix) : -1;
        if (block.bias.block >= 0) now.bias = number_place(block.bias);
        now.to = place_of_part(block.parts[0]);
        code_.blocks.push_back(now);
    }
    int place_loop(const ScalarBlock& block) {
        LoopOperation loop = block.loop;
        const std::size_t num_fixed = block.from.size() - block.numbers.size();
        for (std::size_t k = 0; k < block.from.size(); ++k)
            loop.from.push_back(!block.from[k].empty() ? place_of(RowOperand::row, block.from[k][0])
                                : k < num_fixed        ? 0
                                                : number_place(block.numbers[k - num_fixed]));
        for (const ScalarBlock::Part& part : block.parts) loop.to.push_back(place_of_part(part));
        code_.loops.push_back(std::move(loop));
        return static_cast<int>(code_.loops.size()) - 1;
    }
    [[nodiscard]] int place_of_part(const ScalarBlock::Part& part) const {
        if (part.to.block >= 0) return number_place(part.to);
        return part.rows > 0 ? place_[at(part.first_value)] : 0;
    }
    [[nodiscard]] int row_place(int row) const { return code_.num_shared() + row; }

    void place(int v, int s) {
        RowOperation& operation = code_.operations[at(s)];
        const int count = value(v).count;
        int used[3] = {};
        std::copy(operation.from, operation.from + 3, used);
        for (int k = 0; k < count; ++k) operation.from[k] = place_of(operation.kind[k], used[k]);
        for (int k = 0; k < count; ++k) {
            if (operation.kind[k] == RowOperand::row) release(used[k], s);
        }
        const int result = result_place(v);
        const bool is_called = !is_row_arithmetic(operation.op);
        operation.is_stored = result >= 0 || needs_row_[at(v)] != 0 || is_called;
        const bool is_in_block = blocks_.of[at(v)].run >= 0;
        operation.is_stored = operation.is_stored || is_in_block;
        if (result >= 0) {
            place_[at(v)] = block_place(result);
        } else if (is_in_block) {
            last_use_[at(v)] = -2;  // its row is its own
        } else if (operation.is_stored) {
            if (free_.empty()) free_.push_back(num_scratch_++);
            place_[at(v)] = row_place(free_.back());
            free_.pop_back();
            if (last_use_[at(v)] < 0) release(v, -1);
        }
        operation.to = operation.is_stored ? place_[at(v)] : 0;
    }
    /// Gives the row of a value back behind its last use.
    void release(int v, int s) {
        if (is_leaf(value(v)) || last_use_[at(v)] != s || place_[at(v)] < 0) return;
        last_use_[at(v)] = -2;  // once, also of one that is read twice
        free_.push_back(place_[at(v)] - code_.num_shared());
    }

    void shift_blocks() {
        const int behind = code_.num_shared() + num_scratch_;
        const auto shift = [&](int& place) {
            if (place <= -2) place = behind - 2 - place;
        };
        for (RowOperation& operation : code_.operations) {
            shift(operation.to);
            for (int& from : operation.from) shift(from);
        }
        for (BlockOperation& block : code_.blocks) {
            for (int* place : {&block.matrix, &block.bias, &block.to}) shift(*place);
            for (int& from : block.from) shift(from);
        }
        for (LoopOperation& loop : code_.loops) {
            for (int& from : loop.from) shift(from);
            for (int& to : loop.to) shift(to);
        }
    }

    ScalarList list_;
    BlockRows blocks_;
    std::vector<int> order_;
    std::vector<char> needs_row_;
    std::vector<int> last_use_, place_, has_result_;
    std::vector<int> first_;      // (block)
    std::vector<int> spread_of_;  // (shared number): its row of scratch
    std::vector<int> free_;
    int num_scratch_ = 0;
    ProgramCode code_;
};

}  // namespace
}  // namespace detail

ProgramCode row_code(const Graph& graph, const RowRoles& roles) {
    return detail::Placer(detail::write_out(graph, roles)).run();
}

}  // namespace eddy::inline v0
