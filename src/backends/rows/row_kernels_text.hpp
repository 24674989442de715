#pragma once
// The text of the kernels over rows, for one level of instructions: a source includes row_kernels.hpp, defines v0
// as a word of its own and includes this. All of eddy that it uses is then under that name, so that no function of
// it is taken for that of another level: what is not inlined would else be compiled for one processor and called on
// another. What is under eddy's own name are the plain numbers that cross over.

#include "row_times_text.hpp"

namespace eddy::inline v0::detail {
namespace {

template <class Real>
constexpr Kernels<Real> kernels{{choose_sizes, judge, judge_constant, combine_norms},
                                sum_rows<Real>,
                                two_sums<Real>,
                                add_rows<Real>,
                                choose_rows<Real>,
                                add_chosen_rows<Real>,
                                squared_norms<Real>,
                                tangents_beyond<Real>,
                                finite_sums<Real>,
                                dense_weights<Real>,
                                add_column<Real>,
                                stage_times<Real>,
                                first_times<Real>,
                                first_trial<Real>,
                                first_size<Real>};

}  // namespace
}  // namespace eddy::inline v0::detail
