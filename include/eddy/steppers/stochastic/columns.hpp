#pragma once
// How a stochastic field is written: the calculus that its noise is meant in, and a diffusion whose
// columns each have a noise of their own.
// Test: tests/steppers/stochastic.cpp

#include <concepts>
#include <tuple>

namespace eddy::inline v0 {

/// What g dW means: Itô's integral, or Stratonovich's.
enum class Calculus : unsigned char { ito, stratonovich };
/// The calculus of a stochastic equation: diffusion dW is an Itô integral.
inline constexpr Calculus ito = Calculus::ito;
/// The calculus of a stochastic equation: diffusion dW is a Stratonovich integral.
inline constexpr Calculus stratonovich = Calculus::stratonovich;

template <class... Column>
struct Columns {
    std::tuple<Column...> column;
};

/// A diffusion matrix, for noise that is not diagonal: column k, a vector of state_size components,
/// multiplies noise k.
template <class... Column>
[[nodiscard]] constexpr Columns<Column...> columns(const Column&... column) {
    return Columns<Column...>{std::tuple<Column...>(column...)};
}

namespace detail {

/// Has the field drift and diffusion?
template <class Field>
concept StochasticField = requires {
    { Field::calculus } -> std::convertible_to<Calculus>;
};

}  // namespace detail

}  // namespace eddy::inline v0
