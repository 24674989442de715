#pragma once
// The step of a method for Langevin's equation: one program, (t, state, p, step and noise, t + h) →
// state, which the method writes down in terms of the field. Its adjoint is the vector-Jacobian
// product of the program, with the noise as data.

#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <numbers>

namespace eddy::inline v0 {

/// What friction makes of a step: of a velocity after it, and of means of it over the step, for
/// z = γ h. Each is near 1 for little friction, where the closed forms lose all digits.
template <class Number>
struct FrictionFactors {
    Number decay;   // e^−z
    Number first;   // (1 − e^−z)/z
    Number second;  // (e^−z + z − 1)/z²
    Number area;    // 6 (e^−z (z + 2) + z − 2)/z³
};

namespace detail {

/// Σ_k term(k) (−z)^k, with as many terms as double precision takes up to z = 1.
template <class Number, class Term>
[[nodiscard]] constexpr auto friction_series(const Number& z, const Term& term) {
    constexpr int last = 17;
    auto sum = 0. * z + term(last);
    for (int k = last - 1; k >= 0; --k) sum = term(k) - sum * z;
    return sum;
}
[[nodiscard]] constexpr double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

}  // namespace detail

template <class Number>
[[nodiscard]] constexpr auto friction_factors(const Number& z) {
    const auto decay = eddy::exp(-1. * z);
    const auto is_small = z < 1.;
    const auto choose = [&](const auto& closed, auto term) {
        return eddy::select(is_small, detail::friction_series(z, term), closed);
    };
    const auto first = choose((1. - decay) / z, [](int k) { return 1 / detail::factorial(k + 1); });
    const auto second =
        choose((decay + z - 1.) / (z * z), [](int k) { return 1 / detail::factorial(k + 2); });
    const auto area = choose(6. * (decay * (z + 2.) + z - 2.) / (z * z * z),
                             [](int k) { return 6 * (k + 1) / detail::factorial(k + 3); });
    return FrictionFactors<std::remove_cvref_t<decltype(first)>>{decay, first, second, area};
}

/// `Method::Step<Field>` is called as step(t, x, v, p, h, w, area, t + h), w and the space-time Lévy
/// area being vectors, and returns the state at the step's end.
template <class Term, class Method>
struct KineticStepper : PathStepper<KineticStepper<Term, Method>, Term, Method> {
    static_assert(detail::is_kinetic<Term>,
                  "Langevin method: the equation must be a struct with force(t, x, p), friction(p) "
                  "and temperature(p), whose state is (x, v)");
    static constexpr int state_size = Term::state_size;
    static constexpr int parameter_size = Term::parameter_size;
    static constexpr int num_noises = Term::num_noises;
    static constexpr bool wants_area = true;
    static constexpr int evaluations_per_attempt = Method::evaluations;
    static constexpr int evaluations_per_replay = evaluations_per_attempt;

    template <class Time>
    using Path = BrownianPath<Time>;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    struct Trial {
        State<Number> next;
    };
    struct Rows {
        struct Weights {
            static constexpr int num_stages = 1;
            double a[1][1], b[1];
        };
        static constexpr Weights tableau{{{0}}, {1}};
    };
    template <class Scalar>
    using ConstantSize = UniformStepSize<Rows, Scalar>;

    template <class Input>
    [[nodiscard, gnu::always_inline]] EDDY_HD static auto step(const Input& in, const NoMemory&) {
        using Number = NumberOf<Input>;
        return next_state<Number>(in, noise_of<Number>(in));
    }
    template <class Input, class Number>
    [[gnu::always_inline]] EDDY_HD static void attempt(const Input& in, const NoMemory& memory,
                                                       Trial<Number>& trial) {
        trial.next = step(in, memory);
    }

    /// h, then W of each noise, then its area.
    template <class Number>
    using Noise = Vec<Number, 1 + 2 * num_noises>;
    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization : PathLinearization<with_times> {
        Noise<Number> noise;
    };
    template <class Input, class Number, bool with_times, bool dense>
    [[gnu::always_inline]] EDDY_HD static void linearize(
        const Input& in, const NoMemory&, Linearization<Number, with_times, dense>& of_step) {
        of_step.noise = noise_of<Number>(in);
    }
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard, gnu::always_inline]] EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense&, ParameterCotangent& p_cotangent,
        Times&) {
        using Pullback = decltype(vjp<1, 2>(Program{}));
        State<Number> cotangent{};
        evaluate<Pullback, Number>(
            [&]<int output>(int component, const Number& value) __attribute__((always_inline)) {
                if constexpr (output == 0)
                    cotangent.data[component] = value;
                else
                    detail::accumulate(p_cotangent, component, value);
            },
            time_at(in, 0.), in.y, in.p, of_step.noise, time_at(in, 1.), next_cotangent);
        return cotangent;
    }

  private:
    struct Traced {
        constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& noise,
                                  auto end) const {
            using Step = typename Method::template Step<typename Term::Field>;
            return Step{}(t, slice<0, num_noises>(y), slice<num_noises, num_noises>(y), p, noise[0],
                          slice<1, num_noises>(noise), slice<1 + num_noises, num_noises>(noise),
                          end);
        }
    };
    using Program = decltype(trace<Scalar, Vector<state_size>, Vector<parameter_size>,
                                   Vector<1 + 2 * num_noises>, Scalar>(Traced{}));

    template <class Input>
    [[nodiscard, gnu::always_inline]] EDDY_HD static auto time_at(const Input& in, double c) {
        if constexpr (requires { in.t.at_fraction(c); })
            return in.t.at_fraction(c);
        else
            return in.t + in.dt.fraction(c);
    }
    template <class Number, class Input>
    [[nodiscard, gnu::always_inline]] EDDY_HD static Noise<Number> noise_of(const Input& in) {
        const auto path = in.path.template increments<PrimalOf<Number>, num_noises, true>();
        Noise<Number> noise;
        noise[0] = convert<Number>(in.dt.h);
        for_components<num_noises>([&](int k) __attribute__((always_inline)) {
            noise[1 + k] = convert<Number>(path.w[k]);
            noise[1 + num_noises + k] = convert<Number>(path.h[k]);
        });
        return noise;
    }
    template <class Number, class Input>
    [[nodiscard, gnu::always_inline]] EDDY_HD static State<Number> next_state(
        const Input& in, const Noise<Number>& noise) {
        State<Number> next{};
        evaluate<Program, Number>(
            [&]<int output>(int component, const Number& value)
                __attribute__((always_inline)) { next.data[component] = value; },
            time_at(in, 0.), in.y, in.p, noise, time_at(in, 1.));
        return next;
    }
};

}  // namespace eddy::inline v0
