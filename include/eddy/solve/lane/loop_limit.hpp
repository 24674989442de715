#pragma once
// Whether a step fails by loops of the language: it comes to no number, and would come to one if its
// bounded whiles and roots gave their last state where they run out. Asked once a lane has ended, and
// compiled for equations that have such loops only.
// Test: tests/solve/loop_limit.cpp

#include <eddy/solve/lane/solve_spec.hpp>

namespace eddy::inline v0::detail {

/// Is there a loop that is NaN where it runs out?
template <class Code>
[[nodiscard]] constexpr bool has_limited_loops(const Code& code) {
    for (int loop = 0; loop < code.sizes.loops; ++loop) {
        if (code.loops[loop].fails_when_out) return true;
    }
    return false;
}

/// A program whose loops give their last state where they run out.
template <class P>
struct LastStatesOf {
    static constexpr int expected_nodes = P::graph.sizes.nodes;
    static constexpr Graph make() {
        Graph graph = P::graph.thaw();
        for (Loop& loop : graph.loops) loop.fails_when_out = false;
        return graph;
    }
};
/// A field by this program.
template <class Field>
struct LastStates : Field {
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y, const Parameters& p) const {
        return Program<LastStatesOf<FieldProgram<Field>>>{}(t, y, p);
    }
};

/// May a step of this equation fail by its loops, and can one tell?
template <class Field>
concept HasLimitedLoops =
    std::is_same_v<TermOf<Field>, OdeTerm<Field>> && !std::is_final_v<Field> && !is_split<Field> &&
    has_limited_loops(FieldProgram<Field>::graph);
template <class Spec>
inline constexpr bool may_run_out_of_turns = HasLimitedLoops<typename Spec::Field>;

/// Does the step that comes to no number in one place come to one with the last states of its loops?
template <class Spec, class Input>
[[nodiscard]] EDDY_HD bool runs_out_of_turns([[maybe_unused]] const Input& in,
                                             [[maybe_unused]] int place) {
    if constexpr (may_run_out_of_turns<Spec>) {
        using Stepper = StepperFor<OdeTerm<LastStates<typename Spec::Field>>, typename Spec::Method,
                                   Spec::is_adaptive>;
        typename Stepper::template Trial<typename Spec::Number> trial;
        Stepper::attempt(in, Stepper::first(in), trial);
        for (int i = 0; i < Spec::state_size; ++i) {
            if (!is_number(get_lane(primal(trial.next[i]), place))) return false;
        }
        return true;
    }
    return false;
}

}  // namespace eddy::inline v0::detail
