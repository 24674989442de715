#pragma once
// The stages of a step of weak order 2 for noises that need not commute (weak_tableau.hpp), and the state
// after it. Each column of the diffusion is a program of its own, for it is read in states that no other
// column is read in.
// Test: tests/steppers/weak_order.cpp, tests/steppers/weak_general.cpp

#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/steppers/stochastic/path_stepper.hpp>
#include <eddy/steppers/stochastic/weak_noise.hpp>
#include <eddy/steppers/stochastic/weak_tableau.hpp>

namespace eddy::inline v0::detail {

template <class Term, WeakMethod Method>
struct WeakRungeKutta {
    static constexpr int num_stages = Method::weak.num_stages;
    static constexpr int num_noises = Term::num_noises;
    static constexpr int num_entries = Term::num_entries;
    template <class Real>
    using Noise = WeakNoise<Real, num_noises>;
    template <class Number>
    using State = Vec<Number, Term::state_size>;

    /// Weights of the drift: those of Y_i in the first rows, of Y_ki in the others.
    struct Rows {
        static constexpr auto tableau = [] {
            DriftWeights<2 * num_stages> weights;
            for (int i = 0; i < num_stages; ++i) {
                weights.b[i] = Method::weak.b[i];
                for (int j = 0; j < i; ++j) {
                    weights.a[i][j] = Method::weak.a[i][j];
                    weights.a[num_stages + i][j] = Method::weak.a_own[i][j];
                }
            }
            return weights;
        }();
    };
    /// Where drift and columns are read, after stage 0; (stage, noise).
    template <class Number>
    struct States {
        State<Number> drift[num_stages], own[num_stages][num_noises],
            crossed[num_stages][num_noises];
    };
    /// f_i, g_ki, and g_k where the other noises push.
    template <class Number>
    struct Values {
        State<Number> drift[num_stages];
        Vec<Number, num_entries> entries[num_stages], crossed[num_stages];
    };
    template <detail::SdeParts parts>
    using Program = typename Term::template Program<Calculus::ito, parts>;
    template <int noise>
    using Column = eddy::Program<detail::ColumnRecipe<typename Term::Field, noise>>;

    /// Calls body<e>() for the entries of a column.
    template <int noise, class Body>
    EDDY_INLINE EDDY_HD static void for_column(const Body& body) {
        static_for<first_entry(noise), first_entry(noise + 1)>(body);
    }
    static constexpr int first_entry(int noise) {
        int e = 0;
        while (e < num_entries && Term::entries.at[e].noise < noise) ++e;
        return e;
    }
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Real constant(double x) {
        return Real(static_cast<ScalarOf<Real>>(x));
    }

    // The factors of g_ki, and of g_k where the others push.
    template <int i, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Real own_weight(const Noise<Real>& noise, int k) {
        constexpr double of_w = Method::weak.b_w[i], of_square = Method::weak.b_w2[i];
        const Real weight = constant<Real>(of_w) * noise.w(k);
        if constexpr (of_square == 0)
            return weight;
        else
            return mul_add(constant<Real>(of_square), noise.square(k), weight);
    }
    template <int i, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Real cross_weight(const Noise<Real>& noise, int k) {
        constexpr double of_w = Method::weak.b_cross_w[i], of_root = Method::weak.b_cross_root[i];
        const Real weight = constant<Real>(of_w) * noise.w(k);
        if constexpr (of_root == 0)
            return weight;
        else
            return mul_add(constant<Real>(of_root), noise.root(), weight);
    }
    /// Of stage 0 both are read in y.
    template <int i, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Real weight_of_own(const Noise<Real>& noise, int k) {
        if constexpr (i == 0)
            return own_weight<0>(noise, k) + cross_weight<0>(noise, k);
        else
            return own_weight<i>(noise, k);
    }
    template <int i>
    static constexpr bool is_crossed = i > 0 && (Method::weak.b_cross_w[i] != 0 ||
                                                 Method::weak.b_cross_root[i] != 0);

    template <int i, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto time_at(const Input& in) {
        constexpr double c = Method::weak.c[i];
        return detail::stage_time_of(in.t, in.dt, c);
    }
    template <int i, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto own_time_at(const Input& in) {
        constexpr double c = Method::weak.c_own[i];
        return detail::stage_time_of(in.t, in.dt, c);
    }

    // A step.

