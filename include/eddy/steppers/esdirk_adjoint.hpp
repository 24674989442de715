#pragma once
// The way back through a step of an ESDIRK method: the implicit function theorem, stage by stage, from
// the last to the first. With ζ_i the cotangent of z_i, and N_i = J_i − I/(γh) at the stage's own state,
//
//   N_iᵀ v_i = −ζ_i   (explicit stage: v_1 = hγ ζ_1),   (t̄_i, ψ̄_i, p̄) = v_iᵀ ∂f/∂(t, y, p) at Y_i,
//   ζ_i = own_i + Σ_{j>i} (a_ji/γ) ψ̄_j,   ȳ = Σ ψ̄_i,
//   h̄ = Σ (c_i t̄_i + v_i · z_i / (γh²)).
//
// The cotangent of y⁺ = Y_s is one of ζ_s and of ψ̄_s. Newton's iteration is not differentiated.

#include <eddy/steppers/esdirk.hpp>

namespace eddy::inline v0 {

/// Cotangents of the steps of `Method` for the vector field `Field`.
template <class Field, EsdirkMethod Method>
struct EsdirkAdjoint {
    using Steps = Esdirk<Field, Method>;
    using Rows = EsdirkRows<Method>;
    static constexpr int num_stages = Steps::num_stages;
    static constexpr int state_size = Steps::state_size;
    static constexpr int parameter_size = Field::parameter_size;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    using Work = typename Steps::template Work<Number>;

    /// The cotangent of y, from that of y⁺ and from those that z_i has of its own (`own.z`), where there
    /// are any; adds those of p, and of times where they are asked for.
    template <class Input, class Number, class Own, class ParameterCotangent, class Times>
    [[nodiscard, gnu::always_inline]] EDDY_HD static State<Number> pull(
        const Input& in, const Work<Number>& work, const State<Number>& next_cotangent,
        const Own& own, ParameterCotangent& p_cotangent, Times& times) {
        if constexpr (parameter_size <= most_local) {
            Vec<Number, (parameter_size > 0 ? parameter_size : 1)> of_step{};  // added outside once
            const auto of_y = pull_stages(in, work, next_cotangent, own, of_step, times);
            for_components<parameter_size>([&](int i) __attribute__((always_inline)) {
                detail::accumulate(p_cotangent, i, of_step[i]);
            });
            return of_y;
        } else {
            return pull_stages(in, work, next_cotangent, own, p_cotangent, times);
        }
    }

  private:
    static constexpr int most_local = 64;

    template <class Input, class Number, class Own, class ParameterCotangent, class Times>
    [[nodiscard, gnu::always_inline]] EDDY_HD static State<Number> pull_stages(
        const Input& in, const Work<Number>& work, const State<Number>& next_cotangent,
        const Own& own, ParameterCotangent& p_cotangent, Times& times) {
        State<Number> known[num_stages];  // cotangents of ψ_i
        State<Number> of_y{};
        static_for<0, num_stages>([&]<int reversed>() __attribute__((always_inline)) {
            constexpr int i = num_stages - 1 - reversed;
            constexpr bool is_last = reversed == 0;
            State<Number> of_increment{};
            if constexpr (is_last) of_increment = next_cotangent;
            if constexpr (requires { own.z[i]; }) of_increment = of_increment + own.z[i];
            static_for<i + 1, num_stages>([&]<int j>() __attribute__((always_inline)) {
                constexpr double weight = Rows::weight(j, i);
                if constexpr (weight != 0)
                    detail::add_scaled(of_increment, static_cast<ScalarOf<Number>>(weight),
                                       known[j]);
            });
            known[i] = pull_stage<i>(in, work, of_increment, p_cotangent, times);
            if constexpr (is_last) known[i] = known[i] + next_cotangent;
            of_y = is_last ? known[i] : of_y + known[i];
        });
        return of_y;
    }

    /// What a stage brings to ψ_i, times and parameters.
    template <int i, class Input, class Number, class ParameterCotangent, class Times>
    [[nodiscard, gnu::always_inline]] EDDY_HD static State<Number> pull_stage(
        const Input& in, const Work<Number>& work, const State<Number>& of_increment,
        ParameterCotangent& p_cotangent, [[maybe_unused]] Times& times) {
        constexpr bool has_times = !std::is_same_v<Times, NoTimeCotangents>;
        const auto t = Steps::template stage_time<i>(in);
        const State<Number>& y = i == 0 ? in.y : work.y[i];
        State<Number> v, of_known;
        if constexpr (i == 0) {
            v = detail::scaled(Steps::template increment<Number>(in.dt), of_increment);
        } else {
            typename Steps::template Lu<Number> lu;
            lu.factor(Steps::template linear<Number>(t, y, in.p, in.dt).matrix);
            v = -lu.solve_transposed(of_increment);
        }
        const Number of_time = OdeTerm<Field>::template pull_derivative<has_times>(
            t, y, in.p, v, of_known, p_cotangent);
        if constexpr (has_times) {
            constexpr double c = Method::coefficients.c[i];
            times.t = times.t + of_time;
            times.dt = mul_add(static_cast<ScalarOf<Number>>(c), of_time, times.dt);
            const auto weight = Steps::template per_increment<Number>(in.dt) / primal(in.dt.h);
            times.dt = mul_add(weight, dot(v, work.z[i]), times.dt);
        }
        return of_known;
    }
};

}  // namespace eddy::inline v0
