#pragma once
// One step of an explicit Runge–Kutta method and its discrete adjoint, for every tableau, scalar
// type and machine:
//
//   Y_i = y + dt Σ_j a_ij k_j,   k_i = f(t + c_i dt, Y_i, p),   y⁺ = y + dt Σ_i b_i k_i
//
// The adjoint recomputes the stages and runs the same sums backwards (Hager 2000, Numer. Math. 87,
// eq. 20 ff.):
//
//   k̄_i = dt (b_i ȳ⁺ + Σ_j a_ji Ȳ_j),   (Ȳ_i, p̄_i) = k̄_iᵀ ∂f/∂(y, p),
//   ȳ = ȳ⁺ + Σ_i Ȳ_i,   p̄ = Σ_i p̄_i
//
// Stages are computed as far as somebody needs them: for y⁺ (not the last one of an FSAL method),
// for the error estimate, for dense output. Step sizes are data unless their cotangent is asked
// for.
// Test: tests/steppers/explicit_rk.cpp

#include <eddy/ad/vjp.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/interpolant.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/steppers/stepper.hpp>
#include <eddy/trace/field.hpp>

namespace eddy::inline v0 {

/// A step of `Method` for the vector field `Field`.
template <class Field, RungeKuttaMethod Method>
struct ExplicitRungeKutta {
    static_assert(ValidTableau<Method>::value);
    using Program = FieldProgram<Field>;
    /// The rows of all stages: the method's own, then those of its dense output.
    struct Rows {
        static constexpr auto tableau = Interpolant<Method>::stage_tableau;
    };
    static constexpr int num_stages = detail::num_needed_stages<Method>;  // that y⁺ needs
    static constexpr int num_error_stages = Method::tableau.num_stages;   // that the error needs
    static constexpr int num_dense_stages =
        Interpolant<Method>::num_stages;  // that dense output needs
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = detail::program_parameters_of<Field>;
    template <class Number>
    using State = Vec<Number, state_size>;
    /// Where a stage is taken, and what its pullback needs.
    template <class Number, bool has_times>
    using Stage = typename OdeTerm<Field>::template Linearized<Number, has_times>;

    /// y⁺ from y. `p` is anything with operator[]; `dt` a number, a pack or a StepSize.
    template <class Time, class Number, class Parameters, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> step(const Time& t,
                                                                          const State<Number>& y,
                                                                          const Parameters& p,
                                                                          const Size& dt) {
        const auto& size = as_step_size(dt);
        State<Number> k[num_stages];
        stages<0, num_stages>(t, y, p, size, k);
        return next_state(y, size, k);
    }

    /// Computes k_i for i in [first, last) from those before.
    template <int first, int last, class Time, class Number, class Parameters, class Size, int room>
    EDDY_INLINE EDDY_HD static constexpr void stages(const Time& t, const State<Number>& y,
                                                     const Parameters& p, const Size& size,
                                                     State<Number> (&k)[room]) {
        static_for<first, last>([&]<int i>() EDDY_INLINE {
            if constexpr (i == 0 && detail::sums_by_component<state_size>)
                derivative<i>(t, y, p, size, k[i]);  // no copy of it
            else
                derivative<i>(t, stage_state<i>(y, size, k), p, size, k[i]);
        });
    }

    /// Y_i, where stage i is taken.
    template <int i, class Number, class Size, int room>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> stage_state(
        const State<Number>& y, const Size& size, const State<Number> (&k)[room]) {
        return detail::weighted_sum<RowOfA<i>, i>(y, size, k);
    }

    /// y⁺ from the stages.
    template <class Number, class Size, int room>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> next_state(
        const State<Number>& y, const Size& size, const State<Number> (&k)[room]) {
        return detail::weighted_sum<RowOfB, num_stages>(y, size, k);
    }

    /// The error estimate dt Σ_i (b_i − b̂_i) k_i; the coarse one where a method has two.
    template <bool coarse = false, class Number, class Size, int room>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> error(
        const Size& size, const State<Number> (&k)[room]) {
        using Weight = ScalarOf<Number>;
        State<Number> sum{};
        static_for<0, num_error_stages>([&]<int i>() EDDY_INLINE {
            constexpr double e = RowOfError<coarse>::at(i);
            if constexpr (e != 0 && !coarse && compiling_for_device &&
                          std::is_same_v<Weight, double>)
                detail::add_scaled(sum, static_cast<Weight>(detail::operands_of<Rows>().b_error[i]),
                                   k[i]);
            else if constexpr (e != 0)
                detail::add_scaled(sum, static_cast<Weight>(e), k[i]);
        });
        return detail::scaled(size.h, sum);
    }

    /// The cotangent of y from that of y⁺; adds the cotangent of p to `p_cotangent[component]`.
    template <class Time, class Number, class Parameters, class Size, class ParameterCotangent>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> pullback(
        const Time& t, const State<Number>& y, const Parameters& p, const Size& dt,
        const State<Number>& next_cotangent, ParameterCotangent& p_cotangent) {
        NoTimeCotangents unasked;
        return pullback(t, y, p, dt, next_cotangent, NoCotangent{}, p_cotangent, unasked);
    }

