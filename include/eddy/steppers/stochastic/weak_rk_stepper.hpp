#pragma once
// Methods of weak order 2 for noises that need not commute as a Stepper, with the exact discrete adjoint, the
// noise as data. All sums of a step are linear in what it reads of the field, so that the way back needs
// the noise and the states alone in which the field was read.
// Test: tests/steppers/weak_order.cpp, tests/steppers/weak_general.cpp

#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <eddy/steppers/stochastic/weak_rk.hpp>

namespace eddy::inline v0 {

template <class Term, WeakMethod Method, bool estimates_error>
struct WeakRungeKuttaStepper
    : PathStepper<WeakRungeKuttaStepper<Term, Method, estimates_error>, Term, Method> {
    static_assert(ValidWeakTableau<Method>::value);
    static_assert(!estimates_error, "the tables have no error estimate");
    using Steps = detail::WeakRungeKutta<Term, Method>;
    static constexpr int num_stages = Steps::num_stages;
    static constexpr int state_size = Term::state_size;
    static constexpr int num_noises = Term::num_noises;
    static constexpr int num_entries = Term::num_entries;
    static constexpr int num_areas = 0;
    static constexpr int evaluations_per_attempt = num_stages;
    static constexpr int evaluations_per_replay = num_stages;

    template <class Number>
    using State = Vec<Number, state_size>;
    using Rows = typename Steps::Rows;
    template <class Scalar>
    using ConstantSize = UniformStepSize<Rows, Scalar>;
    template <class Real>
    using Noise = typename Steps::template Noise<Real>;
    template <class Number>
    using Values = typename Steps::template Values<Number>;
    template <class Number>
    using States = typename Steps::template States<Number>;

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const NoMemory&) {
        using Number = NumberOf<Input>;
        const auto noise = Noise<PrimalOf<Number>>(in.path);
        Values<Number> values;
        States<Number> unused;
        Steps::run(in, noise, values, unused);
        return Steps::next_state(in, noise, values);
    }

    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization : PathLinearization<with_times> {
        States<Number> at;
        Noise<PrimalOf<Number>> noise;
    };
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const NoMemory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        of_step.noise = Noise<PrimalOf<Number>>(in.path);
        Values<Number> values;
        Steps::run(in, of_step.noise, values, of_step.at);
    }

    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense&, ParameterCotangent& p_cotangent,
        Times&) {
        State<Number> cotangent = next_cotangent;
        Cotangents<Number> of;
        for (int i = 0; i < num_stages; ++i) {
            of.drift[i] = State<Number>{};
            of.entries[i] = Vec<Number, num_entries>{};
        }
        pull_crossed(in, of_step, next_cotangent, of, cotangent, p_cotangent);
        static_for<0, num_stages>([&]<int reversed>() EDDY_INLINE {
            pull_stage<num_stages - 1 - reversed>(in, of_step, next_cotangent, of, cotangent,
                                                  p_cotangent);
        });
        return cotangent;
    }

  private:
    template <class Number>
    struct Cotangents {
        State<Number> drift[num_stages];
        Vec<Number, num_entries> entries[num_stages];
    };

    // The way back, in the opposite order.

    template <class Input, class Linearized, class Number, class ParameterCotangent>
    EDDY_INLINE EDDY_HD static void pull_crossed(const Input& in, const Linearized& of_step,
                                                 const State<Number>& next_cotangent,
                                                 Cotangents<Number>& of, State<Number>& cotangent,
                                                 ParameterCotangent& p_cotangent) {
        using Real = PrimalOf<Number>;
        const auto& noise = of_step.noise;
        static_for<1, num_stages>([&]<int i>() EDDY_INLINE {
            if constexpr (Steps::template is_crossed<i>) {
                Vec<Number, num_entries> of_mixed{};
                static_for<0, num_noises>([&]<int k>() EDDY_INLINE {
                    Vec<Number, num_entries> of_crossed{};
                    pull_column<k>(next_cotangent, Steps::template cross_weight<i>(noise, k),
                                   of_crossed);
                    const State<Number> pulled =
                        pull_read<k>(Steps::template own_time_at<0>(in), of_step.at.crossed[i][k],
                                     in.p, of_crossed, p_cotangent);
                    cotangent = cotangent + pulled;
                    static_for<0, num_noises>([&]<int l>() EDDY_INLINE {
                        if constexpr (l != k)
                            pull_column<l>(pulled, noise.template cross<k, l>(), of_mixed);
                    });
                });
                static_for<0, num_stages>([&]<int j>() EDDY_INLINE {
                    constexpr double a = Method::weak.a_cross[i][j];
                    if constexpr (a != 0)
                        detail::add_scaled(of.entries[j], Steps::template constant<Real>(a),
                                           of_mixed);
                });
            }
        });
    }
    template <int i, class Input, class Linearized, class Number, class ParameterCotangent>
    EDDY_INLINE EDDY_HD static void pull_stage(const Input& in, const Linearized& of_step,
                                               const State<Number>& next_cotangent,
                                               Cotangents<Number>& of, State<Number>& cotangent,
                                               ParameterCotangent& p_cotangent) {
        constexpr double b = Method::weak.b[i];
        if constexpr (b != 0)
            detail::add_scaled(of.drift[i], in.dt.template b<Rows, i>(), next_cotangent);
        static_for<0, num_noises>([&]<int k>() EDDY_INLINE {
            pull_column<k>(next_cotangent, Steps::template weight_of_own<i>(of_step.noise, k),
                           of.entries[i]);
        });
        if constexpr (i == 0) {
            pull_both(in, of, cotangent, p_cotangent);
        } else {
            pull_drift<i>(in, of_step, of, cotangent, p_cotangent);
            pull_own<i>(in, of_step, of, cotangent, p_cotangent);
        }
    }
    /// That of Y_i.
    template <int i, class Input, class Linearized, class Number, class ParameterCotangent>
    EDDY_INLINE EDDY_HD static void pull_drift(const Input& in, const Linearized& of_step,
                                               Cotangents<Number>& of, State<Number>& cotangent,
                                               ParameterCotangent& p_cotangent) {
        using Real = PrimalOf<Number>;
        const State<Number> pulled =
            detail::pull_state<typename Steps::template Program<detail::SdeParts::drift>,
                               State<Number>>(p_cotangent, Steps::template time_at<i>(in),
                                              of_step.at.drift[i], in.p, of.drift[i]);
        cotangent = cotangent + pulled;
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double a = Method::weak.a[i][j], a_w = Method::weak.a_w[i][j];
            if constexpr (a != 0)
                detail::add_scaled(of.drift[j], in.dt.template a<Rows, i, j>(), pulled);
            if constexpr (a_w != 0)
                static_for<0, num_noises>([&]<int k>() EDDY_INLINE {
                    pull_column<k>(pulled, Steps::template constant<Real>(a_w) * of_step.noise.w(k),
                                   of.entries[j]);
                });
        });
    }
    /// That of Y_ki, of all noises.
    template <int i, class Input, class Linearized, class Number, class ParameterCotangent>
    EDDY_INLINE EDDY_HD static void pull_own(const Input& in, const Linearized& of_step,
                                             Cotangents<Number>& of, State<Number>& cotangent,
                                             ParameterCotangent& p_cotangent) {
        using Real = PrimalOf<Number>;
        State<Number> along{};
        static_for<0, num_noises>([&]<int k>() EDDY_INLINE {
            const State<Number> pulled =
                pull_read<k>(Steps::template own_time_at<i>(in), of_step.at.own[i][k], in.p,
                             of.entries[i], p_cotangent);
            along = along + pulled;
            static_for<0, i>([&]<int j>() EDDY_INLINE {
                constexpr double a_root = Method::weak.a_root[i][j];
                if constexpr (a_root != 0)
                    pull_column<k>(pulled,
                                   Steps::template constant<Real>(a_root) * of_step.noise.root(),
                                   of.entries[j]);
            });
        });
        cotangent = cotangent + along;
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double a = Method::weak.a_own[i][j];
            if constexpr (a != 0)
                detail::add_scaled(of.drift[j], in.dt.template a<Rows, num_stages + i, j>(), along);
        });
    }
    /// That of stage 0.
    template <class Input, class Number, class ParameterCotangent>
    EDDY_INLINE EDDY_HD static void pull_both(const Input& in, const Cotangents<Number>& of,
                                              State<Number>& cotangent,
                                              ParameterCotangent& p_cotangent) {
        cotangent = cotangent +
                    detail::pull_state<typename Steps::template Program<detail::SdeParts::both>,
                                       State<Number>>(p_cotangent, Steps::template time_at<0>(in),
                                                      in.y, in.p, of.drift[0], of.entries[0]);
    }

    /// Adds to the cotangents of a column's entries what a sum brings that reads them with this weight.
    template <int k, class Number, class Real>
    EDDY_INLINE EDDY_HD static void pull_column(const State<Number>& of_sum, const Real& weight,
                                                Vec<Number, num_entries>& of_entries) {
        Steps::template for_column<k>([&]<int e>() EDDY_INLINE {
            constexpr int row = Term::entries.at[e].row;
            of_entries.data[e] = mul_add(weight, of_sum.data[row], of_entries.data[e]);
        });
    }
    /// The cotangent of a state where column k was read.
    template <int k, class Time, class Number, class Parameters, class ParameterCotangent>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull_read(
        const Time& t, const State<Number>& y, const Parameters& p,
        const Vec<Number, num_entries>& of_entries, ParameterCotangent& p_cotangent) {
        Vec<Number, Steps::first_entry(k + 1) - Steps::first_entry(k)> of_column;
        Steps::template for_column<k>([&]<int e>() EDDY_INLINE {
            of_column.data[e - Steps::first_entry(k)] = of_entries.data[e];
        });
        return detail::pull_state<typename Steps::template Column<k>, State<Number>>(
            p_cotangent, t, y, p, of_column);
    }
};

namespace detail {

/// For noises that commute the table of the method is enough.
template <class Field, WeakMethod Method, bool estimates_error>
requires(SdeTerm<Field>::noise >
         NoiseClass::diagonal) struct ChosenStepper<SdeTerm<Field>, Method, estimates_error> {
    using type = WeakRungeKuttaStepper<SdeTerm<Field>, Method, estimates_error>;
};

}  // namespace detail
}  // namespace eddy::inline v0
