#pragma once
// Inputs of an equation: functions of time that are known at knots, and piecewise polynomials between them. The option
// `.inputs` takes what the functions below make of knots and values, which are copied.
// Test: tests/solve/inputs.cpp

#include <cstdint>
#include <eddy/solve/ask/own_times.hpp>
#include <eddy/solve/ask/save_times.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// What lies between knots; none: there are no inputs.
enum class InputPieces : std::uint8_t { none, constant, linear, cubic, spline };

/// Numbers at knots: (knot, component) of all trajectories, or (trajectory, knot · component) of each.
struct EDDY_EXPORT KnotValues {
    OwnTimes rows;                 // of all: one row
    std::ptrdiff_t num_knots = 0;  // of an array (knot, component); 0: of a list, or own
    bool is_own = false;
    bool is_given = false;

    KnotValues() = default;
    KnotValues(const KnotValues&);
    KnotValues(KnotValues&&) noexcept;
    KnotValues& operator=(const KnotValues&);
    KnotValues& operator=(KnotValues&&) noexcept;
    ~KnotValues();
    KnotValues(OwnTimes own) : rows(std::move(own)), is_own(true), is_given(true) {}
    template <class Array>
    requires(is_ensemble_array<Array>) KnotValues(const Array& array) : is_given(true) {
        const auto view = ensemble_view(array);
        rows.num_lanes = 1;
        rows.num_times = view.num_lanes * view.num_components;
        if (view.num_lanes > 1) num_knots = view.num_lanes;
        for (std::ptrdiff_t knot = 0; knot < view.num_lanes; ++knot) {
            for (std::ptrdiff_t i = 0; i < view.num_components; ++i)
                rows.values.push_back(static_cast<double>(view(knot, i)));
        }
    }
};

template <class Values>
[[nodiscard]] KnotValues knot_values(const Values& values) {
    constexpr bool is_known = std::is_same_v<Values, OwnTimes> || is_ensemble_array<Values>;
    static_assert(is_known,
                  "inputs: values must be an array of double (knot, component), such as "
                  "Eigen::ArrayXXd or std::vector<double>, or each(array) of an array "
                  "(trajectory, knot * component)");
    if constexpr (is_known && !std::is_same_v<Values, OwnTimes>)
        static_assert(std::is_same_v<MemoryOf<Values>, HostMemory>,
                      "inputs: values must be an array of the host; copy them");
    if constexpr (is_known) return KnotValues(values);
}

}  // namespace detail

/// Functions of time that a field with `input_size` reads as u, and their derivatives as du. See `piecewise_linear`.
struct Inputs {
    detail::InputPieces pieces = detail::InputPieces::none;  ///< what lies between knots
    SaveTimes knots;                                         ///< of all trajectories, or of each
    detail::KnotValues values;                               ///< at the knots
    detail::KnotValues slopes;  ///< of `cubic_hermite` with given slopes

    /// Are there any?
    [[nodiscard]] explicit operator bool() const { return pieces != detail::InputPieces::none; }
    /// The degree of the pieces.
    [[nodiscard]] int degree() const {
        return pieces == detail::InputPieces::constant ? 0
               : pieces == detail::InputPieces::linear ? 1
                                                       : 3;
    }
};

/// Inputs that keep the value of each knot up to the next one. `knots` is a list of ascending times for all trajectories, or
/// `each(array)` with a row for each, filled up at its end with NaN. `values` has the shape (knot, component), the same
/// for all trajectories; a list of numbers is one component. With `each(array)`, of shape (trajectory, knot · component), the
/// components of a knot side by side, each trajectory has its own. Before the first knot and behind the last one the pieces next
/// to them go on.
template <class Values = std::vector<double>>
[[nodiscard]] Inputs piecewise_constant(SaveTimes knots, const Values& values) {
    return {detail::InputPieces::constant, std::move(knots), detail::knot_values(values), {}};
}
/// Inputs that are linear between knots. Arguments as of `piecewise_constant`.
template <class Values = std::vector<double>>
[[nodiscard]] Inputs piecewise_linear(SaveTimes knots, const Values& values) {
    return {detail::InputPieces::linear, std::move(knots), detail::knot_values(values), {}};
}
namespace detail {

/// Inputs that are cubic between knots: `cubic_hermite(knots, values, slopes)`, with slopes of the shape of the values. Without
/// them the slope at each knot is the backward difference of the values (at the first, the forward one): nothing depends on
/// what comes later than the end of the piece (Morrill et al. 2022, "On the choice of interpolation scheme for neural
/// CDEs", Trans. Mach. Learn. Res.).
template <class Knots>
struct HermiteInputs {
    template <class Values, class... Slopes>
    [[nodiscard]] static Inputs make(const Knots& knots, const Values& values,
                                     const Slopes&... slopes) {
        static_assert(sizeof...(Slopes) <= 1,
                      "cubic_hermite: give knots, values and perhaps slopes");
        Inputs inputs{InputPieces::cubic, SaveTimes(knots), knot_values(values), {}};
        ((inputs.slopes = knot_values(slopes)), ...);
        return inputs;
    }
};

}  // namespace detail

/// Inputs that are cubic between knots, with continuous second derivatives, which are zero at both ends. Arguments as of
/// `piecewise_constant`; two knots at least.
template <class Values = std::vector<double>>
[[nodiscard]] Inputs natural_cubic_spline(SaveTimes knots, const Values& values) {
    return {detail::InputPieces::spline, std::move(knots), detail::knot_values(values), {}};
}

}  // namespace eddy::inline v0
