#pragma once
// Explicit Runge–Kutta methods as a Stepper. Where errors are estimated and the last stage of a step
// is the first of the next ("first same as last"), that stage is the memory: it follows from the
// state, bit for bit, so a replay recomputes it and a checkpoint does without.
// Test: tests/solve/order.cpp, tests/steppers/adjoint_watch.cpp

#include <eddy/steppers/adjoint_watch.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/explicit_rk.hpp>
#include <eddy/steppers/stepper.hpp>
#include <eddy/steppers/stiffness.hpp>

namespace eddy::inline v0 {

/// The first stage of a step, as the last of the one before.
/// Nothing sets it at first: the backward pass reads a checkpoint into new states every round, without it.
/// But on a device, where a kernel then takes two registers fewer.
template <class State>
struct FirstStage {
    State k;

    constexpr FirstStage() requires(!compiling_for_device) = default;
    EDDY_HD constexpr FirstStage() requires(compiling_for_device) : k{} {}
    EDDY_HD constexpr FirstStage(const State& stage) : k(stage) {}
};
template <class Mask, class State>
[[nodiscard]] EDDY_INLINE EDDY_HD inline FirstStage<State> select(const Mask& mask,
                                                                  const FirstStage<State>& x,
                                                                  const FirstStage<State>& y) {
    FirstStage<State> chosen;
    for_components<State::size()>([&](int i)
                                      EDDY_INLINE { chosen.k[i] = select(mask, x.k[i], y.k[i]); });
    return chosen;
}

/// `estimates_error`: whether attempts come with error estimates, as a controller wants them.
template <class Term, RungeKuttaMethod Method, bool estimates_error>
struct ExplicitRungeKuttaStepper {
    using Steps = ExplicitRungeKutta<typename Term::Field, Method>;
    using Dense = Interpolant<Method>;
    static constexpr int state_size = Term::state_size;
    static constexpr int parameter_size = Term::parameter_size;
    static constexpr int order = Method::order;
    static constexpr int error_order = [] {
        if constexpr (estimates_error)
            return eddy::error_order<Method>;
        else
            return Method::order;
    }();
    static constexpr bool can_fail = false;
    static constexpr bool memory_follows_state = true;
    static constexpr bool steps_to_save_points = eddy::steps_to_save_points<Method>;
    static constexpr bool has_coarse_error = estimates_error && eddy::has_coarse_error<Method>;
    static constexpr bool keeps_last_stage = estimates_error && is_fsal<Method>;
    static constexpr int num_stages = estimates_error ? Steps::num_error_stages : Steps::num_stages;
    static constexpr int num_dense_stages = Steps::num_dense_stages;
    static constexpr int evaluations_at_start = keeps_last_stage ? 1 : 0;
    static constexpr int evaluations_per_attempt = num_stages - evaluations_at_start;
    static constexpr int evaluations_per_replay = Steps::num_stages;

    template <class Time>
    using Path = typename Term::template Path<Time>;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    using Memory = std::conditional_t<keeps_last_stage, FirstStage<State<Number>>, NoMemory>;

    /// One size for many steps of all lanes, its products with the coefficients formed beforehand.
    template <class Scalar>
    using ConstantSize = UniformStepSize<typename Steps::Rows, Scalar>;

    template <class Number>
    struct Trial {
        /// Estimates, where they are asked for.
        [[no_unique_address]] KeptIf<estimates_error, State<Number>> error;
        [[no_unique_address]] KeptIf<has_coarse_error, State<Number>> coarse;
        State<Number> next;
        State<Number> k[num_stages];
    };

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto first(const Input& in) {
        using Number = NumberOf<Input>;
        Memory<Number> memory{};
        if constexpr (keeps_last_stage) {
            State<Number> k[1];
            Steps::template stages<0, 1>(in.t, in.y, in.p, in.dt, k);
            memory.k = k[0];
        }
        return memory;
    }

    template <class Input, class Memory, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, [[maybe_unused]] const Memory& memory,
                                            Trial<Number>& trial) {
        if constexpr (detail::sums_by_component<state_size>) {
            attempt_by(in, memory, trial.k, trial);
        } else {
            State<Number> k[num_stages];  // in registers, as far as they go
            attempt_by(in, memory, k, trial);
            static_for<0, num_stages>([&]<int i>() EDDY_INLINE { trial.k[i] = k[i]; });
        }
    }
    /// The same with the stages in k.
    template <class Input, class Memory, class Number>
    EDDY_INLINE EDDY_HD static void attempt_by(const Input& in,
                                               [[maybe_unused]] const Memory& memory,
                                               State<Number> (&k)[num_stages],
                                               Trial<Number>& trial) {
        if constexpr (keeps_last_stage) {
            k[0] = memory.k;
            Steps::template stages<1, num_stages>(in.t, in.y, in.p, in.dt, k);
        } else {
            Steps::template stages<0, num_stages>(in.t, in.y, in.p, in.dt, k);
        }
        trial.next = Steps::next_state(in.y, in.dt, k);
        if constexpr (estimates_error) trial.error = Steps::error(in.dt, k);
        if constexpr (has_coarse_error) trial.coarse = Steps::template error<true>(in.dt, k);
    }

