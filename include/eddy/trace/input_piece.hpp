#pragma once
// A piece of the inputs of an equation, as its program reads it: the knot, then coefficients (power, component) of the
// powers of the time since the knot.
// Test: tests/solve/inputs.cpp, tests/backends/row_inputs.cpp

namespace eddy::inline v0 {

/// The inputs u of an equation.
struct InputSizes {
    int size = 0;    ///< the components of u; 0: it reads none
    int degree = 3;  ///< the largest that pieces may have

    [[nodiscard]] constexpr bool operator==(const InputSizes&) const = default;
    /// Numbers of one piece.
    [[nodiscard]] constexpr int room() const { return size == 0 ? 0 : 1 + size * (degree + 1); }
};

namespace detail {

/// Horner's scheme: u, of coefficients.at<power>(), so long after the knot.
template <int last, int power = 0, class Coefficients, class Time>
constexpr auto value_of_piece(const Coefficients& coefficients, const Time& since) {
    if constexpr (power == last)
        return coefficients.template at<power>();
    else
        return coefficients.template at<power>() +
               since * value_of_piece<last, power + 1>(coefficients, since);
}
/// The same of du; the degree is not zero.
template <int last, int power = 1, class Coefficients, class Time>
constexpr auto slope_of_piece(const Coefficients& coefficients, const Time& since) {
    if constexpr (power == last)
        return static_cast<double>(power) * coefficients.template at<power>();
    else
        return static_cast<double>(power) * coefficients.template at<power>() +
               since * slope_of_piece<last, power + 1>(coefficients, since);
}

}  // namespace detail
}  // namespace eddy::inline v0
