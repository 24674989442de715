#pragma once
// A method whose steps stay where they are: for what is all said by the state that a lane begins in.
// Test: tests/solve/steady_state.cpp

#include <eddy/steppers/attempt_cost.hpp>
#include <eddy/steppers/mass_matrix.hpp>
#include <eddy/steppers/memoryless_stepper.hpp>

namespace eddy::inline v0 {

template <class Term>
struct StayingStepper : MemorylessStepper<Term> {
    static constexpr int order = 1, error_order = 1;
    static constexpr bool dense_output_scales_with_size = false;
    static constexpr int evaluations_per_attempt = 0;
    static constexpr int evaluations_per_replay = 0;
    // Of the continuation to the start (pseudo_transient.hpp), whose attempts are those counted.
    static constexpr AttemptCost attempt_cost{
        .factorizations = 1, .jacobian_comes_with_f = true, .seeks_rest = true};

    template <class Number>
    using State = Vec<Number, Term::state_size>;
    template <class Number>
    struct Trial {
        State<Number> next;
    };

    template <class Input, class Number>
    EDDY_HD static void attempt(const Input& in, const NoMemory&, Trial<Number>& trial) {
        trial.next = in.y;
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static auto step(const Input& in, const NoMemory&) {
        return in.y;
    }

    template <class Number>
    struct Within {
        State<Number> y;
        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> at(const Theta&) const {
            return y;
        }
        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> slope(const Theta&) const {
            return {};
        }
    };
    template <class Input, class Number>
    [[nodiscard]] EDDY_HD static Within<Number> interpolant(const Input&,
                                                            const Trial<Number>& trial) {
        return {trial.next};
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in) {
        return Within<NumberOf<Input>>{in.y};
    }
    template <class Number>
    struct DenseCotangent {
        State<Number> y{};
    };
    template <class Input, class Theta, class Number>
    EDDY_HD static void pull_interpolant(const Input&, const Theta&, const State<Number>& cotangent,
                                         DenseCotangent<Number>& dense) {
        dense.y = dense.y + cotangent;
    }

    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization {};
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_HD static void linearize(const Input&, const NoMemory&,
                                  Linearization<Number, with_times, dense>&) {}
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_HD static State<Number> pull(
        const Input&, const Linearization<Number, with_times, is_dense>&,
        const State<Number>& next_cotangent, const Dense& dense, ParameterCotangent&, Times&) {
        return next_cotangent + dense.y;
    }
};

/// The method.
struct Staying {
    static constexpr const char* call = "steady_state";  // what messages name
    static constexpr int order = 1;
    static constexpr bool has_error_estimate = false, takes_noise = false;
    template <class Term, bool estimates_error>
    using Stepper = StayingStepper<Term>;
};
template <>
inline constexpr bool takes_mass<Staying> = true;

}  // namespace eddy::inline v0
