#pragma once
// From what a call is given to the types that it is solved with.
// Test: tests/solve/solver_objects.cpp

#include <eddy/solve/ask/check_call.hpp>
#include <eddy/solve/lane/solve_spec.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// What the lanes of a backend keep time in: double, or what it says.
template <class Backend, class Primal>
struct TimeOnBackend {
    using type = eddy::WithElement<Primal, double>;
};
template <class Backend, class Primal>
requires is_of_device<Backend>
struct TimeOnBackend<Backend, Primal> {
    using type = typename Backend::template Time<Primal>;
};

/// The types of a call on a backend with these arrays; `dual`: along tangents.
template <class Backend, class Field, class Method, class Controller, class Y0, class Parameters,
          bool dual, class Plain = typename Backend::template Lanes<EnsembleScalarOf<Y0>>>
using SpecOfCall =
    SolveSpec<Field, Method, Controller, std::conditional_t<dual, Dual<Plain>, Plain>,
              is_shared<Parameters>, typename TimeOnBackend<Backend, Plain>::type>;

}  // namespace eddy::inline v0::detail
