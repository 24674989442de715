#pragma once
// What steppers along Brownian paths have in common: a step keeps nothing for the next, and knows its two
// ends alone. A path has no slope, so that no polynomial through stages tells what lies between them:
// every save point is a step's end.
// Test: tests/steppers/stochastic.cpp

#include <eddy/steppers/memoryless_stepper.hpp>

namespace eddy::inline v0 {

/// The state goes on in a straight line.
template <class State>
struct StraightLine {
    State from, along;

    template <class Theta>
    [[nodiscard]] EDDY_HD State at(const Theta& theta) const {
        State y = from;
        for (int i = 0; i < State::size(); ++i)
            y[i] = y[i] + typename State::value_type(theta) * along[i];
        return y;
    }
    template <class Theta>
    [[nodiscard]] EDDY_HD State slope(const Theta&) const {
        return along;
    }
};

/// The weights of their drift, as sizes of steps read them (step_size.hpp).
template <int stages>
struct DriftWeights {
    static constexpr int num_stages = stages;
    double a[stages][stages]{}, b[stages]{};
};

/// Base of their linearizations.
template <bool with_times>
struct PathLinearization {
    static_assert(!with_times, "a path has no derivative with respect to time");
};

/// Base of such steppers; `Self` is the stepper.
template <class Self, class Term, class Method>
struct PathStepper : MemorylessStepper<Term> {
    static constexpr float order = static_cast<float>(Method::strong_order);
    static constexpr float error_order = order + 0.5f;
    static constexpr bool steps_to_save_points = true;

    template <class Number>
    struct Trial {
        Vec<Number, Term::state_size> next;
    };
    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, const NoMemory& memory,
                                            Trial<Number>& trial) {
        trial.next = Self::step(in, memory);
    }
    template <class Input, class Trial>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in, const Trial& trial) {
        return line(in.y, trial.next);
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in) {
        return line(in.y, Self::step(in, NoMemory{}));
    }
    template <class Number>
    struct DenseCotangent {};
    template <class Input, class Theta, class Number>
    EDDY_HD static void pull_interpolant(const Input&, const Theta&,
                                         const Vec<Number, Term::state_size>&,
                                         DenseCotangent<Number>&) {}

  private:
    template <class State>
    [[nodiscard]] EDDY_HD static StraightLine<State> line(const State& from, const State& to) {
        return {from, to - from};
    }
};

}  // namespace eddy::inline v0
