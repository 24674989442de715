#include <eddy/core/error.hpp>
#include <eddy/solve/call/given_outputs.hpp>

namespace eddy::inline v0::detail {

namespace {

/// Arrays lie where their types say.
template <class Real>
void require_place(const AnyMemory& memory, const EnsembleView<Real>& view, bool lies_on_host,
                   const char* name, const char* where) {
    if (lies_on_host || view.num_lanes * view.num_components == 0) return;
    require_argument(!memory.is_of_host,
                     "{}: the array to write {} into lies on a device, but the call computes on "
                     "the host; give one that lies there",
                     where, name);
    require_argument(memory.holds(view.first),
                     "{}: the array to write {} into does not lie in {}, as its type says; give "
                     "one that does",
                     where, name, memory.name);
}

}  // namespace

template <class Real>
void fill_here(const AnyMemory& memory, const EnsembleView<Real>& view, Real value) {
    if (memory.lies_in(view.first)) return;
    for (std::ptrdiff_t i = 0; i < view.num_components; ++i) {
        for (std::ptrdiff_t lane = 0; lane < view.num_lanes; ++lane) view(lane, i) = value;
    }
}

template <class Real>
void require_output(const OutputArray<Real>& given, const AnyMemory& memory,
                    const ArrayShape& wanted, const char* name, const char* where,
                    CallArrays& arrays) {
    if (!given.is_given()) return;
    const EnsembleView<Real> view = shaped(given.view(), wanted);
    require_shape(array_shape(view), wanted, name, where);
    require_place(memory, view, given.is_of_host(), name, where);
    arrays.add_output(view, name);
}

template <class Real>
void collect_outputs(std::vector<EnsembleView<Real>>& views, const OutputArrays<Real>& given,
                     const AnyMemory& memory, std::size_t num_saves, const ArrayShape& wanted,
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
void require_solution_outputs(const SolutionInto<Real>& into, const AnyMemory& memory, bool is_dual,
                              bool has_paths, const char* where) {
    const auto is_there = [](const OutputArrays<Real>& list, bool is_wanted) {
        return list.is_given() == is_wanted && !(is_wanted && list.is_of_host());
    };
    require_argument(
        !memory.returns_early || (is_there(into.y, true) && is_there(into.tangent, is_dual) &&
                                  is_there(into.variance, has_paths)),
        "{}: an asynchronous call returns before there is a solution; give "
        "solver(y0, p, SolutionInto{{.y = …{}}}) arrays of {} to write it into",
        where, has_paths ? ", .variance = …" : "", memory.name);
    require_argument(is_dual || !into.tangent.is_given(),
                     "{}: there is an array for tangents, but a solve has none; leave it out, or "
                     "give tangents of y0 and p",
                     where);
    require_argument(
        has_paths || !into.variance.is_given(),
        "{}: there is an array for variances, but each trajectory is one path; leave it "
        "out, or set .paths",
        where);
}

template <class Real>
EnsembleView<Real> open_output(const OutputArray<Real>& given, const AnyMemory& memory,
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

template void fill_here(const AnyMemory&, const EnsembleView<float>&, float);
template decltype(require_output<float>) require_output<float>;
template decltype(collect_outputs<float>) collect_outputs<float>;
template decltype(require_solution_outputs<float>) require_solution_outputs<float>;
template decltype(open_output<float>) open_output<float>;
template void fill_here(const AnyMemory&, const EnsembleView<double>&, double);
template decltype(require_output<double>) require_output<double>;
template decltype(collect_outputs<double>) collect_outputs<double>;
template decltype(require_solution_outputs<double>) require_solution_outputs<double>;
template decltype(open_output<double>) open_output<double>;

}  // namespace eddy::inline v0::detail
