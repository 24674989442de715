#pragma once
// What the engines of all levels and the lists that they walk have in common.

#include <cstddef>
#include <eddy/trace/rows/row_program.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Operations whose operands and results may stay in registers. All others are functions: rows to rows.
[[nodiscard]] constexpr bool is_row_arithmetic(Op op) {
    return op == Op::add || op == Op::sub || op == Op::mul || op == Op::div || op == Op::neg ||
           op == Op::mul_add || op == Op::mul_sub || op == Op::neg_mul_add || op == Op::name;
}
[[nodiscard]] constexpr int row_operand_count(Op op) {
    return op == Op::name ? 1 : operand_count(op);
}

/// Is there a handler for these operands? Those that a commutative operation takes in either order are
/// given in one: the last result, rows, shared numbers. At most one operand is the last result, but for
/// squares; not all are shared.
[[nodiscard]] constexpr bool has_row_handler(Op op, const RowOperand (&kind)[3]) {
    using enum RowOperand;
    const auto rank = [&](int k) { return kind[k] == last ? 0 : kind[k] == row ? 1 : 2; };
    const int count = row_operand_count(op);
    for (int k = count; k < 3; ++k) {
        if (kind[k] != row) return false;
    }
    if (op == Op::name) return true;
    if (count == 1) return kind[0] != shared;
    const bool is_square = kind[0] == last && kind[1] == last;
    const bool swaps = op == Op::add || op == Op::mul || count == 3;
    if (kind[0] == shared && kind[1] == shared) return false;
    if (swaps && rank(1) < rank(0)) return false;
    if (is_square && !swaps) return false;
    return count < 3 || kind[2] != last || (kind[0] != last && kind[1] != last);
}

/// Handlers by number: arithmetic with its operands, then functions by operation.
inline constexpr Op row_arithmetic[] = {Op::add,     Op::sub,     Op::mul,         Op::div, Op::neg,
                                        Op::mul_add, Op::mul_sub, Op::neg_mul_add, Op::name};
inline constexpr int num_row_arithmetic = 9 * 54;
inline constexpr int num_row_handlers = num_row_arithmetic + static_cast<int>(Op::select) + 1;

[[nodiscard]] constexpr int row_handler(Op op, const RowOperand (&kind)[3], bool is_stored) {
    if (!is_row_arithmetic(op)) return num_row_arithmetic + static_cast<int>(op);
    int place = 0;
    while (row_arithmetic[place] != op) ++place;
    for (const RowOperand k : kind) place = 3 * place + static_cast<int>(k);
    return 2 * place + is_stored;
}

/// Operations on blocks of rows of a width, for all lanes. `lanes`: those that sums are over, `count` of them.
template <class Real>
struct RowBlockKernels {
    void (*multiply)(const Real* matrix, int row_step, int column_step, int rows, int columns,
                     const Real* bias, const Real* x, Real* to, int width);
    /// `lanes`: SummedLanes; `room`: room_of_outer numbers, which stay from the first evaluation to the last.
    void (*add_outer)(Real* sum, int rows, int columns, const Real* u, const Real* v, int width,
                      const void* lanes, Real* room);
    void (*add_lanes)(Real* sum, int size, const Real* x, int width, const int* lanes, int count);
};
/// Numbers that add_outer works in, for the lanes of all evaluations that it adds at once.
[[nodiscard]] constexpr int room_of_outer(int rows, int columns, int num_lanes) {
    return (rows + columns + 16) * ((num_lanes + 15) / 16 * 16);
}

/// Evaluations whose lanes are laid side by side, of so many: as few as make up `deep` lanes, in groups
/// as even as may be. Those of a wide tile stay alone, so that one side is read where it lies: what is saved of
/// loads and stores of the sum its copy would take.
[[nodiscard]] constexpr int outer_depth(int num_evaluations, int width) {
    constexpr int wide = 64;
    constexpr int deep = 384;  // where the sum no longer counts, and both sides stay near
    if (width >= wide) return 1;
    const int wanted = (deep + width - 1) / width;
    const int groups = (num_evaluations + wanted - 1) / wanted;
    return (num_evaluations + groups - 1) / groups;
}

/// What walks a list over rows of a width. Each level has names of its own for its types: what crosses over
/// is pointers to plain memory.
template <class Real>
struct RowEngine {
    int lanes;  // of one walk: rows may be wider
    void (*const* handlers)();
    void (*stop)();
    void (*walk)(const void* list, Real* const* rows, std::ptrdiff_t lane);
    const RowBlockKernels<Real>* blocks;
    /// (operation): a function of `num_rows` rows that follow each other, `lanes` of each; of one lane they are one row.
    /// Null: an operation that is none.
    using Function = void (*)(const void* instruction, Real* const* rows, std::ptrdiff_t lane,
                              int lanes, std::uint32_t num_rows);
    const Function* functions;
};

// Of each level, in double or single precision; null where this build has none. Their types are the same in all.
extern "C" {
const void* eddy_row_engine_plain(int width, bool is_single);
const void* eddy_row_engine_fused(int width, bool is_single);
/// Of the fused level's handlers those of functions, else null, and operations on blocks, by vectors of 64 bytes.
const void* eddy_row_engine_wide(int width, bool is_single);
/// The same of the plain level's, by vectors of 32 bytes.
const void* eddy_row_engine_plain_wide(int width, bool is_single);
}

/// The engine of a level. Where this build lacks it, a processor of fewer instructions.
template <class Real>
const RowEngine<Real>* find_engine(RowLevel level, int width) {
    constexpr bool is_single = std::is_same_v<Real, float>;
    const void* engine = nullptr;
    if (level == RowLevel::fused) engine = eddy_row_engine_fused(width, is_single);
    if (engine == nullptr) engine = eddy_row_engine_plain(width, is_single);
    return static_cast<const RowEngine<Real>*>(engine);
}
/// What wider vectors do in its place; or null.
template <class Real>
const RowEngine<Real>* find_wide_engine(RowLevel level, int width) {
    constexpr bool is_single = std::is_same_v<Real, float>;
    const void* engine = nullptr;
    if (level == RowLevel::fused && has_wide_vectors())
        engine = eddy_row_engine_wide(width, is_single);
#ifndef __AVX__  // else vectors of the plain level have 32 bytes themselves
    if (level == RowLevel::plain && has_vectors_of_32_bytes())
        engine = eddy_row_engine_plain_wide(width, is_single);
#endif
    return static_cast<const RowEngine<Real>*>(engine);
}

}  // namespace eddy::inline v0::detail
