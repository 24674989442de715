#pragma once
// The checks of a call's arguments, before any work.
// Test: tests/solve/validation.cpp

#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/lane/impulse.hpp>
#include <eddy/steppers/controller/joint.hpp>
#include <eddy/steppers/controller/pid.hpp>
#include <eddy/steppers/controller/predictive.hpp>
#include <limits>
#include <span>
#include <string>

namespace eddy::inline v0::detail {

/// The type that errors are compared with tolerances in.
struct Precision {
    const char* type;
    double smallest_rtol;  // 0 where no error is estimated
    double largest;
};
/// Below four units in the last place a relative tolerance is no measure: a step rounds the state by
/// as much, and the error estimate is a difference of numbers that are rounded so.
template <class Scalar>
[[nodiscard]] constexpr Precision precision_of(bool is_adaptive) {
    using Limits = std::numeric_limits<Scalar>;
    return {sizeof(Scalar) == sizeof(float) ? "float" : "double",
            is_adaptive ? 4. * static_cast<double>(Limits::epsilon()) : 0.,
            static_cast<double>(Limits::max())};
}

/// Checks rtol and atol, which have `state_size` components.
EDDY_EXPORT void require_tolerances(const SolveOptions& options, int state_size,
                                    const Precision& precision, const char* where);

/// Checks that impulses change components that there are.
EDDY_EXPORT void require_impulses(std::span<const PlannedImpulse> impulses, int state_size,
                                  const char* where);

/// Coefficients that are numbers, a safety and a min_factor within (0, 1), a max_factor that is no
/// less than 1.
EDDY_EXPORT void require_valid(const PIDController& controller, const char* where);
EDDY_EXPORT void require_valid(const PredictiveController& controller, const char* where);
inline void require_valid(const JointController& joint, const char* where) {
    require_valid(joint.controller, where);
}
/// Any other controller, and a backend, may have a member require_valid(where) that checks it.
template <class Extra>
void require_valid(const Extra& extra, const char* where) {
    if constexpr (requires { extra.require_valid(where); }) extra.require_valid(where);
}

/// Checks a tolerance of Newton's method: above 0, and at most 1.
EDDY_EXPORT void require_newton_tolerance(double newton_tolerance, const char* where);
/// The run-time members of a method.
template <class Method>
void require_valid_method([[maybe_unused]] const Method& method,
                          [[maybe_unused]] const char* where) {
    if constexpr (requires { method.newton_tolerance; })
        require_newton_tolerance(method.newton_tolerance, where);
    else if constexpr (requires { method.require_valid(where); })
        method.require_valid(where);
}

struct ArrayShape {
    std::ptrdiff_t rows, cols;

    friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};
template <class Real>
[[nodiscard]] ArrayShape array_shape(const EnsembleView<Real>& array) {
    return {array.num_lanes, array.num_components};
}

/// "where: name is 3 x 1 (trajectory, component); give 3 x 2", and what else could be given.
EDDY_EXPORT void require_shape(const ArrayShape& got, const ArrayShape& wanted, const char* name,
                               const char* where, const char* alternative = "");

/// Checks the shape of initial values, whose number of rows is what they say: rows and columns may have
/// been taken for each other, or a vector for many trajectories.
EDDY_EXPORT void require_y0_shape(const ArrayShape& got, const ArrayShape& wanted,
                                  const char* where);

/// What an array is called in a message; one of several, for each save point, has a number.
struct ArrayName {
    const char* text;
    std::ptrdiff_t save_point = -1;
    const char* remedy = "";  // beside finite numbers

    ArrayName(const char* name) : text(name) {}
    ArrayName(const char* name, std::ptrdiff_t k, const char* what_else)
        : text(name), save_point(k), remedy(what_else) {}
};
/// "where: data[3](2, 0) = nan, of save point 3; give finite numbers", and what else could be given.
[[noreturn]] EDDY_EXPORT void throw_not_finite(double value, std::ptrdiff_t lane,
                                               std::ptrdiff_t component, const ArrayName& name,
                                               const char* where);

/// Checks that all numbers of an array are finite, float or double.
template <class Real>
EDDY_EXPORT void require_finite(const EnsembleView<const Real>& array, const ArrayName& name,
                                const char* where);

}  // namespace eddy::inline v0::detail
