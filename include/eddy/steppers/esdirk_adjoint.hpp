#pragma once
// The way back through a step of an ESDIRK method: the implicit function theorem, stage by stage, from
// the last to the first. With ζ_i the cotangent of z_i, and N_i = J_i − I/(γh) at the stage's own state,
//
//   N_iᵀ v_i = −ζ_i   (explicit stage: v_1 = hγ ζ_1),   (t̄_i, ψ̄_i, p̄) = v_iᵀ ∂f/∂(t, y, p) at Y_i,
//   ζ_i = own_i + Σ_{j>i} (a_ji/γ) ψ̄_j,   ȳ = Σ ψ̄_i,
//   h̄ = Σ (c_i t̄_i + v_i · z_i / (γh²)).
//
// The cotangent of y⁺ = Y_s is one of ζ_s and of ψ̄_s. Newton's iteration is not differentiated. Where the
// field is split, with χ_i the cotangent of x_i and ν_i that of Y_i by f_E:
//
//   ν_i = hγ χ_iᵀ ∂f_E/∂y,   N_iᵀ v_i = −(ζ_i + ν_i),   ψ̄_i = ν_i + v_iᵀ ∂f_I/∂y.
// Test: tests/steppers/esdirk.cpp

#include <eddy/steppers/esdirk.hpp>

namespace eddy::inline v0 {

/// Cotangents of the steps of `Method` for the vector field `Field`.
template <class Field, EsdirkMethod Method>
struct EsdirkAdjoint {
    using Steps = Esdirk<Field, Method>;
    using Rows = EsdirkRows<Method>;
    static constexpr int num_stages = Steps::num_stages;
    static constexpr int state_size = Steps::state_size;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    using Work = typename Steps::template Work<Number>;

    /// The cotangent of y, from that of y⁺ and from those that z_i has of its own (`own.stage`), where there
    /// are any; adds those of p, and of times where they are asked for.
    template <class Input, class Number, class Own, class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Work<Number>& work, const State<Number>& next_cotangent,
        const Own& own, ParameterCotangent& p_cotangent, Times& times) {
        State<Number> known[num_stages];  // cotangents of ψ_i
        State<Number> of_y{};
        static_for<0, num_stages>([&]<int reversed>() EDDY_INLINE {
            constexpr int i = num_stages - 1 - reversed;
            constexpr bool is_last = reversed == 0;
            State<Number> of_state{};  // of Y_i, but by f_I
            if constexpr (Steps::splits)
                of_state =
                    pull_explicit<i>(in, work, next_cotangent, own, known, p_cotangent, times);
            if constexpr (is_last) of_state = of_state + next_cotangent;
            State<Number> of_increment{};
            if constexpr (i > 0 && (is_last || Steps::splits)) of_increment = of_state;
            of_increment = of_increment + own.stage[i];
            static_for<i + 1, num_stages>([&]<int j>() EDDY_INLINE {
                constexpr double weight = Rows::weight(j, i);
                if constexpr (weight != 0)
                    detail::add_scaled(of_increment, static_cast<ScalarOf<Number>>(weight),
                                       known[j]);
            });
            known[i] = pull_stage<i>(in, work, of_increment, p_cotangent, times);
            if constexpr (is_last || Steps::splits) known[i] = known[i] + of_state;
            of_y = is_last ? known[i] : of_y + known[i];
        });
        return of_y;
    }

  private:
    /// What f_E at a stage brings to its state: by way of x_i, in the stages after it and in y⁺.
    template <int i, class Input, class Number, class Own, class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull_explicit(
        const Input& in, const Work<Number>& work, const State<Number>& next_cotangent,
        const Own& own, const State<Number> (&known)[num_stages], ParameterCotangent& p_cotangent,
        Times& times) {
        using Coefficient = ScalarOf<Number>;
        constexpr double last = Rows::last_explicit_weight(i);
        State<Number> of_increment = detail::scaled(static_cast<Coefficient>(last), next_cotangent);
        of_increment = of_increment + own.stage[i];
        static_for<i + 1, num_stages>([&]<int j>() EDDY_INLINE {
            constexpr double weight = Rows::explicit_weight(j, i);
            if constexpr (weight != 0)
                detail::add_scaled(of_increment, static_cast<Coefficient>(weight), known[j]);
        });
        const auto v = detail::scaled(Steps::template increment<Number>(in.dt), of_increment);
        return pull_part<typename Steps::Explicit, i>(in, state<i>(in, work), work.other.x[i], v,
                                                      p_cotangent, times);
    }

