#pragma once
// The arrays that a call was given to write into, checked against what it will write: their shapes,
// and that they overlap nothing that the call reads or writes.

#include <eddy/core/error.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/outputs.hpp>
#include <eddy/solve/ask/overlap.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/lane/problem.hpp>
#include <vector>

namespace eddy::inline v0::detail {

template <class Y0, class Real>
consteval bool check_outputs() {
    if constexpr (is_ensemble_array<Y0>) {
        constexpr bool same = std::is_same_v<EnsembleScalarOf<Y0>, Real>;
        static_assert(same, "outputs: the arrays to write into must hold the type of number of y0");
        return same;
    }
    return true;  // of y0 something else is said
}

template <class Real>
void fill(const EnsembleView<Real>& view, Real value) {
    for (std::ptrdiff_t i = 0; i < view.num_components; ++i) {
        for (std::ptrdiff_t lane = 0; lane < view.num_lanes; ++lane) view(lane, i) = value;
    }
}

/// The same where the memory is that of the host. On a device whoever launches fills what is written.
template <class Memory, class Real>
void fill_here(const Memory& memory, const EnsembleView<Real>& view, Real value) {
    if (!lies_in(memory, view.first)) fill(view, value);
}

/// Arrays lie where their types say.
template <class Memory, class Real>
void require_place([[maybe_unused]] const Memory& memory, const EnsembleView<Real>& view,
                   bool lies_on_host, const char* name, const char* where) {
    if (lies_on_host || view.num_lanes * view.num_components == 0) return;
    if constexpr (is_of_host<Memory>)
        require_argument(
            lies_on_host,
            "{}: the array to write {} into lies on a device, but the call computes on "
            "the host; give one that lies there",
            where, name);
    else
        require_argument(
            memory.holds(view.first),
            "{}: the array to write {} into does not lie in {}, as its type says; give "
            "one that does",
            where, name, Memory::name);
}

/// What a call reads.
template <class Spec>
void add_inputs(CallArrays& arrays, const Problem<Spec>& problem) {
    arrays.add_input(problem.y0, "y0");
    arrays.add_input(problem.p, "p");
    if (problem.y0_tangent.first) arrays.add_input(problem.y0_tangent, "the tangent of y0");
    if (problem.p_tangent.first) arrays.add_input(problem.p_tangent, "the tangent of p");
}

/// A vector of one number per lane is a column.
template <class Real>
[[nodiscard]] EnsembleView<Real> shaped(const EnsembleView<Real>& view, const ArrayShape& wanted) {
    if (wanted.cols != 1 || view.num_lanes != 1) return view;
    return {view.first, view.num_components, 1, view.component_stride, 0};
}

/// One array for each save point; none where none were given.
template <class Real, class Memory>
void collect_outputs(std::vector<EnsembleView<Real>>& views, const OutputArrays<Real>& given,
                     const Memory& memory, std::size_t num_saves, const ArrayShape& wanted,
                     const char* name, const char* where, CallArrays& arrays) {
    if (!given.is_given()) return;
    require_argument(
        given.size() == num_saves,
        "{}: {} arrays to write {} into, but there are {} save points; give a list with "
        "one for each",
        where, given.size(), name, num_saves);
    for (std::size_t k = 0; k < num_saves; ++k) {
        views.push_back(shaped(given[k], wanted));
        require_shape(array_shape(views.back()), wanted, name, where);
        require_place(memory, views.back(), given.is_of_host(), name, where);
        arrays.add_output(views.back(), name, num_saves == 1 ? -1 : static_cast<std::ptrdiff_t>(k));
    }
}

template <class Real>
[[nodiscard]] bool gives_any(const SolutionInto<Real>& into) {
    return into.y.is_given() || into.tangent.is_given() || into.variance.is_given();
}
/// Are all arrays for a solution asked for, and those that a call which returns early wants?
template <class Memory, class Real>
void require_solution_outputs(const SolutionInto<Real>& into, bool returns_early, bool is_dual,
                              bool has_paths, const char* where) {
    const auto is_there = [](const OutputArrays<Real>& list, bool is_wanted) {
        return list.is_given() == is_wanted && !(is_wanted && list.is_of_host());
    };
    require_argument(!returns_early || (is_there(into.y, true) && is_there(into.tangent, is_dual) &&
                                        is_there(into.variance, has_paths)),
                     "{}: an asynchronous call returns before there is a solution; give "
                     "solver(y0, p, SolutionInto{{.y = …{}}}) arrays of {} to write it into",
                     where, has_paths ? ", .variance = …" : "", memory_name<Memory>);
    require_argument(is_dual || !into.tangent.is_given(),
                     "{}: there is an array for tangents, but a solve has none; leave it out, or "
                     "give tangents of y0 and p",
                     where);
    require_argument(has_paths || !into.variance.is_given(),
                     "{}: there is an array for variances, but each lane is one path; leave it "
                     "out, or set .paths",
                     where);
}

template <class Real, class Memory>
void require_output(const OutputArray<Real>& given, const Memory& memory, const ArrayShape& wanted,
                    const char* name, const char* where, CallArrays& arrays) {
    if (!given.is_given()) return;
    const EnsembleView<Real> view = shaped(given.view(), wanted);
    require_shape(array_shape(view), wanted, name, where);
    require_place(memory, view, given.is_of_host(), name, where);
    arrays.add_output(view, name);
}

/// Zeros, in the array that was given, else in the result's own.
template <class Real, class Memory>
[[nodiscard]] EnsembleView<Real> open_output(const OutputArray<Real>& given, const Memory& memory,
                                             EnsembleArray<Real>& own, const ArrayShape& shape) {
    if (!given.is_given()) {
        own.assign(shape.rows, shape.cols, Real(0));
        return own.view();
    }
    own.assign(0, 0, Real(0));
    const EnsembleView<Real> view = shaped(given.view(), shape);
    fill_here(memory, view, Real(0));
    return view;
}

}  // namespace eddy::inline v0::detail