    /// The same where the stages have cotangents of their own, one for each dense stage, and where
    /// those of t and dt are asked for; they are added to `times`.
    template <class Time, class Number, class Parameters, class Size, class OwnCotangents,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> pullback(
        const Time& t, const State<Number>& y, const Parameters& p, const Size& dt,
        const State<Number>& next_cotangent, const OwnCotangents& own_cotangents,
        ParameterCotangent& p_cotangent, Times& times) {
        constexpr bool has_own = !std::is_same_v<OwnCotangents, NoCotangent>;
        constexpr int count = has_own ? num_dense_stages : num_stages;
        const auto& size = as_step_size(dt);
        State<Number> k[count];
        Stage<Number, !std::is_same_v<Times, NoTimeCotangents>> stage[count];
        linearize_stages(t, y, p, size, k, stage);
        return pull_stages(t, p, size, k, stage, next_cotangent, own_cotangents, p_cotangent,
                           times);
    }

    /// The first half of a pullback, for callers that do many in turn: either half is a long chain
    /// of operations. The first `count` stages, and the states where they are taken.
    template <class Time, class Number, class Parameters, class Size, bool has_times, int count>
    EDDY_INLINE EDDY_HD static constexpr void linearize_stages(
        const Time& t, const State<Number>& y, const Parameters& p, const Size& size,
        State<Number> (&k)[count], Stage<Number, has_times> (&stage)[count]) {
        static_for<0, count>([&]<int i>() EDDY_INLINE {
            stage[i].y = stage_state<i>(y, size, k);
            OdeTerm<Field>::linearize(stage_time<i>(t, size), stage[i], p, k[i]);
        });
    }

    /// The second half. k is read where the cotangents of times are asked for, and only there.
    template <class Time, class Number, class Parameters, class Size, class Stages, int count,
              bool has_times, class OwnCotangents, class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> pull_stages(
        const Time& t, const Parameters& p, const Size& size, [[maybe_unused]] const Stages& k,
        const Stage<Number, has_times> (&stage)[count], const State<Number>& next_cotangent,
        const OwnCotangents& own_cotangents, ParameterCotangent& p_cotangent, Times& times) {
        State<Number> cotangent = next_cotangent;
        State<Number> stage_cotangent[count];
        static_for<0, count>([&]<int reversed>() EDDY_INLINE {
            constexpr int i = count - 1 - reversed;
            State<Number> k_cotangent = of_sums<i, count>(size, next_cotangent, stage_cotangent);
            if constexpr (has_times) times.dt = times.dt + dot(k[i], k_cotangent) / size.h;
            k_cotangent = k_cotangent + own_cotangents[i];
            const Number t_cotangent = OdeTerm<Field>::pull_linearized(
                stage_time<i>(t, size), stage[i], p, k_cotangent, stage_cotangent[i], p_cotangent);
            if constexpr (has_times) {
                constexpr double c = Rows::tableau.c[i];
                times.t = times.t + t_cotangent;
                times.dt = mul_add(static_cast<ScalarOf<Number>>(c), t_cotangent, times.dt);
            }
            cotangent = cotangent + stage_cotangent[i];
        });
        return cotangent;
    }

  private:
    template <int i>
    struct RowOfA {
        static constexpr int stage(int j) { return j; }
        static constexpr double at(int j) { return Rows::tableau.a[i][j]; }
        template <int j, class Size>
        EDDY_INLINE EDDY_HD static constexpr auto weight(const Size& size) {
            return size.template a<Rows, i, j>();
        }
    };
    /// The last stage first.
    template <int i, int count>
    struct ColumnOfA {
        static constexpr int stage(int r) { return count - 1 - r; }
        static constexpr double at(int r) { return Rows::tableau.a[stage(r)][i]; }
        template <int r, class Size>
        EDDY_INLINE EDDY_HD static constexpr auto weight(const Size& size) {
            return size.template a<Rows, stage(r), i>();
        }
    };
    struct RowOfB {
        static constexpr int stage(int i) { return i; }
        static constexpr double at(int i) { return Rows::tableau.b[i]; }
        template <int i, class Size>
        EDDY_INLINE EDDY_HD static constexpr auto weight(const Size& size) {
            return size.template b<Rows, i>();
        }
    };
    template <bool coarse>
    struct RowOfError {
        static constexpr double at(int i) {
            if constexpr (coarse)
                return Method::b_coarse_error[i];
            else
                return Rows::tableau.b_error[i];
        }
    };

    /// t + c_i dt; or what t itself says of that fraction of the step.
    template <int i, class Time, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr auto stage_time(const Time& t,
                                                                       const Size& size) {
        constexpr double c = Rows::tableau.c[i];
        return detail::stage_time_of(t, size, c);
    }

    /// f at stage i.
    template <int i, class Time, class Number, class Parameters, class Size>
    EDDY_INLINE EDDY_HD static constexpr void derivative(const Time& t, const State<Number>& stage,
                                                         const Parameters& p, const Size& size,
                                                         State<Number>& k) {
        OdeTerm<Field>::derivative(stage_time<i>(t, size), stage, p, k);
    }

    /// dt (b_i ȳ⁺ + Σ_j a_ji Ȳ_j).
    template <int i, int count, class Number, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr State<Number> of_sums(
        const Size& size, const State<Number>& next_cotangent,
        const State<Number> (&stage_cotangent)[count]) {
        constexpr double b = Rows::tableau.b[i];
        State<Number> sum{};
        if constexpr (b != 0) sum = detail::scaled(size.template b<Rows, i>(), next_cotangent);
        // The newest last: the sum waits for it.
        return detail::weighted_sum<ColumnOfA<i, count>, count - 1 - i>(sum, size, stage_cotangent);
    }
};

}  // namespace eddy::inline v0
