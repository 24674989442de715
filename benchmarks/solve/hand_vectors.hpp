#pragma once
// What the machine can do: fused multiply-adds in registers alone, and Lorenz by Tsit5 with steps
// of constant size in native vectors, written by hand. Vectors take turns, a step each, so that
// one's latency hides behind the others'; coefficients are multiplied by dt beforehand.

#include <cstddef>
#include <cstdint>
#include <eddy/core/simd/layout.hpp>

namespace benchmark {

/// Multiply-adds and multiplications of one step of one lane: 63 in the sums of the stages, 4 in
/// each of 6 evaluations. The 12 additions go to other units of the processor.
inline constexpr int fma_of_step = 87;

/// Independent chains that keep the units busy, one native vector each.
inline constexpr int num_fma_chains = 12;
/// Runs `rounds` multiply-adds in each chain; returns a number that depends on all of them.
template <class Real>
Real run_fma_chains(std::int64_t rounds, Real factor, Real summand);

/// Lanes that take turns.
template <class Real>
inline constexpr int hand_block = 4 * eddy::native_lanes<Real>;

/// Arrays (component, lane); num_lanes is a multiple of hand_block<Real>.
template <class Real>
struct HandBatch {
    Real* y;
    const Real* rho;
    std::ptrdiff_t num_lanes;
};

/// Advances y by `num_steps` steps.
template <class Real>
void hand_steps(const HandBatch<Real>& batch, int num_steps, double dt);

/// The same, but then y becomes the gradient of |y|² by the initial state, and p_cotangent
/// (component, lane) that by σ, ρ, β. `memory` holds 3·hand_block numbers for each step.
template <class Real>
void hand_gradient(const HandBatch<Real>& batch, int num_steps, double dt, Real* memory,
                   Real* p_cotangent);

}  // namespace benchmark
