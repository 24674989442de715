#pragma once
// Which part of a field a diagonally implicit method takes implicitly. A field given in two parts,
// stiff(t, y, p) and non_stiff(t, y, p), is taken apart by methods with a table for each; others take the
// sum.
// Test: tests/steppers/imex.cpp

#include <eddy/steppers/esdirk_tableau.hpp>
#include <eddy/trace/field_parts.hpp>

namespace eddy::inline v0 {

template <class Field, class Method>
inline constexpr bool splits_field = ImexMethod<Method>&& detail::is_split<Field>;

template <class Field, class Method>
using ImplicitPart =
    std::conditional_t<splits_field<Field, Method>, detail::StiffPartOf<Field>, Field>;

}  // namespace eddy::inline v0
