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

/// Nothing is kept: rounds see the group itself.
template <class Spec, bool is_kept>
struct RoundSight {
    EDDY_HD void renew(const Chain<Spec>&, bool) {}
    [[nodiscard]] EDDY_INLINE EDDY_HD Chain<Spec>& seen(Chain<Spec>& chain) { return chain; }
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_running(bool has_lanes) const { return has_lanes; }
    EDDY_INLINE EDDY_HD void hand_counts(Chain<Spec>&) const {}
};
template <class Spec>
struct RoundSight<Spec, true> {
    /// Sees the group's only chain anew, and whether any place of the team has a lane.
    EDDY_HD void renew(const Chain<Spec>& chain, bool has_lanes) {
        chain_ = chain;
        is_running_ = has_lanes;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD Chain<Spec>& seen(Chain<Spec>&) { return chain_; }
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_running(bool) const { return is_running_; }
    /// Hands the group what rounds have counted.
    EDDY_INLINE EDDY_HD void hand_counts(Chain<Spec>& chain) const { chain.count_like(chain_); }

  private:
    Chain<Spec> chain_;
    bool is_running_ = false;
};

}  // namespace eddy::inline v0::detail
