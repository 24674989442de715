#pragma once
// How a stochastic field is written: the calculus that its noise is meant in, and a diffusion whose
// columns each have a noise of their own.

#include <tuple>

namespace eddy::inline v0 {

/// What g dW means: Itô's integral, or Stratonovich's.
enum class Calculus : unsigned char { ito, stratonovich };
/// diffusion dW is Itô's integral.
inline constexpr Calculus ito = Calculus::ito;
/// diffusion dW is Stratonovich's integral.
inline constexpr Calculus stratonovich = Calculus::stratonovich;

template <class... Column>
struct Columns {
    std::tuple<Column...> column;
};

/// A general diffusion: column k, a vector of state_size, multiplies noise k.
template <class... Column>
[[nodiscard]] constexpr Columns<Column...> columns(const Column&... column) {
    return Columns<Column...>{std::tuple<Column...>(column...)};
}

}  // namespace eddy::inline v0
