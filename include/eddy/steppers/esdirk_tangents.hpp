#pragma once
// Many tangents through one ESDIRK step: its stages differentiated along (s, ṗ), as esdirk.hpp does it for dual numbers,
//
//   ψ̇_i = s + Σ_{j<i} (a_ij/γ) ż_j,   (1/(hγ) − J_i) ż_i = J_i ψ̇_i + ∂f_i/∂p ṗ,   J_i = ∂f/∂y at Y_i,
//
// with ż_0 = hγ (J_0 s + ∂f_0/∂p ṗ) and S⁺ = ψ̇_s + ż_s. The Jacobians of all stages and their factors are computed once
// for all directions; each then costs the method's sums, and for each stage a product with non-zeros and a solve.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/steppers/esdirk_stepper.hpp>
#include <eddy/steppers/implicit_tangents.hpp>

namespace eddy::inline v0::detail {

/// `of_p`: whether some directions are those of parameters.
template <class Field, EsdirkMethod Method, bool estimates_error, bool of_p>
struct EsdirkTangents {
    using Stepper = EsdirkStepper<OdeTerm<Field>, Method, estimates_error>;
    using Steps = typename Stepper::Steps;
    using Rows = EsdirkRows<Method>;
    using Matrix = typename Steps::Matrix;
    static_assert(!Steps::splits);
    using Slopes = FieldJacobians<FieldProgram<Field>, of_p>;
    static constexpr int size = Field::state_size;
    static constexpr int num_stages = Stepper::num_stages, num_dense_stages = num_stages;
    template <class Number>
    using State = Vec<Number, size>;
    template <class Number>
    using Taken = TakenStages<Number, num_stages, size>;

    /// What all directions have in common.
    template <class Number>
    struct Linearization {
        SparseLu<Matrix, Number> lu[num_stages];  // of 1/(hγ) − J_i; the first filters errors
        Number increment, per_increment;          // hγ, and 1/(hγ)
        typename Slopes::template Values<Number> slopes[num_stages];
    };
    template <class Input, class Number>
    static void linearize(const Input& in, const State<Number> (&z)[num_stages], bool,
                          Linearization<Number>& of_step) {
        of_step.increment = Steps::template increment<Number>(in.dt);
        of_step.per_increment = Steps::template per_increment<Number>(in.dt);
        typename OfSlopes::template AtStages<Input> slopes{in};
        static_for<0, num_stages>([&]<int i>() {
            State<Number> y;
            set_known<i>(in.y, z, y);
            if constexpr (i > 0) y = y + z[i];
            slopes.add(of_step.slopes[i], Steps::template stage_time<i>(in), y);
        });
        slopes.finish();
        for (int i = filters ? 0 : 1; i < num_stages; ++i)
            factor_shifted<Slopes>(of_step.per_increment, of_step.slopes[i], of_step.lu[i]);
    }

    /// What a Number of tangents gets from p.
    template <class Number>
    using Sources = FieldSources<Slopes, Field, Number, num_stages>;

    /// The step of tangents that are `s` where it begins.
    template <class Size, class Primal, class Number>
    static void take(const Size&, const State<Number>& s, const Linearization<Primal>& of_step,
                     const Sources<Number>& sources, bool, Taken<Number>& taken) {
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            State<Number> known, sum = sources.of[i];
            set_known<i>(s, taken.k, known);
            OfSlopes::add(of_step.slopes[i].by_y, known, sum);
            if constexpr (i > 0)
                of_step.lu[i].solve_in_place(sum);
            else
                sum = scaled(of_step.increment, sum);
            taken.k[i] = sum;
            if constexpr (i + 1 == num_stages) taken.next = known + sum;
        });
    }
    template <class Size, class Primal, class Number>
    [[nodiscard]] static State<Number> error(const Size&, const Linearization<Primal>& of_step,
                                             const Taken<Number>& taken) {
        State<Number> sum{};
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            constexpr double weight = Rows::error_weight(i);
            if constexpr (weight != 0)
                add_scaled(sum, static_cast<ScalarOf<Number>>(weight), taken.k[i]);
        });
        if constexpr (filters) {
            sum = scaled(of_step.per_increment, sum);
            of_step.lu[0].solve_in_place(sum);
        }
        return sum;
    }
    /// θ of the way from s to its end.
    template <class Size, class Number, class Theta>
    [[nodiscard]] static State<Number> within(const State<Number>& s, const Size& dt,
                                              const Taken<Number>& taken, const Theta& theta) {
        using Real = std::remove_cvref_t<decltype(dt.h)>;
        typename Stepper::template Within<Number, Real> within{s, dt.h, {}};
        for (int i = 0; i < num_stages; ++i) within.z[i] = taken.k[i];
        return within.at(theta);
    }
    /// A step of states, given what was tried, or anew.
    template <class Input, class... Trial>
    [[nodiscard]] static auto taken(const Input& in, const Trial&... given) {
        const auto& trial = tried<Stepper>(in, given...);
        Taken<NumberOf<Input>> taken;
        for (int i = 0; i < num_stages; ++i) taken.k[i] = trial.z[i];
        taken.next = trial.next;
        return taken;
    }

  private:
    using OfSlopes = TangentProducts<Slopes>;
    static constexpr bool filters = filters_error<Method>;

    /// What of stage i is known before it: ψ_i, or its tangent.
    template <int i, class Number>
    EDDY_INLINE static void set_known(const State<Number>& y, const State<Number> (&z)[num_stages],
                                      State<Number>& known) {
        for_components<size>([&](int c) EDDY_INLINE {
            Number sum = y.data[c];
            static_for<0, i>([&]<int j>() EDDY_INLINE {
                constexpr double weight = Rows::weight(i, j);
                if constexpr (weight != 0)
                    sum = mul_add(static_cast<ScalarOf<Number>>(weight), z[j].data[c], sum);
            });
            known.data[c] = sum;
        });
    }
};

}  // namespace eddy::inline v0::detail
