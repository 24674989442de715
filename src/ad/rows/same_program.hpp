#pragma once
// Test: tests/ad/rows/latest_fields.cpp

#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::detail {

/// Have two programs the same nodes, numbers, texts and places in the source? False where policies have values, which
/// nobody can compare.
[[nodiscard]] bool are_same_program(const Graph& a, const Graph& b);

}  // namespace eddy::inline v0::detail
