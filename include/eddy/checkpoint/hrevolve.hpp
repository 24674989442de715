#pragma once
// H-Revolve: the cheapest checkpoint schedule of a known length over storage tiers that differ in
// size and in the cost of a write and a read, nothing overlapped. Herrmann & Pallez, "H-Revolve: a
// framework for adjoint computation on synchronous hierarchical platforms", ACM TOMS 46(2), 2020,
// doi:10.1145/3378672.
//
// Tiers are numbered from the fastest. With u the step cost, s_k slots, w_k and r_k, and a segment
// of l steps whose first state is in hand:
//
//   stored_k(l, m), where it is stored at tier k, with m slots of tier k and all faster tiers free:
//     stored_k(l, m) = min( any_{k-1}(l, s_{k-1}),
//                           min_{0<j<l} j u + any_k(l-j, m) + r_k + stored_k(j, m) )
//     stored_k(1, m) = 0
//   any_k(l, m), where it may be stored:
//     any_k(l, m) = min( any_{k-1}(l, s_{k-1}), w_k + stored_k(l, m-1) )
//     any_k(1, m) = 0
//
// The paper reverses the last step at once. Where the output must exist before its cotangent does,
// the first sweep runs to the end: the same recursion with one more choice, to advance the rest of
// the segment, read its start and reverse it.
// Test: tests/checkpoint/hrevolve.cpp

#include <cstdint>
#include <eddy/checkpoint/action.hpp>
#include <eddy/core/export.hpp>
#include <vector>

namespace eddy::inline v0 {

struct HRevolveOptions {
    std::vector<StorageTier> tiers;  ///< from the fastest; one slot of some tier holds x_0
    double step_cost = 1;            ///< time of one forward step
    /// True: the cotangent needs no output, so the last step is reversed without being advanced
    /// first (the setting of Revolve). False: the first sweep advances all steps (the setting of a
    /// loop with a pullback).
    bool joint = false;
};

/// The cheapest legal schedule for `length` steps over several tiers, if no tier has a dearer write
/// or read than a slower one. Otherwise the schedule is valid, but may not be the cheapest. Time
/// O(length^2 slots), memory O(length slots).
/// Throws InvalidArgument for a negative length or cost, or if no tier has a slot for x_0.
[[nodiscard]] EDDY_EXPORT ActionList hrevolve_actions(std::int64_t length,
                                                      const HRevolveOptions& options);

/// The cost of that schedule: `schedule_cost(hrevolve_actions(length, options), ...)` without
/// making the list.
[[nodiscard]] EDDY_EXPORT double hrevolve_cost(std::int64_t length, const HRevolveOptions& options);

}  // namespace eddy::inline v0
