#pragma once
// The text of the kernels over rows, for one level of instructions: a source includes row_kernels.hpp, defines v0
// as a word of its own and includes this. All of eddy that it uses is then under that name, so that no function of
// it is taken for that of another level: what is not inlined would else be compiled for one processor and called on
// another. What is under eddy's own name are the plain numbers that cross over.

#include "row_times_text.hpp"

namespace eddy::inline v0::detail {
namespace {

constexpr Kernels kernels{sum_rows,       two_sums,      add_rows,    choose_rows,
                          squared_norms,  combine_norms, finite_sums, dense_weights,
                          add_column,     choose_sizes,  stage_times, judge,
                          judge_constant, first_times,   first_trial, first_size};

}  // namespace
}  // namespace eddy::inline v0::detail
