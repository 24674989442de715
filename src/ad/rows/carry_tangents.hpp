#pragma once
// Forward mode of a right-hand side as a right-hand side of its own: of y and tangents of it. What a value and its tangents
// share is computed once.

#include <eddy/ad/rows/runtime_field.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Of a program (t, y, p, …) → x: the program of (y, ẏ of each direction) and (p, ṗ where it is given) → (x, ẋ of each direction).
/// Where x is made of pieces, the tangents of each follow it; without pieces it is one.
/// The first numbers of p are the parameters; what lies behind them stays behind all of them and has no tangents. x has the
/// bits that it has without them: it is contracted alone. Empty where the program reads p and what lies behind it at once.
/// Throws InvalidArgument where a function has no forward mode.
[[nodiscard]] Graph carry_tangents(const Graph& graph, int num_parameters,
                                   const std::vector<Direction>& directions,
                                   std::vector<ResultPiece> pieces = {});

/// The node of a vector that is 1 in one place and else 0; −1 where that is none of its places.
[[nodiscard]] int unit_or_nothing(Graph& graph, int at, int size);
/// Throws InvalidArgument where a derivative that the graph was to have could not be made.
void require_forward_mode(const Graph& graph);

}  // namespace eddy::inline v0::detail
