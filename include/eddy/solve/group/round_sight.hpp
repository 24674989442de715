#pragma once
// A round on its way forward, and what it sees of its group. A thread of a device has one chain: it keeps a
// copy of it that nothing has the address of, so that it lives in registers; the group itself, which calls off
// the hot path know by its address, lies in memory. The copy is renewed where something has happened to a lane.
// Test: tests/solve/warps.cpp

#include <cstdint>
#include <eddy/core/static_for.hpp>
#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

/// `problem` is that of the group: the caller knows where it lies. `normals` are kept where somebody wants them.
template <class Spec>
struct ForwardRound {
    std::int64_t number;
    [[no_unique_address]] NormalsOfRound<Spec> normals;
    const Problem<Spec>& problem;
};

/// Steps for who knows where the problem lies: a device reads it there then, in constant memory, and not behind an
/// address that it has to read before. Steps of constant size read little of it.
template <class Spec>
[[nodiscard]] EDDY_INLINE EDDY_HD inline decltype(auto) steps_for(
    const ChainStepper<Spec>& steps, [[maybe_unused]] const Problem<Spec>& problem) {
    if constexpr (compiling_for_device && Spec::is_adaptive) {
        ChainStepper<Spec> here = steps;
        here.refer_to(problem);
        return here;
    } else {
        return (steps);
    }
}

/// A wide state leaves no registers for it: Pleiades, with 28 numbers, would spill 2 % more.
template <class Spec, class Team>
inline constexpr bool keeps_sight =
    Team::num_chains == 1 && Team::num_members > 1 && Spec::is_adaptive && !Spec::has_noise &&
    Spec::state_size <= longest_unrolled;

/// Does a member keep in view where its states and sizes lie, throughout? In single precision twice as many warps share the
/// registers, and the backward pass would spill for it.
template <class Spec, class Team>
inline constexpr bool keeps_places_of_states = keeps_sight<Spec, Team> &&
                                               sizeof(typename Spec::Scalar) > sizeof(float);

template <class Spec, bool is_kept>
struct RoundSight {};
template <class Spec>
struct RoundSight<Spec, true> {
    Chain<Spec> chain;
    bool is_running = false;  // has any place of the team a lane?
};

}  // namespace eddy::inline v0::detail
