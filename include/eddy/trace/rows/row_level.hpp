#pragma once
// The levels of instructions that engines over rows are compiled for (trace/rows/row_program.hpp).
// Test: tests/trace/rows/row_program.cpp

#include <eddy/core/simd/has_fma.hpp>

namespace eddy::inline v0 {

/// The instructions that an engine is compiled for.
enum class RowLevel : unsigned char {
    plain,  // no fused multiply-add
    fused   // with it
};

/// The level that gives the bits of this source's own programs.
inline constexpr RowLevel row_level = simd::has_fma ? RowLevel::fused : RowLevel::plain;

}  // namespace eddy::inline v0
