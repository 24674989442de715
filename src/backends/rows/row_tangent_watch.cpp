// The tangents of a tile on their way forward, watched (group/tangent_watch.hpp): a lane is marked at the first accepted step
// whose error in a tangent is beyond its limit. Nothing that is computed changes.
// Test: tests/backends/row_tangent_watch.cpp

#include <eddy/core/math.hpp>
#include <eddy/solve/lane/tangent_tolerance.hpp>
#include "row_solve.hpp"

namespace eddy::inline v0::detail {
namespace {

/// The error of a tangent, a column of rows, in units of its tolerances.
template <class Real>
Real ratio_of(const Real* error, Real size, const Real* next, row_kernels::Shape shape,
              const row_kernels::Tolerances<Real>& by) {
    Real of_tangent = 0, largest = 0;
    for (int c = 0; c < shape.size; ++c) of_tangent = max(of_tangent, abs(next[c * shape.width]));
    const TangentTolerance allowed(by, of_tangent, 1);
    for (int c = 0; c < shape.size; ++c)
        largest = max(largest, abs(size * error[c * shape.width]) / allowed(c));
    return largest;
}

}  // namespace

template <class Real>
void RowSolve<Real>::watch_tangents() {
    const row_kernels::Shape shape = step_.own_shape();
    const Real* const errors = step_.tangent_errors();
    const Real* const sizes = step_.error_sizes();
    alignas(64) Real is_beyond[row_kernels::widest];
    for (int d = 0; d < problem_->num_tangents; ++d) {
        const Real* const error = errors + d * step_.own_block();
        const Real* const next = step_.next() + (d + 1) * step_.own_block();
        if (!step_.kernels().tangents_beyond(is_beyond, error, next, shape, sizes,
                                             problem_->tolerances))
            continue;
        for (int place = 0; place < shape.width; ++place) {
            if (is_beyond[place] == 0 || !is_running(place) || !clocks_.was_accepted(place))
                continue;
            TangentMark& mark =
                problem_->tangent_marks[(first_ + lane_[place]) * problem_->marks_of_lane + d];
            if (mark) continue;
            const Real ratio =
                ratio_of(error + place, sizes[place], next + place, shape, problem_->tolerances);
            mark = {times(place).t0 + problem_->times.direction * clocks_.rows().before[place],
                    static_cast<float>(ratio)};
        }
    }
}

template void RowSolve<double>::watch_tangents();
template void RowSolve<float>::watch_tangents();

}  // namespace eddy::inline v0::detail
