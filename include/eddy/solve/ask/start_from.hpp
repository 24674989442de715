#pragma once
// Initial values that are a function of the parameters.
// Test: tests/solve/start_values.cpp

#include <cstddef>
#include <eddy/trace/trace.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// What `start_from` makes: stands where y0 stands.
template <class Function>
struct StartFrom {
    using is_start = Function;     ///< the function of the parameters
    std::ptrdiff_t num_lanes = 0;  ///< trajectories; 0: as many as the parameters have rows
};

/// Initial values y0 = function(p), or function(t0, p), of each trajectory: stands where y0 stands. Gradients with
/// respect to p, and to t0, include the derivatives of the function; `gradient.y0` is the gradient with respect to its
/// value. `num_lanes` says how many trajectories there are where all share their parameters.
template <class Function>
[[nodiscard]] StartFrom<Function> start_from(const Function&, std::ptrdiff_t num_lanes = 0) {
    constexpr bool has_no_state = detail::is_stateless<Function>;
    static_assert(has_no_state,
                  "start_from: the function must be an empty functor or a captureless lambda; pass "
                  "values as parameters");
    return {num_lanes};
}

namespace detail {

template <class Y0>
concept IsStart = requires {
    typename Y0::is_start;
};

/// The function as one of (t0, p).
template <class Function, int parameter_size>
struct StartOfTime {
    static constexpr bool takes_time = is_traceable<Function, Scalar, Vector<parameter_size>>;
    static constexpr bool takes_parameters = is_traceable<Function, Vector<parameter_size>>;

    constexpr auto operator()(auto t0, const auto& p) const {
        if constexpr (takes_time)
            return Function{}(t0, p);
        else
            return Function{}(p);
    }
};

/// The traced function, checked.
template <class Field, class Function>
consteval bool check_start() {
    using Start = StartOfTime<Function, Field::parameter_size>;
    constexpr bool callable = Start::takes_time || Start::takes_parameters;
    static_assert(callable,
                  "start_from: the function must be callable as start(p) or start(t0, p), with "
                  "arguments of any type: take them as auto and const auto&");
    if constexpr (callable) {
        using Traced = decltype(trace<Scalar, Vector<Field::parameter_size>>(Start{}));
        if constexpr (!std::is_void_v<Traced>) {
            constexpr bool fits = Traced::graph.outputs[0].size == Field::state_size;
            static_assert(fits,
                          "start_from: the function must return as many numbers as state_size");
            return fits;
        }
    }
    return false;
}
template <class Field, class Function>
using StartProgram = decltype(trace<Scalar, Vector<Field::parameter_size>>(
    StartOfTime<Function, Field::parameter_size>{}));

}  // namespace detail
}  // namespace eddy::inline v0
