#pragma once
// The step of a method for Langevin's equation: one program, (times, state, p, step and noise) → state,
// which the method writes down in terms of the field. Its adjoint is the vector-Jacobian product of
// the program, with the noise as data.
// Test: tests/solve/langevin.cpp

#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <iterator>

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

/// decay, first and second of them, at the price of one series: the other two follow from the second
/// without loss.
template <class Number>
struct FrictionMeans {
    Number decay, first, second;
};
template <class Number>
[[nodiscard]] constexpr auto friction_means(const Number& z) {
    const auto closed = (eddy::exp(-1. * z) + z - 1.) / (z * z);
    const auto series =
        detail::friction_series(z, [](int k) { return 1 / detail::factorial(k + 2); });
    const auto second = eddy::select(z < 1., series, closed);
    const auto first = 1. - z * second;
    const auto decay = eddy::select(z < 1., 1. - z * first, eddy::exp(-1. * z));
    return FrictionMeans<std::remove_cvref_t<decltype(second)>>{decay, first, second};
}

/// The size of a step and its noise, a vector each, as a method reads them: increments W, space-time Lévy
/// areas H and, where the method's `areas` are 2, moments K.
template <class Number, class Numbers>
struct KineticNoise {
    Number h;
    Numbers w, area, third;
};

/// `Method::Step<Field>` is called as step(times, x, v, p, noise), with the times at the method's `nodes`,
/// fractions of the step, and returns the state at the step's end.
template <class Term, class Method>
struct KineticStepper : PathStepper<KineticStepper<Term, Method>, Term, Method> {
    static_assert(detail::is_kinetic<Term>,
                  "Langevin method: the equation must be a struct with force(t, x, p), friction(p) "
                  "and temperature(p), whose state is (x, v)");
    static constexpr int state_size = Term::state_size;
    static constexpr int num_noises = Term::num_noises;
    static constexpr int num_areas = Method::areas;
    static constexpr int evaluations_per_attempt = Method::evaluations;
    static constexpr int evaluations_per_replay = evaluations_per_attempt;

    template <class Number>
    using State = Vec<Number, state_size>;
    struct Rows {
        static constexpr DriftWeights<1> tableau{{}, {1}};
    };
    template <class Scalar>
    using ConstantSize = UniformStepSize<Rows, Scalar>;

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const NoMemory&) {
        using Number = NumberOf<Input>;
        return next_state<Number>(in, noise_of<Number>(in));
    }

    /// h, then W of each noise, then its areas.
    static constexpr int noise_size = 1 + (1 + num_areas) * num_noises;
    template <class Number>
    using Noise = Vec<Number, noise_size>;
    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization : PathLinearization<with_times> {
        Noise<Number> noise;
    };
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const NoMemory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        of_step.noise = noise_of<Number>(in);
    }
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense&, ParameterCotangent& p_cotangent,
        Times&) {
        return detail::pull_state<Program, State<Number>>(p_cotangent, times_of(in), in.y, in.p,
                                                          of_step.noise, next_cotangent);
    }

  private:
    static constexpr int num_nodes = static_cast<int>(std::size(Method::nodes));
    struct Traced {
        constexpr auto operator()(const auto& times, const auto& y, const auto& p,
                                  const auto& given) const {
            using Step = typename Method::template Step<typename Term::Field>;
            const auto h = given[0];
            const auto w = slice<1, num_noises>(given);
            const auto area = slice<1 + num_noises, num_noises>(given);
            const auto third = slice<1 + num_areas * num_noises, num_noises>(given);
            const KineticNoise<std::remove_const_t<decltype(h)>, std::remove_const_t<decltype(w)>>
                noise{h, w, area, third};
            return Step{}(times, slice<0, num_noises>(y), slice<num_noises, num_noises>(y), p,
                          noise);
        }
    };
    using Program = decltype(trace<Vector<num_nodes>, Vector<state_size>,
                                   Vector<Term::parameter_size>, Vector<noise_size>>(Traced{}));

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto times_of(const Input& in) {
        Vec<std::remove_cvref_t<decltype(detail::stage_time_of(in.t, in.dt, 0.))>, num_nodes> times;
        static_for<0, num_nodes>([&]<int k>() EDDY_INLINE {
            constexpr double node = Method::nodes[k];
            times[k] = detail::stage_time_of(in.t, in.dt, node);
        });
        return times;
    }
    template <class Number, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Noise<Number> noise_of(const Input& in) {
        const auto path = in.path.template increments<PrimalOf<Number>, num_noises, num_areas>();
        Noise<Number> noise;
        noise[0] = convert<Number>(in.dt.h);
        for_components<num_noises>([&](int k) EDDY_INLINE {
            noise[1 + k] = convert<Number>(path.w[k]);
            noise[1 + num_noises + k] = convert<Number>(path.h[k]);
            if constexpr (num_areas == 2)
                noise[1 + 2 * num_noises + k] = convert<Number>(path.k[k]);
        });
        return noise;
    }
    template <class Number, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> next_state(const Input& in,
                                                                      const Noise<Number>& noise) {
        State<Number> next{};
        evaluate<Program, Number>([&]<int output>(int component, const Number& value)
                                      EDDY_INLINE { next.data[component] = value; },
                                  times_of(in), in.y, in.p, noise);
        return next;
    }
};

}  // namespace eddy::inline v0
