#pragma once
// The cheapest checkpoint schedule when steps differ in time and states in size, for a known chain
// of steps and a budget of bytes. Dynamic program of Beaumont, Eyraud-Dubois, Hermann, Joly &
// Shilova, "Optimal checkpointing for heterogeneous chains", arXiv 1911.13214, in its mode "save
// the input"; optimal under memory persistence: a checkpoint stays until its step has been
// reversed. With u_i the time of step i and s_i the size of x_i, x_a stored and m bytes free,
//
//   later(a, b, m) = min over a < j < b of u_a + … + u_{j-1} + later(j, b, m - s_j) + later(a, j, m)
//   later(a, a+1, m) = 0
//
// where j = b - 1 needs no bytes. The first sweep must reach the end of the chain:
//
//   first(a, m) = min( u_a + … + u_{n-1} + later(a, n, m),
//                      min over j of u_a + … + u_{j-1} + first(j, m - s_j) + later(a, j, m) )
// Test: tests/checkpoint/chain.cpp

#include <cstdint>
#include <eddy/checkpoint/action.hpp>
#include <eddy/core/export.hpp>
#include <span>

namespace eddy::inline v0 {

/// One step of a chain.
struct ChainStep {
    double time = 1;               ///< of advancing x_i to x_{i+1}, in any unit
    std::int64_t state_bytes = 1;  ///< size of x_i
};

/// The budget for stored states; the working state is not counted.
struct ChainOptions {
    std::int64_t memory_bytes = 0;
    /// Sizes are counted in units of their greatest common divisor if the budget has no more than
    /// this many of them. Otherwise in memory_bytes / memory_units, rounded up: the budget holds
    /// all the same, the optimum may be missed.
    std::int64_t memory_units = 500;
};

/// The cheapest schedule of the chain. With n steps and M units: time O(n^3 M), memory 6 n^2 M
/// bytes. Throws `InvalidArgument` for negative times or sizes, or when x_0 does not fit.
[[nodiscard]] EDDY_EXPORT ActionList chain_actions(std::span<const ChainStep> steps,
                                                   const ChainOptions& options);

/// The time of that schedule's forward steps: `chain_time(chain_actions(steps, options), steps)`,
/// without making the list.
[[nodiscard]] EDDY_EXPORT double chain_cost(std::span<const ChainStep> steps,
                                            const ChainOptions& options);

/// The time of the forward steps of any schedule of the chain.
[[nodiscard]] EDDY_EXPORT double chain_time(std::span<const Action> actions,
                                            std::span<const ChainStep> steps);

}  // namespace eddy::inline v0
