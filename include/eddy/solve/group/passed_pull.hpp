#pragma once
// The way back through a step that may have passed over knots of inputs: cotangents of inputs go to the piece in which each
// evaluation has found its time, at once and lane by lane, as they would of one lane alone.
// Test: tests/solve/inputs_on_machines.cpp

#include <eddy/solve/group/chain_back.hpp>
#include <eddy/solve/lane/attempt.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Recorder>
struct PassedPull {
    using Number = typename Spec::Number;
    using Mask = MaskOf<typename Spec::Primal>;
    using Sums = Vec<Number, Spec::parameter_room>;

    const Occupant (&occupants)[Spec::num_places];
    const ChainStepper<Spec>& steps;
    Recorder& recorder;

    /// What a method adds its cotangents of (p, inputs) to.
    struct Cotangents {
        const PassedPull& to;
        const Mask& moves;
        Sums& of_p;

        EDDY_HD void add(int i, const Number& value) const {
            if (i < Spec::parameter_size) {
                of_p[i] = of_p[i] + value;
                return;
            }
            const auto& inputs = to.steps.parameters.values().inputs;
            for (int place = 0; place < Spec::num_places; ++place) {
                if (!get_lane(moves, place)) continue;
                to.recorder.add_input(to.occupants[place].lane, inputs.piece(place),
                                      i - Spec::parameter_size, get_lane(value, place));
            }
        }
    };

    /// As `pull_masked`.
    template <class Adjoint>
    EDDY_HD void run(const Mask& moves, typename Spec::State& cotangent, Sums& sums,
                     Adjoint adjoint) const {
        Sums of_step{};
        Cotangents cotangents{*this, moves, of_step};
        const typename Spec::State pulled = adjoint(cotangents);
        for (int i = 0; i < Spec::parameter_size; ++i)
            sums[i] = select(moves, sums[i] + of_step[i], sums[i]);
        move_where(moves, pulled, cotangent);
    }
};

}  // namespace eddy::inline v0::detail
