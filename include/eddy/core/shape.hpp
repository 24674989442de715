#pragma once
// What core must know of symbolic scalars without knowing the tracer: whether a type is one. A
// symbolic scalar stands for a number that is not there yet, so plain containers leave it to the
// tracer's own overloads.
// Test: tests/trace/trace_graph.cpp

namespace eddy::inline v0 {

/// True for the tracer's value types (specialised in trace/shape_of.hpp).
template <class T>
inline constexpr bool is_symbolic = false;

}  // namespace eddy::inline v0
