#pragma once
// The caller's arrays that a gradient is to be written into: are they asked for, and of the right shape?

#include <eddy/solve/call/given_outputs.hpp>

namespace eddy::inline v0::detail {

struct GradientShapes {
    ArrayShape y0, p;
    std::ptrdiff_t num_save_times;
    bool with_times, has_loss;
};

template <class Real>
[[nodiscard]] bool gives_times(const GradientInto<Real>& into) {
    return into.t0.is_given() || into.t1.is_given() || into.save_at.is_given();
}
template <class Real>
[[nodiscard]] bool gives_any(const GradientInto<Real>& into) {
    return gives_times(into) || into.y0.is_given() || into.p.is_given() || into.loss.is_given();
}

/// `arrays` are those that the call reads.
template <class Real, class Memory>
void require_gradient_outputs(const GradientInto<Real>& into, const Memory& memory,
                              const GradientShapes& shapes, CallArrays& arrays, const char* where) {
    require_argument(shapes.with_times || !gives_times(into),
                     "{}: there is an array for derivatives with respect to times, but nobody "
                     "asked for them; leave it out, or add eddy::differentiate_times",
                     where);
    require_argument(shapes.has_loss || !into.loss.is_given(),
                     "{}: there is an array for the loss, but there is no loss; leave it out",
                     where);
    const auto require = [&](const OutputArray<Real>& array, const ArrayShape& shape,
                             const char* of) {
        require_output(array, memory, shape, of, where, arrays);
    };
    const std::ptrdiff_t lanes = shapes.y0.rows;
    require(into.y0, shapes.y0, "gradient.y0");
    require(into.p, shapes.p, "gradient.p");
    require(into.loss, {lanes, 1}, "loss");
    require(into.t0, {lanes, 1}, "gradient.t0");
    require(into.t1, {lanes, 1}, "gradient.t1");
    require(into.save_at, {lanes, shapes.num_save_times}, "gradient.save_at");
    arrays.require_apart(where);
}

}  // namespace eddy::inline v0::detail
