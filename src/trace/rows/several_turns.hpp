#pragma once
// Turns of a loop that no lane leaves as straight-line code, without the calls and the trips through memory between them.

#include "loop_bodies.hpp"

namespace eddy::inline v0::detail {

/// `count` turns that follow each other as one, of a loop that no lane leaves: it reads as many parts of what is walked along,
/// and stacks as many.
[[nodiscard]] Graph several_turns(const BodyOnRows& body, int count, bool is_backward);

/// The turn of a loop, in which loops of few operations are written out: it is machine code of all turns only where no
/// other loop is left.
[[nodiscard]] Graph write_out_short_loops(Graph turn);

}  // namespace eddy::inline v0::detail
