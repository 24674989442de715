#pragma once
// What a call may be made of, and what it may ask for: the words of the table of combinations.hpp.
// Test: tests/docs/works_with.cpp

#include <cstdint>

namespace eddy::inline v0::detail {

/// Families of methods. `other` (Taylor, ESDIRK, IMEX, a user's own) differ in nothing that is asked here;
/// whatever method solves a stochastic equation is one of noise.
enum class Family { explicit_rk, rosenbrock, other, auto_switch, noise, langevin };
/// What a call is computed on; rows: an equation whose sizes are known when the program runs; float_time: with times of
/// single precision; ranks: of one of these, together with others.
enum class Machine { host, tiles, rows, device, float_time, asynchronous, ranks };
/// Kinds of calls; nested: differentiable_solve.
enum class CallKind { solve, pushforward, gradient, hessian, pullback, nested };
inline constexpr int num_families = 6, num_machines = 7, num_calls = 6;

// clang-format off
/// What a call may ask for, in the order in which refusals are said.
enum class Feature {
    ordinary, stochastic, langevin, joint, rosenbrock, esdirk, other_method, auto_switch, gradient, tangents, sensitivities, hessian,
    mass, estimate_with_events, events, events_along, events_with_joint, events_of_algebraic, times, gradient_error, adaptive,
    adaptive_noise, backward, own_times, own_times_of_joint, impulses, impulses_with_events, impulses_of_algebraic, impulses_of_paths, inputs, passed_inputs, paths, path_alone, observe, missing_values, tables, starts, save_steps, save_steps_of_paths, watching,
    gather_sums, devices, early_return, stealing, stealing_devices, steps_of_stolen,
    times_of_stolen, impulses_of_stolen, loops, searches, gradients_watched, tangents_watched,
    thrust_vectors,
    no_error_estimate  // of the method: no row, but what some answers depend on
};
// clang-format on

/// A set of features.
class Features {
  public:
    [[nodiscard]] constexpr Features with(Feature feature, bool is_asked = true) const {
        Features more = *this;
        if (is_asked) more.bits_ |= bit(feature);
        return more;
    }
    [[nodiscard]] constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }

  private:
    static constexpr std::uint64_t bit(Feature feature) {
        return std::uint64_t{1} << static_cast<int>(feature);
    }
    std::uint64_t bits_ = 0;
};

}  // namespace eddy::inline v0::detail
