#pragma once
// The arrays that a call was given to write into, checked against what it will write: their shapes,
// and that they overlap nothing that the call reads or writes. Of float and double, in src/.
// Test: tests/solve/outputs.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
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

/// The memory that a call computes in, whatever its type is; refers to it.
class AnyMemory {
  public:
    const char* name;  // for messages
    bool is_of_host, returns_early;

    template <class Memory>
    AnyMemory(const Memory& of_call)
        : name(memory_name<Memory>),
          is_of_host(detail::is_of_host<Memory>),
          returns_early(detail::returns_early(of_call)),
          memory_(&of_call),
          holds_([](const void* memory, const void* first) {
              return static_cast<const Memory*>(memory)->holds(first);
          }),
          lies_in_([](const void* memory, const void* first) {
              return detail::lies_in(*static_cast<const Memory*>(memory), first);
          }) {}

    /// On a device: is this an address there?
    [[nodiscard]] bool holds(const void* first) const { return holds_(memory_, first); }
    /// Must numbers at this address be read by way of the memory?
    [[nodiscard]] bool lies_in(const void* first) const { return lies_in_(memory_, first); }

  private:
    using Asks = bool (*)(const void* memory, const void* first);

    const void* memory_;
    Asks holds_, lies_in_;
};

/// Fills an array of the host with one value. An array on a device is filled by the launch that writes it.
template <class Real>
EDDY_EXPORT void fill_here(const AnyMemory& memory, const EnsembleView<Real>& view, Real value);

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

/// One array, if it was given: `arrays` are those that the call reads, and takes it among them.
template <class Real>
EDDY_EXPORT void require_output(const OutputArray<Real>& given, const AnyMemory& memory,
                                const ArrayShape& wanted, const char* name, const char* where,
                                CallArrays& arrays);
/// One array for each save point; none where none were given.
template <class Real>
EDDY_EXPORT void collect_outputs(std::vector<EnsembleView<Real>>& views,
                                 const OutputArrays<Real>& given, const AnyMemory& memory,
                                 std::size_t num_saves, const ArrayShape& wanted, const char* name,
                                 const char* where, CallArrays& arrays);

template <class Real>
[[nodiscard]] bool gives_any(const SolutionInto<Real>& into) {
    return into.y.is_given() || into.tangent.is_given() || into.variance.is_given();
}
/// Are all arrays for a solution asked for, and those that a call which returns early wants?
template <class Real>
EDDY_EXPORT void require_solution_outputs(const SolutionInto<Real>& into, const AnyMemory& memory,
                                          bool is_dual, bool has_paths, const char* where);

/// Zeros, in the array that was given, else in the result's own.
template <class Real>
[[nodiscard]] EDDY_EXPORT EnsembleView<Real> open_output(const OutputArray<Real>& given,
                                                         const AnyMemory& memory,
                                                         EnsembleArray<Real>& own,
                                                         const ArrayShape& shape);

}  // namespace eddy::inline v0::detail
