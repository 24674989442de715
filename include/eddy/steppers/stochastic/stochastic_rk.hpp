#pragma once
// The step of a stochastic Runge–Kutta method, and its exact discrete adjoint: the increments of the
// path are data, met again on the way back. Only what the table weighs is computed, and of the
// diffusion only the entries that are not zero by construction.
// Test: tests/steppers/stochastic.cpp

#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/brownian/dyadic_path.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <eddy/steppers/pull_program.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/steppers/stochastic/path_stepper.hpp>
#include <eddy/steppers/stochastic/step_noise.hpp>

namespace eddy::inline v0 {

template <class Term, StochasticMethod Method, bool estimates_error>
struct StochasticRungeKuttaStepper
    : PathStepper<StochasticRungeKuttaStepper<Term, Method, estimates_error>, Term, Method> {
    static_assert(ValidStochasticTableau<Method>::value);
    static_assert(!estimates_error || Method::stochastic.estimates_error());
    static_assert(Method::noise != NoiseClass::additive || Term::noise == NoiseClass::additive,
                  "stochastic equation: this method is for additive noise, a diffusion that does "
                  "not read y; take one for general noise, such as EulerMaruyama or EulerHeun");
    static_assert(
        Method::noise != NoiseClass::diagonal || Term::noise <= NoiseClass::diagonal,
        "stochastic equation: this method is for scalar, diagonal or additive noise; take "
        "one for general noise, such as EulerMaruyama or EulerHeun, or Milstein where the noise "
        "commutes and the field says so by `commutative = true`");
    static constexpr int num_stages = Method::stochastic.num_stages;
    static constexpr auto needs = detail::needs_of(Method::stochastic);

    static constexpr int state_size = Term::state_size;
    static constexpr int parameter_size = Term::parameter_size;
    static constexpr int num_noises = Term::num_noises;
    static constexpr int num_entries = Term::num_entries;
    static constexpr int num_areas = needs.area ? 1 : 0;  // that it reads of the path
    static constexpr int evaluations_per_attempt = [] {   // of the drift
        int count = 0;
        for (const bool needed : needs.drift) count += needed ? 1 : 0;
        return count;
    }();
    static constexpr int evaluations_per_replay = evaluations_per_attempt;

    template <class Time>
    using Path = std::conditional_t<estimates_error, DyadicPath<Time>, BrownianPath<Time>>;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    struct Trial {
        [[no_unique_address]] KeptIf<estimates_error, State<Number>> error;
        State<Number> next;
    };
    struct Rows {
        static constexpr auto tableau = [] {
            DriftWeights<num_stages> weights;
            for (int i = 0; i < num_stages; ++i) {
                weights.b[i] = Method::stochastic.b[i];
                for (int j = 0; j < num_stages; ++j) weights.a[i][j] = Method::stochastic.a[i][j];
            }
            return weights;
        }();
    };
    /// The weights of the error in place of b.
    struct ErrorRow {
        static constexpr auto tableau = [] {
            DriftWeights<num_stages> weights;
            for (int i = 0; i < num_stages; ++i) weights.b[i] = Method::stochastic.e[i];
            return weights;
        }();
    };
    template <class Scalar>
    using ConstantSize = UniformStepSize<Rows, Scalar>;

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const NoMemory&) {
        using Number = NumberOf<Input>;
        const auto noise = Noise<PrimalOf<Number>>(in.path);
        Stages<Number> stages;
        State<Number> unused[num_stages];
        run(in, noise, stages, unused);
        return next_state(in, noise, stages);
    }
    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, const NoMemory& memory,
                                            Trial<Number>& trial) {
        if constexpr (estimates_error) {
            const auto noise = Noise<PrimalOf<Number>>(in.path);
            Stages<Number> stages;
            State<Number> unused[num_stages];
            run(in, noise, stages, unused);
            trial.next = next_state(in, noise, stages);
            trial.error = State<Number>{};
            add_sum<num_stages + 1>(in, noise, stages, trial.error);
        } else {
            trial.next = step(in, memory);
        }
    }

    template <class Real>
    using Noise = StepNoise<Real, num_noises, Method>;
    /// The states where the stages are taken, and the noise.
    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization : PathLinearization<with_times> {
        State<Number> stage[num_stages];
        Noise<PrimalOf<Number>> noise;
    };
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const NoMemory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        of_step.noise = Noise<PrimalOf<Number>>(in.path);
        Stages<Number> stages;
        run(in, of_step.noise, stages, of_step.stage);
    }

    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense&, ParameterCotangent& p_cotangent,
        Times&) {
        State<Number> cotangent = next_cotangent;
        State<Number> of_stage[num_stages];
        static_for<0, num_stages>([&]<int reversed>() EDDY_INLINE {
            constexpr int i = num_stages - 1 - reversed;
            of_stage[i] = State<Number>{};
            if constexpr (needs.drift[i] || needs.diffusion[i]) {
                State<Number> of_drift{};
                Vec<Number, num_entries> of_entries{}, of_slopes{};
                pull_sums<i>(in, of_step.noise, next_cotangent, of_stage, of_drift, of_entries);
                if constexpr (needs.slope[i])
                    add_slopes<i>(of_step.noise, [&](int e, int row, const auto& weight) {
                        of_slopes[e] = weight * next_cotangent[row];
                    });
                pull_field<i>(in, of_step, of_drift, of_entries, of_slopes, of_stage[i],
                              p_cotangent);
                cotangent = cotangent + of_stage[i];
            }
        });
        return cotangent;
    }

  private:
    template <class Number>
    struct Stages {
        State<Number> drift[num_stages];
        Vec<Number, num_entries> entries[num_stages];
        Vec<Number, num_entries> slopes[needs.slopes ? num_stages : 1];
    };
    template <detail::SdeParts parts>
    using Program = typename Term::template Program<Method::calculus, parts>;
    template <int i>
    static constexpr detail::SdeParts parts =
        needs.slope[i]                         ? detail::SdeParts::with_slopes
        : needs.drift[i] && needs.diffusion[i] ? detail::SdeParts::both
        : needs.drift[i]                       ? detail::SdeParts::drift
                                               : detail::SdeParts::diffusion;
    // Of rows: stage i, y⁺ where i is the number of stages, the estimate of the error behind it.
    /// Does row i read g of stage j?
    template <int i, int j>
    static constexpr bool reads_diffusion = detail::noise_weights<i, j>(Method::stochastic).any();
    /// The weight of h f of stage j.
    template <int i, int j, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto drift_weight(const Size& size) {
        if constexpr (i > num_stages)
            return size.template b<ErrorRow, j>();
        else if constexpr (i == num_stages)
            return size.template b<Rows, j>();
        else
            return size.template a<Rows, i, j>();
    }
    template <int i, int j>
    static constexpr bool reads_drift = [] {
        if constexpr (i > num_stages)
            return Method::stochastic.e[j] != 0;
        else if constexpr (i == num_stages)
            return Method::stochastic.b[j] != 0;
        else
            return Method::stochastic.a[i][j] != 0;
    }();

    /// Y_i, or y⁺.
    template <int i, class Input, class Real, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> sum(const Input& in,
                                                               const Noise<Real>& noise,
                                                               const Stages<Number>& stages) {
        State<Number> y = in.y;
        add_sum<i>(in, noise, stages, y);
        return y;
    }
    /// Adds what row i weighs.
    template <int i, class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void add_sum(const Input& in, const Noise<Real>& noise,
                                            const Stages<Number>& stages, State<Number>& y) {
        static_for<0, (i < num_stages ? i : num_stages)>([&]<int j>() EDDY_INLINE {
            if constexpr (reads_drift<i, j>)
                detail::add_scaled(y, drift_weight<i, j>(in.dt), stages.drift[j]);
            if constexpr (reads_diffusion<i, j>) {
                Real of_noise[num_noises];
                for_components<num_noises>(
                    [&](int k) EDDY_INLINE { of_noise[k] = noise.template weight<i, j>(k); });
                static_for<0, num_entries>([&]<int e>() EDDY_INLINE {
                    constexpr DiffusionEntry at = Term::entries.at[e];
                    y.data[at.row] =
                        mul_add(of_noise[at.noise], stages.entries[j].data[e], y.data[at.row]);
                });
            }
        });
    }
    template <class Input, class Real, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> next_state(
        const Input& in, const Noise<Real>& noise, const Stages<Number>& stages) {
        State<Number> next = sum<num_stages>(in, noise, stages);
        static_for<0, num_stages>([&]<int j>() EDDY_INLINE {
            if constexpr (needs.slope[j])
                add_slopes<j>(noise, [&](int e, int row, const auto& weight) {
                    next[row] = mul_add(weight, stages.slopes[j][e], next[row]);
                });
        });
        return next;
    }
    /// Calls add(entry, row, weight) for the slopes of stage j.
    template <int j, class Real, class Add>
    EDDY_INLINE EDDY_HD static void add_slopes(const Noise<Real>& noise, const Add& add) {
        static_for<0, num_entries>([&]<int e>() EDDY_INLINE {
            constexpr DiffusionEntry at = Term::entries.at[e];
            constexpr double b = Method::stochastic.b_slope[j];
            add(e, at.row, Real(static_cast<ScalarOf<Real>>(b)) * noise.of_slope[at.noise]);
        });
    }

    template <class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void run(const Input& in, const Noise<Real>& noise,
                                        Stages<Number>& stages,
                                        State<Number> (&stage)[num_stages]) {
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            if constexpr (needs.drift[i] || needs.diffusion[i]) {
                stage[i] = sum<i>(in, noise, stages);
                const auto take = [&]<int output>(int component, const Number& value) EDDY_INLINE {
                    if constexpr (output == 0 && needs.drift[i])
                        stages.drift[i].data[component] = value;
                    else if constexpr (output == 2)
                        stages.slopes[needs.slopes ? i : 0].data[component] = value;
                    else
                        stages.entries[i].data[component] = value;
                };
                if constexpr (needs.slope[i] && Term::slopes_take_noise)
                    evaluate<Program<parts<i>>, Number>(take, time_of<i>(in), stage[i], in.p,
                                                        noise.path.w);
                else
                    evaluate<Program<parts<i>>, Number>(take, time_of<i>(in), stage[i], in.p);
            } else {
                stage[i] = in.y;
            }
        });
    }
    template <int i, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto time_of(const Input& in) {
        constexpr double c = Method::stochastic.c[i];
        return detail::stage_time_of(in.t, in.dt, c);
    }

    /// That of Y_i, or of y⁺.
    template <int i, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static const State<Number>& cotangent_of(
        [[maybe_unused]] const State<Number>& next_cotangent,
        [[maybe_unused]] const State<Number> (&of_stage)[num_stages]) {
        if constexpr (i == num_stages)
            return next_cotangent;
        else
            return of_stage[i];
    }
    /// The cotangents of f and g of stage j from those of the sums that read them.
    template <int j, class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void pull_sums(const Input& in, const Noise<Real>& noise,
                                              const State<Number>& next_cotangent,
                                              const State<Number> (&of_stage)[num_stages],
                                              State<Number>& of_drift,
                                              Vec<Number, num_entries>& of_entries) {
        static_for<0, num_stages - j>([&]<int reversed>() EDDY_INLINE {
            constexpr int i = num_stages - reversed;  // y⁺ first, then the last stage
            const State<Number>& of_sum = cotangent_of<i>(next_cotangent, of_stage);
            if constexpr (reads_drift<i, j>)
                detail::add_scaled(of_drift, drift_weight<i, j>(in.dt), of_sum);
            if constexpr (reads_diffusion<i, j>) {
                static_for<0, num_entries>([&]<int e>() EDDY_INLINE {
                    constexpr DiffusionEntry at = Term::entries.at[e];
                    of_entries.data[e] = mul_add(noise.template weight<i, j>(at.noise),
                                                 of_sum.data[at.row], of_entries.data[e]);
                });
            }
        });
    }

    template <int i, class Input, class OfStep, class Number, class ParameterCotangent>
    EDDY_INLINE EDDY_HD static void pull_field(const Input& in, const OfStep& of_step,
                                               const State<Number>& of_drift,
                                               const Vec<Number, num_entries>& of_entries,
                                               const Vec<Number, num_entries>& of_slopes,
                                               State<Number>& of_stage,
                                               ParameterCotangent& p_cotangent) {
        using Pullback = decltype(vjp<1, 2>(Program<parts<i>>{}));
        const auto pull = [&](const auto&... cotangents) EDDY_INLINE {
            detail::pull_program<Pullback, false>(of_stage, p_cotangent, time_of<i>(in),
                                                  of_step.stage[i], in.p, cotangents...);
        };
        if constexpr (needs.slope[i] && Term::slopes_take_noise)
            pull(of_step.noise.path.w, of_drift, of_entries, of_slopes);
        else if constexpr (needs.slope[i])
            pull(of_drift, of_entries, of_slopes);
        else if constexpr (parts<i> == detail::SdeParts::both)
            pull(of_drift, of_entries);
        else if constexpr (parts<i> == detail::SdeParts::drift)
            pull(of_drift);
        else
            pull(of_entries);
    }
};

namespace detail {

template <class Field, StochasticMethod Method, bool estimates_error>
struct ChosenStepper<SdeTerm<Field>, Method, estimates_error> {
    using type = StochasticRungeKuttaStepper<SdeTerm<Field>, Method, estimates_error>;
};
template <class Field, RungeKuttaMethod Method, bool estimates_error>
struct ChosenStepper<SdeTerm<Field>, Method, estimates_error> {
    using type = StochasticRungeKuttaStepper<SdeTerm<Field>, AlongPath<Method>, estimates_error>;
};

}  // namespace detail
}  // namespace eddy::inline v0