    template <class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void run(const Input& in, const Noise<Real>& noise,
                                        Values<Number>& values, States<Number>& at) {
        evaluate<Program<detail::SdeParts::both>, Number>(
            [&]<int output>(int component, const Number& value) EDDY_INLINE {
                if constexpr (output == 0)
                    values.drift[0].data[component] = value;
                else
                    values.entries[0].data[component] = value;
            },
            time_at<0>(in), in.y, in.p);
        static_for<1, num_stages>([&]<int i>() EDDY_INLINE {
            run_drift<i>(in, noise, values, at);
            run_own<i>(in, noise, values, at);
        });
        static_for<1, num_stages>([&]<int i>() EDDY_INLINE {
            if constexpr (is_crossed<i>) run_crossed<i>(in, noise, values, at);
        });
    }
    template <int i, class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void run_drift(const Input& in, const Noise<Real>& noise,
                                              Values<Number>& values, States<Number>& at) {
        State<Number> y = in.y;
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double a = Method::weak.a[i][j], a_w = Method::weak.a_w[i][j];
            if constexpr (a != 0)
                detail::add_scaled(y, in.dt.template a<Rows, i, j>(), values.drift[j]);
            if constexpr (a_w != 0)
                add_columns(y, values.entries[j],
                            [&](int k) EDDY_INLINE { return constant<Real>(a_w) * noise.w(k); });
        });
        at.drift[i] = y;
        evaluate<Program<detail::SdeParts::drift>, Number>(
            [&]<int>(int component, const Number& value)
                EDDY_INLINE { values.drift[i].data[component] = value; },
            time_at<i>(in), y, in.p);
    }
    template <int i, class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void run_own(const Input& in, const Noise<Real>& noise,
                                            Values<Number>& values, States<Number>& at) {
        State<Number> along = in.y;
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double a = Method::weak.a_own[i][j];
            if constexpr (a != 0)
                detail::add_scaled(along, in.dt.template a<Rows, num_stages + i, j>(),
                                   values.drift[j]);
        });
        static_for<0, num_noises>([&]<int k>() EDDY_INLINE {
            State<Number>& y = at.own[i][k];
            y = along;
            static_for<0, i>([&]<int j>() EDDY_INLINE {
                constexpr double a_root = Method::weak.a_root[i][j];
                if constexpr (a_root != 0)
                    add_column<k>(y, constant<Real>(a_root) * noise.root(), values.entries[j]);
            });
            read_column<k>(own_time_at<i>(in), y, in.p, values.entries[i]);
        });
    }
    template <int i, class Input, class Real, class Number>
    EDDY_INLINE EDDY_HD static void run_crossed(const Input& in, const Noise<Real>& noise,
                                                Values<Number>& values, States<Number>& at) {
        Vec<Number, num_entries> mixed{};
        static_for<0, num_stages>([&]<int j>() EDDY_INLINE {
            constexpr double a = Method::weak.a_cross[i][j];
            if constexpr (a != 0) detail::add_scaled(mixed, constant<Real>(a), values.entries[j]);
        });
        static_for<0, num_noises>([&]<int k>() EDDY_INLINE {
            State<Number>& y = at.crossed[i][k];
            y = in.y;
            static_for<0, num_noises>([&]<int l>() EDDY_INLINE {
                if constexpr (l != k) add_column<l>(y, noise.template cross<k, l>(), mixed);
            });
            read_column<k>(own_time_at<0>(in), y, in.p, values.crossed[i]);
        });
    }
    template <class Input, class Real, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> next_state(
        const Input& in, const Noise<Real>& noise, const Values<Number>& values) {
        State<Number> next = in.y;
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            constexpr double b = Method::weak.b[i];
            if constexpr (b != 0)
                detail::add_scaled(next, in.dt.template b<Rows, i>(), values.drift[i]);
            add_columns(next, values.entries[i],
                        [&](int k) EDDY_INLINE { return weight_of_own<i>(noise, k); });
            if constexpr (is_crossed<i>)
                add_columns(next, values.crossed[i],
                            [&](int k) EDDY_INLINE { return cross_weight<i>(noise, k); });
        });
        return next;
    }
    /// Adds weight(noise) · entry for all entries.
    template <class Number, class Weight>
    EDDY_INLINE EDDY_HD static void add_columns(State<Number>& y,
                                                const Vec<Number, num_entries>& entries,
                                                const Weight& weight) {
        static_for<0, num_noises>([&]<int k>()
                                      EDDY_INLINE { add_column<k>(y, weight(k), entries); });
    }
    template <int k, class Number, class Real>
    EDDY_INLINE EDDY_HD static void add_column(State<Number>& y, const Real& weight,
                                               const Vec<Number, num_entries>& entries) {
        for_column<k>([&]<int e>() EDDY_INLINE {
            constexpr int row = Term::entries.at[e].row;
            y.data[row] = mul_add(weight, entries.data[e], y.data[row]);
        });
    }
    template <int k, class Time, class Number, class Parameters>
    EDDY_INLINE EDDY_HD static void read_column(const Time& t, const State<Number>& y,
                                                const Parameters& p,
                                                Vec<Number, num_entries>& entries) {
        evaluate<Column<k>, Number>(
            [&]<int>(int component, const Number& value)
                EDDY_INLINE { entries.data[first_entry(k) + component] = value; },
            t, y, p);
    }
};

}  // namespace eddy::inline v0::detail
