#pragma once
// The operations that a program is made of. What each computes, rounds and differentiates to is in
// docs/design/semantics.md; the arithmetic itself is in trace/apply.hpp, the derivatives in
// ad/rules/.
// Test: tests/trace/print.cpp, tests/trace/random_passes.cpp

namespace eddy::inline v0 {

enum class Op : unsigned char {
    // Leaves.
    argument,  // components [offset, offset + size) of argument `index`
    constant,  // `size` numbers from the constant pool at `offset`
    // Elementwise arithmetic; operands of size 1 are broadcast.
    add,
    sub,
    mul,
    div,
    neg,
    fma,          // a·b + c with one rounding
    mul_add,      // a·b + c, contracted
    mul_sub,      // a·b − c, contracted
    neg_mul_add,  // c − a·b, contracted
    // Elementwise functions.
    pow,
    powi,  // x^y; x^index by repeated multiplication
    sqrt,
    cbrt,
    exp,
    expm1,
    log,
    log1p,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    atan2,
    sinh,
    cosh,
    tanh,
    erf,
    erfc,
    erfcx,
    log_erfc,
    lgamma,
    digamma,
    polygamma,  // the derivative of order `index` of digamma
    abs,
    min,
    max,
    sign,
    floor,
    sigmoid,
    softplus,
    relu,
    // Masks.
    less,
    less_equal,
    equal,
    mask_and,
    mask_or,
    mask_not,
    select,  // (mask, a, b): a where the mask holds, else b
    // Identities that speak to transformations only.
    stop_gradient,  // no derivative flows through
    name,           // tags its operand with name `index`
    own,            // its first operand, with a derivative of its own (ad/custom.hpp)
    barrier,        // separates a recomputation from the original, and is never merged
    // Vectors.
    slice,      // components [offset, offset + size)
    concat,     // all operands, one after another
    broadcast,  // a scalar, `size` times
    sum,
    dot,
    norm,
    dense,             // (W, x) or (W, x, b): W x + b, W row-major size × |x|
    dense_transposed,  // (W, c): Wᵀ c
    outer,             // (u, v): u vᵀ, row-major
    solve,             // (A, b): x with A x = b, A row-major |b| × |b|
    solve_transposed,  // (A, b): x with Aᵀ x = b
    root,  // (x, seed, r, J): x, which solves r = 0; r and its Jacobian J are computed from
           // `seed`, which stands for x: they are read for derivatives only (ad/root.hpp)
    // Tables (trace/tables.hpp). Places are rounded down.
    at,      // (x, i): components i, i + 1, … of x; NaN where there is none
    add_at,  // (x, i, c): x with c added to components i, i + 1, …, where they are
    knot,    // (knots, x): the last of the increasing knots that is not above x, neither the last
             // one nor below the first. index 1: the knots are about evenly spaced
    // Loops (trace/loop_structure.hpp): `index` is the place in Graph::loops.
    carry,    // leaf: the state at the start of a turn
    element,  // (xs): components [t·size, (t+1)·size) of xs in turn t
    loop,     // (carry, init, next, [mask,] [turns,] y…): the state after the last turn
    turns,    // (loop): how many turns were taken
    stacked,  // (loop, y): y of every turn, one after another; zero where a turn was not taken.
              // offset 1: read only for turns that were taken
};

inline constexpr Op last_op = Op::stacked;

/// The name of an operation in printed programs.
[[nodiscard]] constexpr const char* name(Op op) {
    constexpr const char* names[] = {"argument",      "constant",    "add",
                                     "sub",           "mul",         "div",
                                     "neg",           "fma",         "mul_add",
                                     "mul_sub",       "neg_mul_add", "pow",
                                     "powi",          "sqrt",        "cbrt",
                                     "exp",           "expm1",       "log",
                                     "log1p",         "sin",         "cos",
                                     "tan",           "asin",        "acos",
                                     "atan",          "atan2",       "sinh",
                                     "cosh",          "tanh",        "erf",
                                     "erfc",          "erfcx",       "log_erfc",
                                     "lgamma",        "digamma",     "polygamma",
                                     "abs",           "min",         "max",
                                     "sign",          "floor",       "sigmoid",
                                     "softplus",      "relu",        "less",
                                     "less_equal",    "equal",       "mask_and",
                                     "mask_or",       "mask_not",    "select",
                                     "stop_gradient", "name",        "own",
                                     "barrier",       "slice",       "concat",
                                     "broadcast",     "sum",         "dot",
                                     "norm",          "dense",       "dense_transposed",
                                     "outer",         "solve",       "solve_transposed",
                                     "root",          "at",          "add_at",
                                     "knot",          "carry",       "element",
                                     "loop",          "turns",       "stacked"};
    static_assert(sizeof(names) / sizeof(names[0]) == static_cast<unsigned>(last_op) + 1);
    return names[static_cast<int>(op)];
}

/// Operations whose `index` is a number that they compute with.
[[nodiscard]] constexpr bool has_index(Op op) { return op == Op::powi || op == Op::polygamma; }

/// Operations whose `offset` says which components they are of.
[[nodiscard]] constexpr bool has_offset(Op op) {
    return op == Op::argument || op == Op::constant || op == Op::slice || op == Op::stacked;
}

/// Operations that belong to a loop.
[[nodiscard]] constexpr bool is_loop_op(Op op) { return op >= Op::carry; }

/// Operations on a vector at a place that is computed.
[[nodiscard]] constexpr bool is_table_op(Op op) { return op >= Op::at && op <= Op::knot; }

/// Operations computed component by component, masks included.
[[nodiscard]] constexpr bool is_elementwise(Op op) { return op >= Op::add && op <= Op::barrier; }

/// Operations whose value is its operand.
[[nodiscard]] constexpr bool is_identity(Op op) {
    return op >= Op::stop_gradient && op <= Op::barrier;
}

/// Operations on numbers whose derivative is zero everywhere.
[[nodiscard]] constexpr bool is_locally_constant(Op op) {
    return op == Op::sign || op == Op::floor || op == Op::stop_gradient || op == Op::constant ||
           op == Op::turns || op == Op::knot;
}

/// Operations that cost more than reading what they computed.
[[nodiscard]] constexpr bool is_dear(Op op) {
    return op == Op::div || (op >= Op::pow && op <= Op::polygamma && op != Op::powi) ||
           op == Op::sigmoid || op == Op::softplus || op == Op::dot || op == Op::norm ||
           op == Op::dense || op == Op::dense_transposed;
}

/// Operations whose result is a mask.
[[nodiscard]] constexpr bool is_mask(Op op) { return op >= Op::less && op <= Op::mask_not; }

/// The number of operands of an elementwise operation.
[[nodiscard]] constexpr int operand_count(Op op) {
    if (op == Op::fma || op == Op::mul_add || op == Op::mul_sub || op == Op::neg_mul_add ||
        op == Op::select)
        return 3;
    const bool is_binary = op == Op::add || op == Op::sub || op == Op::mul || op == Op::div ||
                           op == Op::pow || op == Op::atan2 || op == Op::min || op == Op::max ||
                           op == Op::less || op == Op::less_equal || op == Op::equal ||
                           op == Op::mask_and || op == Op::mask_or;
    return is_binary ? 2 : 1;
}

/// Operations whose two operands may be swapped without changing a bit of the result.
[[nodiscard]] constexpr bool is_commutative(Op op) {
    return op == Op::add || op == Op::mul || op == Op::equal || op == Op::mask_and ||
           op == Op::mask_or || op == Op::dot;
}

}  // namespace eddy::inline v0
