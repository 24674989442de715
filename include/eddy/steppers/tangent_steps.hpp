#pragma once
// Many tangents through one explicit Runge–Kutta step: the step's own derivative, by the Jacobians at its stages,
//
//   K_i = J_i (S + dt Σ_j a_ij K_j) + ∂f_i/∂p,   S⁺ = S + dt Σ_i b_i K_i,   J_i = ∂f/∂y at stage i.
//
// The Jacobians are computed once for all directions; each direction then costs a multiplication by their
// structural non-zeros. In exact arithmetic it is what a dual number's tangent is.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <eddy/steppers/tangent_parts.hpp>

namespace eddy::inline v0::detail {

/// `of_p`: whether some directions are those of parameters.
template <class Field, RungeKuttaMethod Method, bool estimates_error, bool of_p>
struct TangentSteps {
    using Steps = ExplicitRungeKutta<Field, Method>;
    using Stepper = ExplicitRungeKuttaStepper<OdeTerm<Field>, Method, estimates_error>;
    using Dense = Interpolant<Method>;
    using Jacobians = FieldJacobians<FieldProgram<Field>, of_p>;
    static constexpr int size = Field::state_size;
    using Products = TangentProducts<Jacobians>;
    static constexpr int num_stages = estimates_error ? Steps::num_error_stages : Steps::num_stages;
    /// Is the last stage the one at the step's end?
    static constexpr bool ends_at_stage = estimates_error && is_fsal<Method>;
    static constexpr int num_dense_stages = Steps::num_dense_stages;
    template <class Number>
    using State = Vec<Number, size>;
    template <class Number>
    using Taken = TakenStages<Number, num_dense_stages, size>;

    /// The Jacobians at all stages.
    template <class Number>
    struct Linearization {
        typename Jacobians::template Values<Number> slopes[num_dense_stages];
    };
    /// Those of a step from its stages, of which the dense ones count only where `dense`.
    template <class Input, class Number>
    static void linearize(const Input& in, const State<Number> (&k)[num_dense_stages], bool dense,
                          Linearization<Number>& of_step) {
        typename Products::template AtStages<Input> entries{in};
        for_stages(dense, [&]<int i>() {
            constexpr double c = Steps::Rows::tableau.c[i];
            entries.add(of_step.slopes[i], stage_time_of(in.t, in.dt, c),
                        Steps::template stage_state<i>(in.y, in.dt, k));
        });
        entries.finish();
    }

    /// What the stages of a Number of tangents get from ∂f/∂p.
    template <class Number>
    using Sources = FieldSources<Jacobians, Field, Number, num_dense_stages>;

    /// The step of tangents that are `s` where it begins.
    template <class Size, class Primal, class Number>
    static void take(const Size& dt, const State<Number>& s, const Linearization<Primal>& of_step,
                     const Sources<Number>& sources, bool dense, Taken<Number>& taken) {
        auto& k = taken.k;
        for_stages(dense, [&]<int i>() EDDY_INLINE {
            // As the stages of the state: a component after another, so that long ones need no text of their own.
            State<Number> stage;
            for_components<size>([&](int c) EDDY_INLINE {
                Number sum = s.data[c];
                static_for<0, i>([&]<int j>() EDDY_INLINE {
                    constexpr double a = Steps::Rows::tableau.a[i][j];
                    if constexpr (a != 0)
                        sum =
                            mul_add(dt.template a<typename Steps::Rows, i, j>(), k[j].data[c], sum);
                });
                stage.data[c] = sum;
            });
            k[i] = sources.of[i];
            Products::add(of_step.slopes[i].by_y, stage, k[i]);
            if constexpr (ends_at_stage && i + 1 == num_stages) taken.next = stage;
        });
        if constexpr (!ends_at_stage) {
            for_components<size>([&](int c) EDDY_INLINE {
                Number sum = s.data[c];
                static_for<0, Steps::num_stages>([&]<int i>() EDDY_INLINE {
                    constexpr double b = Steps::Rows::tableau.b[i];
                    if constexpr (b != 0)
                        sum = mul_add(dt.template b<typename Steps::Rows, i>(), k[i].data[c], sum);
                });
                taken.next.data[c] = sum;
            });
        }
    }
    template <class Size, class Number>
    [[nodiscard]] static State<Number> error(const Size& dt, const auto&,
                                             const Taken<Number>& taken) {
        return Steps::error(dt, taken.k);
    }
    /// θ of the way from s to its end.
    template <class Size, class Number, class Theta>
    [[nodiscard]] static State<Number> within(const State<Number>& s, const Size& dt,
                                              const Taken<Number>& taken, const Theta& theta) {
        return Dense::evaluate(s, dt.h, taken.k, theta);
    }
    /// A step of states, given what was tried, or anew.
    template <class Input, class... Trial>
    [[nodiscard]] static auto taken(const Input& in, const Trial&... trial) {
        Taken<NumberOf<Input>> taken;
        const auto within = Stepper::interpolant(in, trial...);
        for (int i = 0; i < num_dense_stages; ++i) taken.k[i] = within.k[i];
        if constexpr (sizeof...(Trial) == 0)
            taken.next = Steps::next_state(in.y, in.dt, taken.k);
        else
            taken.next = (trial.next, ...);
        return taken;
    }

  private:
    template <class Body>
    EDDY_INLINE static void for_stages(bool dense, const Body& body) {
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE { body.template operator()<i>(); });
        if (!dense) return;
        static_for<num_stages, num_dense_stages>(
            [&]<int i>() EDDY_INLINE { body.template operator()<i>(); });
    }
};

}  // namespace eddy::inline v0::detail