    /// Number by number: a copy of the whole would be made in pieces narrower than the loads to come.
    template <class Trial, class Mask, class Memory>
    EDDY_INLINE EDDY_HD static void carry([[maybe_unused]] const Trial& trial,
                                          [[maybe_unused]] const Mask& accepted,
                                          [[maybe_unused]] Memory& memory) {
        if constexpr (keeps_last_stage) {
            for_components<state_size>([&](int i) EDDY_INLINE {
                memory.k[i] = select(accepted, trial.k[num_stages - 1][i], memory.k[i]);
            });
        }
    }

    template <class Trial, class SquaredNorm>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto squared_error(const Trial& trial,
                                                                SquaredNorm&& squared_norm) {
        const auto square = squared_norm(trial.error);
        if constexpr (has_coarse_error)
            return combined_square(square, squared_norm(trial.coarse));
        else
            return square;
    }

    template <class Input, class Memory>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const Memory&) {
        return Steps::step(in.t, in.y, in.p, in.dt);
    }

    /// The states within a step, from all stages that they need.
    template <class Number, class Real>
    struct Within {
        State<Number> y;
        Real h;
        State<Number> k[num_dense_stages];

        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> at(const Theta& theta) const {
            return Dense::evaluate(y, h, k, Real(theta));
        }
        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> slope(const Theta& theta) const {
            return Dense::slope(k, Real(theta));
        }
    };
    template <class Input, class Trial>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in, const Trial& trial) {
        auto within = empty_interpolant(in);
        static_for<0, num_stages>([&]<int i>() { within.k[i] = trial.k[i]; });
        Steps::template stages<num_stages, num_dense_stages>(in.t, in.y, in.p, in.dt, within.k);
        return within;
    }
    /// The same where there was no attempt.
    template <class Input>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in) {
        auto within = empty_interpolant(in);
        Steps::template stages<0, num_dense_stages>(in.t, in.y, in.p, in.dt, within.k);
        return within;
    }

    template <class Number>
    using DenseCotangent = StageCotangents<State<Number>, num_dense_stages>;
    template <class Input, class Theta, class Number>
    EDDY_HD static void pull_interpolant(const Input& in, const Theta& theta,
                                         const State<Number>& cotangent,
                                         DenseCotangent<Number>& dense) {
        Dense::pullback(in.dt.h, theta, cotangent, dense.y, dense.stage);
    }

    /// The states where the stages of a step are taken, those of dense output as well where `dense`;
    /// and the stages, where cotangents of times will be asked for.
    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization {
        static constexpr int count = dense ? num_dense_stages : Steps::num_stages;
        struct Stages {
            State<Number> k[count];
        };
        [[no_unique_address]] KeptIf<with_times, Stages> stages;
        typename Steps::template Stage<Number, with_times> stage[count];

        /// The stages; something of their type where nobody reads them.
        [[nodiscard]] EDDY_INLINE EDDY_HD const auto& k() const {
            if constexpr (with_times)
                return stages.k;
            else
                return stage;
        }
    };
    template <class Input, class Memory, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const Memory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        constexpr int count = Linearization<Number, with_times, dense>::count;
        State<Number> k[count];
        typename Steps::template Stage<Number, with_times> stage[count];
        Steps::linearize_stages(in.t, in.y, in.p, in.dt, k, stage);
        static_for<0, count>([&]<int i>() EDDY_INLINE {
            of_step.stage[i] = stage[i];
            if constexpr (with_times) of_step.stages.k[i] = k[i];
        });
    }

    /// The cotangent of y. `dense` is NoDenseCotangent, or a DenseCotangent with a dense
    /// linearization.
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense& dense, ParameterCotangent& p_cotangent,
        Times& times) {
        return Steps::pull_stages(in.t, in.p, in.dt, of_step.k(), of_step.stage, next_cotangent,
                                  dense.stage, p_cotangent, times) +
               dense.y;
    }

    static constexpr bool tells_stiffness = estimates_error && Method::tableau.num_stages > 2;
    template <class Input, class Number>
    [[nodiscard]] EDDY_HD static auto is_stiff(const Input& in, const Trial<Number>& trial) {
        return detail::StiffnessTest<typename Term::Field, Method>::holds(in, trial.k);
    }

    /// Tells from a step's cotangent whether the steps carry the derivative.
    using Watch = AdjointWatch<typename Term::Field, Method>;

  private:
    template <class Input>
    [[nodiscard]] EDDY_HD static auto empty_interpolant(const Input& in) {
        using Real = std::remove_cvref_t<decltype(in.dt.h)>;
        return Within<NumberOf<Input>, Real>{in.y, in.dt.h, {}};
    }
};

namespace detail {

template <class Term, class Method, bool estimates_error>
struct ChosenStepper {
    using type = typename Method::template Stepper<Term, estimates_error>;
};
template <class Term, RungeKuttaMethod Method, bool estimates_error>
struct ChosenStepper<Term, Method, estimates_error> {
    using type = ExplicitRungeKuttaStepper<Term, Method, estimates_error>;
};

}  // namespace detail

/// The stepper of a method: an explicit tableau's, or the one that the method, which then says whether
/// it `has_error_estimate`, brings along as
/// `template <class Term, bool estimates_error> using Stepper`.
template <class Term, class Method, bool estimates_error>
using StepperFor = typename detail::ChosenStepper<Term, Method, estimates_error>::type;

}  // namespace eddy::inline v0
