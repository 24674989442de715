#pragma once
// How long a program may be. A program is straight-line code: one that is written component by component grows
// with its components, and compilers need memory and time for every operation until a machine has no more.
//
// Measured with the Brusselator on a line, -O2: g++ 12 takes 1.5 GB for `solve` with a right-hand side of
// 3,008 operations, 4.2 GB for 7,508 and more than 6 GB for 15,008; for the gradient 1.8 GB where the
// vector-Jacobian product has 2,915 operations and 2.5 GB for 5,815. clang 14 takes 1.2 GB and three minutes for
// 15,008.
// Test: tests/compile_fail/program_too_long.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/trace/program.hpp>

namespace eddy::inline v0::detail {

/// Instructions that a program becomes, about: a loop counts as eight.
template <class P>
inline constexpr int program_length = [] {
    int length = 0;
    for (const Node& node : P::code.nodes) length += node.size <= longest_unrolled ? node.size : 8;
    return length;
}();

#if defined(EDDY_LARGEST_PROGRAM)
inline constexpr int largest_program = EDDY_LARGEST_PROGRAM;
#elif defined(__clang__)
inline constexpr int largest_program = 20'000;
#else
inline constexpr int largest_program = 9'000;
#endif

/// Says so before code is emitted for a program that is too long; true for all others.
template <class P>
consteval bool check_length() {
    constexpr int operations = program_length<P>;
    static_assert(operations <= largest_program,
                  "evaluate: this program has more operations than compilers have memory for "
                  "(9,000 by g++, 20,000 by clang); write vector operations instead of components "
                  "(slice, concat, dense, y * y), loop over cells in a CheckpointedLoop, or raise "
                  "the limit by "
                  "-DEDDY_LARGEST_PROGRAM=<operations>");
    return operations <= largest_program;
}

}  // namespace eddy::inline v0::detail
