#pragma once
// Rosenbrock methods as a Stepper. A step fails where its factors have lost too many digits.
// Test: tests/steppers/rosenbrock.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/steppers/controller/predictive.hpp>
#include <eddy/steppers/implicit_stepper.hpp>
#include <eddy/steppers/rosenbrock_adjoint.hpp>

namespace eddy::inline v0 {

template <RosenbrockMethod Method>
inline constexpr bool takes_mass<Method> = true;

/// `estimates_error`: whether attempts come with error estimates, as a controller wants them.
template <class Term, RosenbrockMethod Method, bool estimates_error>
struct RosenbrockStepper : ImplicitStepper<RosenbrockStepper<Term, Method, estimates_error>, Term,
                                           Method, estimates_error> {
    using Base = ImplicitStepper<RosenbrockStepper, Term, Method, estimates_error>;
    using Base::interpolant, Base::state_size;
    using Field = typename Term::Field;
    using Steps = Rosenbrock<Field, Method>;
    using Adjoint = RosenbrockAdjoint<Field, Method>;
    using Rows = RosenbrockRows<Method>;
    static constexpr int num_needed_stages = Rows::num_needed_stages();
    static constexpr int num_stages = estimates_error ? Steps::num_stages : num_needed_stages;
    static constexpr int evaluations_per_attempt = Rows::num_points(num_stages);
    static constexpr int evaluations_per_replay = Rows::num_points(num_needed_stages);

    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    struct Trial {
        State<Number> next;
        State<Number> u[num_stages];
        [[no_unique_address]] KeptIf<estimates_error, State<Number>> error;
        MaskOf<Number> failed;
    };

    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, const NoMemory&,
                                            Trial<Number>& trial) {
        typename Steps::template Work<Number, num_stages, State<Number>*> work;
        work.u = trial.u;
        Steps::template run<true>(in, work, trial.failed);
        Steps::set_next_state(in.y, work, trial.next);
        if constexpr (estimates_error) Steps::set_error(work, trial.error);
    }

    /// For reports of steps that cannot be made.
    template <class Input>
    [[nodiscard]] EDDY_HD static int singular_component(const Input& in, int place) {
        return look_at_start(in, [&](const auto&, const auto& lu, const auto& matrix) {
            return lu.failed_pivot(matrix, place);
        });
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static int infinite_component(const Input& in, int place) {
        return look_at_start(in, [&](const auto& f, const auto&, const auto& matrix) {
            return detail::infinite_row<typename Steps::Matrix>(f, matrix, place);
        });
    }

    /// The states within a step.
    template <class Number, class Real>
    struct Within {
        State<Number> y, next;
        Real h;
        State<Number> sum[Method::interpolant.num_powers];  // Σ_i h_ri U_i

        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> at(const Theta& fraction) const {
            const Real theta(fraction);
            State<Number> state = bend(theta, false);
            const Real left = Real(1) - theta, weight = theta * left;
            for_components<state_size>([&](int i) {
                state[i] = mul_add(weight, state[i], mul_add(theta, next[i], left * y[i]));
            });
            return state;
        }
        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> slope(const Theta& fraction) const {
            const Real theta(fraction);
            const State<Number> value = bend(theta, false), rate = bend(theta, true);
            State<Number> state;
            const Real weight = theta * (Real(1) - theta), turn = Real(1) - (theta + theta);
            for_components<state_size>([&](int i) {
                const Number by_theta =
                    mul_add(weight, rate[i], mul_add(turn, value[i], next[i] - y[i]));
                state[i] = by_theta / h;
            });
            return state;
        }

      private:
        /// Σ_r θ^r sum_r, or its derivative, by Horner's rule.
        [[nodiscard]] EDDY_HD State<Number> bend(const Real& theta, bool derivative) const {
            State<Number> value{};
            for (int r = Method::interpolant.num_powers; r-- > (derivative ? 1 : 0);) {
                const auto power = static_cast<ScalarOf<Number>>(derivative ? r : 1);
                for_components<state_size>(
                    [&](int i) { value[i] = mul_add(theta, value[i], Real(power) * sum[r][i]); });
            }
            return value;
        }
    };
    template <class Input, class Number>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in, const Trial<Number>& trial) {
        return interpolant(in.y, trial.next, in.dt.h, trial.u);
    }
    template <class Number, class Real>
    [[nodiscard]] EDDY_HD static auto interpolant(const State<Number>& y, const State<Number>& next,
                                                  const Real& h,
                                                  const State<Number> (&u)[num_stages]) {
        Within<Number, Real> within{y, next, h, {}};
        for_weights([&]<int r, int i>(double weight) {
            detail::add_scaled(within.sum[r], static_cast<ScalarOf<Number>>(weight), u[i]);
        });
        return within;
    }

    /// What the points within a step bring to its start, its end and its stages.
    template <class Number>
    struct DenseCotangent {
        State<Number> y{}, next{};
        State<Number> stage[num_needed_stages]{};
    };
    template <class Input, class Theta, class Number>
    EDDY_HD static void pull_interpolant(const Input&, const Theta& theta,
                                         const State<Number>& cotangent,
                                         DenseCotangent<Number>& dense) {
        const Theta left = Theta(1) - theta;
        detail::add_scaled(dense.y, left, cotangent);
        detail::add_scaled(dense.next, theta, cotangent);
        Theta power[Method::interpolant.num_powers];  // θ (1 − θ) θ^r
        power[0] = theta * left;
        static_for<1, Method::interpolant.num_powers>(
            [&]<int r>() { power[r] = power[r - 1] * theta; });
        for_weights([&]<int r, int i>(double weight) {
            detail::add_scaled(dense.stage[i],
                               Theta(static_cast<ScalarOf<Theta>>(weight)) * power[r], cotangent);
        });
    }

  private:
    friend Base;
    template <class Number>
    using WorkOfStep = typename Steps::template Work<Number, num_needed_stages>;
    template <class Input, class Work>
    EDDY_INLINE EDDY_HD static void replay(const Input& in, Work& work) {
        NotKept<State<NumberOf<Input>>> unasked;
        Steps::template run<false>(in, work, unasked);
    }

    /// What look(f, factors, matrix) says at the start of a step.
    template <class Input, class Look>
    [[nodiscard]] EDDY_HD static int look_at_start(const Input& in, const Look& look) {
        typename Steps::template Work<NumberOf<Input>, 1> work;
        int component = -1;
        State<NumberOf<Input>> f;
        Steps::begin(in, work, f,
                     [&](const auto& lu, const auto& matrix) { component = look(f, lu, matrix); });
        return component;
    }

    /// Calls body.template operator()<r, i>(h_ri) for the weights of dense output that are not zero.
    template <class Body>
    EDDY_HD static void for_weights(Body&& body) {
        static_for<0, Method::interpolant.num_powers>([&]<int r>() {
            static_for<0, num_needed_stages>([&]<int i>() {
                constexpr double weight = Method::interpolant.h[r][i];
                if constexpr (weight != 0) body.template operator()<r, i>(weight);
            });
        });
    }
};

}  // namespace eddy::inline v0
