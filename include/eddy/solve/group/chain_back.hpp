#pragma once
// One chain on the way back: which of its places take part, and the adjoint of a step for those alone.
// What it makes of the others is left out by masks, whatever its values.
// Test: tests/solve/oracle_gradients.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/parameters.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
struct ChainBack {
    using Time = typename Spec::Time;

    MaskOf<Time> alive = MaskOf<Time>(false);  // a lane is there, and it succeeded
    Time pending = Time(-1);  // elapsed time of the last save point not yet passed; -1: none
    Occupant occupants[Spec::num_places];
    typename Spec::Number t_cotangent = convert<typename Spec::Number>(0);  // since the last tstop

    /// How many rounds of constant size before x have no save point.
    [[nodiscard]] EDDY_HD std::int64_t rounds_since_save(const ChainState<Spec>& x,
                                                         double dt0) const {
        double fewest = 1e15;
        for (int place = 0; place < Spec::num_places; ++place) {
            const double last = get_lane(pending, place);
            if (!get_lane(alive, place) || last < 0) continue;
            fewest = min(fewest, (get_lane(x.elapsed, place) - last) / dt0 - 1.5);
        }
        return fewest < 0 ? 0 : static_cast<std::int64_t>(fewest);
    }
    /// Is no save point due in the round that begins at x, and is it one of constant size, far from
    /// where its places land?
    [[nodiscard]] EDDY_HD bool is_calm(const ChainState<Spec>& x, const Time& tstop,
                                       double dt0) const {
        const auto is_due = pending > x.elapsed, lands = x.elapsed + Time(1.5 * dt0) > tstop;
        return !any(alive & (is_due | lands));
    }
};

/// `adjoint(sums)` adds to the cotangents of the parameters, and returns the cotangent of the state before
/// the step.
template <class Spec, class Sums, class Adjoint>
EDDY_INLINE EDDY_HD inline void pull_masked(const MaskOf<typename Spec::Primal>& moves,
                                            typename Spec::State& cotangent, Sums& sums,
                                            Adjoint adjoint) {
    typename Spec::State pulled;
    if constexpr (Spec::parameter_size <= longest_unrolled) {
        Sums of_step{};  // in registers
        pulled = adjoint(of_step);
        for_components<Spec::parameter_room>(
            [&](int i) EDDY_INLINE { sums[i] = select(moves, sums[i] + of_step[i], sums[i]); });
    } else {
        MaskedSum<typename Spec::Number, MaskOf<typename Spec::Primal>, Spec::parameter_room> sum{
            sums, moves};
        pulled = adjoint(sum);
    }
    move_where(moves, pulled, cotangent);
}

}  // namespace eddy::inline v0::detail
