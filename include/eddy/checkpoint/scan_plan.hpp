#pragma once
// Plans for a loop of equal steps within a budget of bytes: which carries are kept, and of which steps
// the residuals. Up to the budget at which each step is evaluated again at most once, in closed form:
// segments that grow towards the start, because carries go as the reversal comes down. Below it, by
// the curves of a chain's plan (stage_plan.hpp) over the number of steps. What is stored counts; the carry in hand and x_0 do not.
// Test: tests/checkpoint/scan_plan.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <vector>

namespace eddy::inline v0 {

/// A loop whose steps are alike.
struct ScanCosts {
    std::int64_t steps = 0;
    std::int64_t state_bytes = 0;     ///< of a carry
    std::int64_t residual_bytes = 0;  ///< of what is kept of one step
};

enum class ScanActionKind : std::uint8_t {
    keep,     ///< a copy of the carry in hand, which is x_first
    restart,  ///< from the carry that was kept last, x_first; it stays
    take,     ///< the same, and it goes
    advance,  ///< steps first … last - 1
    record,   ///< the same, with their residuals
    pullback  ///< steps last - 1 … first, from their residuals, which go
};
struct ScanAction {
    ScanActionKind kind;
    std::int64_t first;
    std::int64_t last;
};

/// The plan with the fewest evaluations. Up to the first pullback it belongs to the forward pass.
struct ScanPlan {
    std::vector<ScanAction> actions{};
    std::int64_t evaluations = 0;  ///< of steps, recorded or not
};

/// The plan within so many bytes; `where` begins the InvalidArgument that says what is too little.
[[nodiscard]] EDDY_EXPORT ScanPlan plan_scan(const ScanCosts& costs, std::int64_t memory_bytes,
                                             const char* where = "plan_scan");

namespace detail {

/// Segments that begin at these steps, ascending from 0: each carry is kept, and the residuals of the
/// segment that is taken back, those of the last one from the forward pass.
[[nodiscard]] EDDY_EXPORT ScanPlan plan_segments(const std::vector<std::int64_t>& starts,
                                                 std::int64_t steps);

}  // namespace detail
}  // namespace eddy::inline v0
