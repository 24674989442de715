#pragma once
// The parameters that a call is given: of each trajectory, or shared by all.
// Test: tests/solve/arrays.cpp

#include <eddy/solve/ask/ensemble_array.hpp>

namespace eddy::inline v0::detail {

template <class Parameters>
inline constexpr bool is_shared = false;
template <class Real, class Memory>
inline constexpr bool is_shared<SharedParameters<Real, Memory>> = true;

/// Parameters that lie in a table (ask/parameter_table.hpp), and so are no array.
template <class Parameters>
concept HasTable = requires {
    typename Parameters::has_table;
};

template <class Real, class Memory>
[[nodiscard]] EnsembleView<const Real> parameter_view(const SharedParameters<Real, Memory>& p) {
    return p.values;
}
template <class Array>
[[nodiscard]] auto parameter_view(const Array& p) {
    return ensemble_view(p);
}
template <HasTable Parameters>
[[nodiscard]] EnsembleView<const typename Parameters::Scalar> parameter_view(const Parameters&) {
    return {};
}
template <class Parameters>
using ParameterScalarOf =
    typename decltype(parameter_view(std::declval<const Parameters&>()))::Scalar;

}  // namespace eddy::inline v0::detail