    /// What f_I at a stage brings to ψ_i, times and parameters.
    template <int i, class Input, class Number, class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull_stage(
        const Input& in, const Work<Number>& work, const State<Number>& of_increment,
        ParameterCotangent& p_cotangent, Times& times) {
        const State<Number>& y = state<i>(in, work);
        State<Number> v;
        if constexpr (i == 0)
            v = detail::scaled(Steps::template increment<Number>(in.dt), of_increment);
        else if constexpr (Steps::is_long)
            solve_out_of_line(in, Steps::template stage_time<i>(in), y, of_increment, v);
        else
            solve(in, Steps::template stage_time<i>(in), y, of_increment, v);
        return pull_part<typename Steps::Implicit, i>(in, y, work.z[i], v, p_cotangent, times);
    }

    /// v with Nᵀ v = −ζ, N at (t, y).
    template <class Input, class Time, class Number>
    [[gnu::noinline]] EDDY_HD static void solve_out_of_line(const Input& in, const Time& t,
                                                            const State<Number>& y,
                                                            const State<Number>& of_increment,
                                                            State<Number>& v) {
        solve(in, t, y, of_increment, v);
    }
    template <class Input, class Time, class Number>
    EDDY_INLINE EDDY_HD static void solve(const Input& in, const Time& t, const State<Number>& y,
                                          const State<Number>& of_increment, State<Number>& v) {
        typename Steps::template Lu<Number> lu;
        lu.factor(Steps::template linear<Number>(t, y, in.p, in.dt).matrix);
        v = -lu.solve_transposed(of_increment);
    }

    template <int i, class Input, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static const State<Number>& state(const Input& in,
                                                                        const Work<Number>& work) {
        if constexpr (i == 0)
            return in.y;
        else
            return work.y[i];
    }
    /// With v the cotangent of f at y, that of y; and of times, by way of the increment hγf too.
    template <class Term, int i, class Input, class Number, class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull_part(
        const Input& in, const State<Number>& y, [[maybe_unused]] const State<Number>& increment,
        const State<Number>& v, ParameterCotangent& p_cotangent, [[maybe_unused]] Times& times) {
        constexpr bool has_times = !std::is_same_v<Times, NoTimeCotangents>;
        State<Number> of_y{};
        Number of_time;
        if constexpr (Steps::is_long)
            of_time = pull_derivative_out_of_line<Term, has_times>(
                Steps::template stage_time<i>(in), y, in.p, v, of_y, p_cotangent);
        else
            of_time = Term::template pull_derivative<has_times>(Steps::template stage_time<i>(in),
                                                                y, in.p, v, of_y, p_cotangent);
        if constexpr (has_times) {
            constexpr double c = Method::coefficients.c[i];
            times.t = times.t + of_time;
            times.dt = mul_add(static_cast<ScalarOf<Number>>(c), of_time, times.dt);
            const auto weight = Steps::template per_increment<Number>(in.dt) / in.dt.h;
            times.dt = mul_add(weight, dot(v, increment), times.dt);
        }
        return of_y;
    }
    template <class Term, bool has_times, class Time, class Parameters, class Number,
              class ParameterCotangent>
    [[gnu::noinline]] EDDY_HD static Number pull_derivative_out_of_line(
        const Time& t, const State<Number>& y, const Parameters& p, const State<Number>& v,
        State<Number>& of_y, ParameterCotangent& p_cotangent) {
        return Term::template pull_derivative<has_times>(t, y, p, v, of_y, p_cotangent);
    }
};

}  // namespace eddy::inline v0
