#pragma once
// Steps along a truncated Taylor series, whose coefficients the traced equation gives (ad/taylor.hpp):
//
//   y⁺ = y + Σ_n Y_n,   y(t + θ dt) = y + Σ_n Y_n θⁿ,   n = 1 … order
//
// The series is its own dense output, to the same order, and its last terms tell the error. A step keeps
// nothing for the next. Its pullback is that of the program that computes the coefficients.
// Test: tests/steppers/taylor.cpp, tests/steppers/taylor_order.cpp

#include <eddy/ad/taylor.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/memoryless_stepper.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/trace/field.hpp>

namespace eddy::inline v0 {

/// `estimates_error`: whether attempts come with error estimates, as a controller wants them.
template <class Term, class Method, bool estimates_error>
struct TaylorStepper : MemorylessStepper<Term> {
    using Base = MemorylessStepper<Term>;
    using Base::state_size;
    using Field = typename Term::Field;
    using Series = decltype(taylor<Method::order>(FieldProgram<Field>{}));
    static constexpr int order = Method::order;
    static constexpr int error_order = order;
    /// One is of the whole series.
    static constexpr int evaluations_per_attempt = 1;
    static constexpr int evaluations_per_replay = 1;
    /// The coefficients hold the powers of the size.
    static constexpr bool dense_output_scales_with_size = false;

    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    struct Trial {
        [[no_unique_address]] KeptIf<estimates_error, State<Number>> error;
        State<Number> next;
    };

    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, const NoMemory&,
                                            Trial<Number>& trial) {
        State<Number> term[order];  // in registers, as far as they go
        terms(in, term);
        trial.next = next_state(in.y, term);
        if constexpr (estimates_error) trial.error = error(term);
    }

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const NoMemory&) {
        State<NumberOf<Input>> term[order];
        terms(in, term);
        return next_state(in.y, term);
    }

    /// The states within a step.
    template <class Number, class Real>
    struct Within {
        State<Number> y;
        Real h;
        State<Number> term[order];

        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> at(const Theta& fraction) const {
            const Real theta(fraction);
            State<Number> sum = term[order - 1];
            for (int n = order - 1; n-- > 0;)
                for_components<state_size>(
                    [&](int i) { sum[i] = mul_add(theta, sum[i], term[n][i]); });
            for_components<state_size>([&](int i) { sum[i] = mul_add(theta, sum[i], y[i]); });
            return sum;
        }
        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> slope(const Theta& fraction) const {
            const Real theta(fraction);
            State<Number> sum{};
            for (int n = order; n-- > 0;) {
                const Real power(static_cast<ScalarOf<Number>>(n + 1));
                for_components<state_size>(
                    [&](int i) { sum[i] = mul_add(theta, sum[i], power * term[n][i]); });
            }
            for_components<state_size>([&](int i) { sum[i] = sum[i] / h; });
            return sum;
        }
    };
    /// The terms are computed again: most steps are not asked for them.
    template <class Input, class Number>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in, const Trial<Number>&) {
        return interpolant(in);
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in) {
        using Real = std::remove_cvref_t<decltype(in.dt.h)>;
        Within<NumberOf<Input>, Real> within{in.y, in.dt.h, {}};
        terms(in, within.term);
        return within;
    }

    template <class Number>
    using DenseCotangent = StageCotangents<State<Number>, order>;
    template <class Input, class Theta, class Number>
    EDDY_HD static void pull_interpolant(const Input&, const Theta& theta,
                                         const State<Number>& cotangent,
                                         DenseCotangent<Number>& dense) {
        dense.y = dense.y + cotangent;
        Theta power = theta;
        for (int n = 0; n < order; ++n) {
            detail::add_scaled(dense.stage[n], power, cotangent);
            power = power * theta;
        }
    }

    /// The coefficients are computed again by the pullback.
    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization {
        State<Number> y;
    };
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const NoMemory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        for_components<state_size>([&](int i) EDDY_INLINE { of_step.y[i] = in.y[i]; });
    }

    /// The cotangent of y. `dense` is NoDenseCotangent, or a DenseCotangent with a dense
    /// linearization.
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense& dense, ParameterCotangent& p_cotangent,
        Times& times) {
        constexpr bool of_times = !std::is_same_v<Times, NoTimeCotangents>;
        State<Number> cotangent = next_cotangent + dense.y;
        Number t_cotangent = convert<Number>(0), h_cotangent = convert<Number>(0);
        evaluate<Pullback<of_times>, Number>(
            summing<of_times + 1>([&]<int output>(int component, const Number& value) EDDY_INLINE {
                constexpr int argument = of_times ? output : output + 1;  // of (t, y, p, h)
                if constexpr (argument == 0)
                    t_cotangent = value;
                else if constexpr (argument == 1)
                    cotangent[component] = cotangent[component] + value;
                else if constexpr (argument == 2)
                    detail::accumulate(p_cotangent, component, value);
                else
                    h_cotangent = value;
            }),
            detail::start_time_of(in.t), of_step.y, in.p, in.dt.h,
            TermCotangents<Number, Dense>{next_cotangent, dense});
        if constexpr (of_times) {
            times.t = times.t + t_cotangent;
            times.dt = times.dt + h_cotangent;
        }
        return cotangent;
    }

  private:
    template <bool of_times>
    using Pullback = std::conditional_t<of_times, decltype(vjp<0, 1, 2, 3>(Series{})),
                                        decltype(vjp<1, 2>(Series{}))>;

    /// Of all components of all terms: each has that of the next state, and its own.
    template <class Number, class Dense>
    struct TermCotangents {
        const State<Number>& next;
        const Dense& dense;

        [[nodiscard]] EDDY_INLINE EDDY_HD Number operator[](int k) const {
            const int n = k / state_size, i = k % state_size;
            return next[i] + dense.stage[n][i];
        }
    };

    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void terms(const Input& in, State<Number> (&term)[order]) {
        evaluate<Series, Number>(
            [&]<int output>(int component, const Number& value)
                EDDY_INLINE { term[component / state_size].data[component % state_size] = value; },
            detail::start_time_of(in.t), in.y, in.p, in.dt.h);
    }

    /// The smallest terms first.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> next_state(
        const State<Number>& y, const State<Number> (&term)[order]) {
        State<Number> sum = term[order - 1];
        static_for<1, order>([&]<int n>() EDDY_INLINE { sum = sum + term[order - 1 - n]; });
        return y + sum;
    }

    /// The last term. Every other one may vanish, as those of an even function do: none is taken to be
    /// more than 16 times smaller than the one before.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> error(
        const State<Number> (&term)[order]) {
        State<Number> estimate;
        const Number least = convert<Number>(1. / 16);
        for_components<state_size>([&](int i) EDDY_INLINE {
            estimate[i] = max(abs(term[order - 1][i]), least * abs(term[order - 2][i]));
        });
        return estimate;
    }
};

}  // namespace eddy::inline v0
