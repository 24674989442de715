#include <eddy/core/error.hpp>
#include <eddy/solve/call/gradient_outputs.hpp>

namespace eddy::inline v0::detail {

namespace {

template <class Real>
bool gives_times(const GradientInto<Real>& into) {
    return into.t0.is_given() || into.t1.is_given() || into.save_at.is_given();
}

}  // namespace

template <class Real>
bool gives_any(const GradientInto<Real>& into) {
    return gives_times(into) || into.y0.is_given() || into.p.is_given() || into.loss.is_given();
}

template <class Real>
void require_gradient_outputs(const GradientInto<Real>& into, const AnyMemory& memory,
                              const GradientShapes& shapes, CallArrays& arrays, const char* where) {
    require_argument(shapes.with_times || !gives_times(into),
                     "{}: there is an array for derivatives with respect to times, but they are "
                     "not computed; leave it out, or add eddy::differentiate_times",
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

template <class Real>
void require_all_there(const GradientInto<Real>& into, const AnyMemory& memory, bool has_p,
                       bool has_loss, bool with_times, const char* where) {
    const auto is_there = [](const OutputArray<Real>& array, bool is_wanted) {
        return !is_wanted || (array.is_given() && !array.is_of_host());
    };
    require_argument(
        is_there(into.y0, true) && is_there(into.p, has_p) && is_there(into.loss, has_loss),
        "{}: an asynchronous call returns before there is a gradient; give GradientInto arrays of "
        "{} to write it into: {}",
        where, memory.name,
        has_loss ? (has_p ? ".y0, .p and .loss" : ".y0 and .loss")
                 : (has_p ? ".y0 and .p" : ".y0"));
    require_argument(
        is_there(into.t0, with_times) && is_there(into.t1, with_times) &&
            is_there(into.save_at, with_times),
        "{}: an asynchronous call returns before there are derivatives with respect to times; give "
        "GradientInto arrays of {}: .t0, .t1 and .save_at",
        where, memory.name);
}

template bool gives_any(const GradientInto<float>&);
template decltype(require_gradient_outputs<float>) require_gradient_outputs<float>;
template decltype(require_all_there<float>) require_all_there<float>;
template bool gives_any(const GradientInto<double>&);
template decltype(require_gradient_outputs<double>) require_gradient_outputs<double>;
template decltype(require_all_there<double>) require_all_there<double>;

}  // namespace eddy::inline v0::detail
