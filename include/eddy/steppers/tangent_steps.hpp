#pragma once
// Many tangents through one explicit Runge–Kutta step: the step's own derivative, by the Jacobians at its stages,
//
//   K_i = J_i (S + dt Σ_j a_ij K_j) + ∂f_i/∂p,   S⁺ = S + dt Σ_i b_i K_i,   J_i = ∂f/∂y at stage i.
//
// The Jacobians are computed once for all directions; each direction then costs a multiplication by their
// structural non-zeros. In exact arithmetic it is what a dual number's tangent is.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/ad/jacobians.hpp>
#include <eddy/steppers/explicit_rk.hpp>

namespace eddy::inline v0::detail {

/// `of_p`: whether some directions are those of parameters.
template <class Field, RungeKuttaMethod Method, bool estimates_error, bool of_p>
struct TangentSteps {
    using Steps = ExplicitRungeKutta<Field, Method>;
    using Dense = Interpolant<Method>;
    using Jacobians = FieldJacobians<FieldProgram<Field>, of_p>;
    static constexpr int size = Field::state_size;
    static constexpr int num_stages = estimates_error ? Steps::num_error_stages : Steps::num_stages;
    static constexpr int num_dense_stages = Steps::num_dense_stages;
    template <class Number>
    using State = Vec<Number, size>;

    /// The Jacobians at all stages.
    template <class Number>
    struct Linearization {
        typename Jacobians::template Values<Number> at[num_dense_stages];
    };
    /// Those of a step from its stages, of which the dense ones count only where `dense`.
    template <class Input, class Number>
    static void linearize(const Input& in, const State<Number> (&k)[num_dense_stages], bool dense,
                          Linearization<Number>& of_step) {
        for_stages(dense, [&]<int i>() {
            constexpr double c = Steps::Rows::tableau.c[i];
            linearize_at(stage_time_of(in.t, in.dt, c),
                         Steps::template stage_state<i>(in.y, in.dt, k), in.p, of_step.at[i]);
        });
    }

    /// Those of one place.
    template <class Number, class Lane>
    static void take_place(const Linearization<Number>& of_places, int place, bool dense,
                           Linearization<Lane>& of_place) {
        for (int i = 0; i < (dense ? num_dense_stages : num_stages); ++i) {
            const auto& from = of_places.at[i];
            auto& to = of_place.at[i];
            for (int e = 0; e < Jacobians::num_of_y; ++e)
                to.by_y[e] = get_lane(from.by_y[e], place);
            for (int e = 0; e < Jacobians::num_of_p; ++e)
                to.by_p[e] = get_lane(from.by_p[e], place);
        }
    }

    /// What the stages of a Number of tangents get from ∂f/∂p, (stage, component). Zero but where `add` has put something.
    template <class Number>
    struct Sources {
        State<Number> of[num_dense_stages]{};

        /// The entries of parameters [first, last): put(source, entry, column).
        template <class Primal, class Put>
        void set(const Linearization<Primal>& of_step, int first, int last, const Put& put) {
            if constexpr (of_p) {
                for (int e = columns.begin[first]; e < columns.begin[last]; ++e) {
                    for (int i = 0; i < num_dense_stages; ++i)
                        put(of[i][columns.row[e]], of_step.at[i].by_p[columns.entry[e]],
                            columns.column[e]);
                }
            }
        }
        void clear(int first, int last) {
            if constexpr (of_p) {
                for (int e = columns.begin[first]; e < columns.begin[last]; ++e) {
                    for (int i = 0; i < num_dense_stages; ++i) of[i][columns.row[e]] = Number(0);
                }
            }
        }
    };

    /// The stages of tangents that are `s` where the step begins.
    template <class Size, class Primal, class Number>
    static void stages(const Size& dt, const State<Number>& s, const Linearization<Primal>& of_step,
                       const Sources<Number>& sources, bool dense,
                       State<Number> (&k)[num_dense_stages]) {
        for_stages(dense, [&]<int i>() EDDY_INLINE {
            // As the stages of the state: a component after another, so that long ones need no text of their own.
            State<Number> stage;
            for_components<size>([&](int c) EDDY_INLINE {
                Number sum = s.data[c];
                static_for<0, i>([&]<int j>() EDDY_INLINE {
                    constexpr double a = Steps::Rows::tableau.a[i][j];
                    if constexpr (a != 0)
                        sum =
                            mul_add(dt.template a<typename Steps::Rows, i, j>(), k[j].data[c], sum);
                });
                stage.data[c] = sum;
            });
            if constexpr (is_short)
                multiply_here(of_step.at[i].by_y, sources.of[i], stage, k[i]);
            else
                multiply(of_step.at[i].by_y, sources.of[i], stage, k[i]);
        });
    }
    /// Where such stages lead.
    template <class Size, class Number>
    static void set_next(const Size& dt, const State<Number>& s,
                         const State<Number> (&k)[num_dense_stages], State<Number>& next) {
        for_components<size>([&](int c) EDDY_INLINE {
            Number sum = s.data[c];
            static_for<0, Steps::num_stages>([&]<int i>() EDDY_INLINE {
                constexpr double b = Steps::Rows::tableau.b[i];
                if constexpr (b != 0)
                    sum = mul_add(dt.template b<typename Steps::Rows, i>(), k[i].data[c], sum);
            });
            next.data[c] = sum;
        });
    }

  private:
    template <class Body>
    EDDY_INLINE static void for_stages(bool dense, const Body& body) {
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE { body.template operator()<i>(); });
        if (!dense) return;
        static_for<num_stages, num_dense_stages>(
            [&]<int i>() EDDY_INLINE { body.template operator()<i>(); });
    }
    template <class Time, class Number, class Parameters>
    [[gnu::noinline]] static void linearize_at(
        const Time& t, const State<Number>& y, const Parameters& p,
        typename Jacobians::template Values<Number>& values) {
        Jacobians::evaluate_into(t, y, p, values);
    }
    /// J s + source.
    template <class Primal, class Number, int room>
    EDDY_INLINE static void multiply_here(const Primal (&jacobian)[room],
                                          const State<Number>& source, const State<Number>& s,
                                          State<Number>& k) {
        static_for<0, size>([&]<int i>() EDDY_INLINE { k.data[i] = source.data[i]; });
        static_for<0, Jacobians::num_of_y>([&]<int e>() EDDY_INLINE {
            constexpr JacobianEntry at = Jacobians::OfY::frozen.entries[e];
            k.data[at.row] = mul_add(jacobian[e], s.data[at.column], k.data[at.row]);
        });
    }
    /// One text for all stages, where it is long.
    template <class Primal, class Number, int room>
    [[gnu::noinline]] static void multiply(const Primal (&jacobian)[room],
                                           const State<Number>& source, const State<Number>& s,
                                           State<Number>& k) {
        multiply_here(jacobian, source, s, k);
    }
    static constexpr bool is_short = Jacobians::num_of_y <= 16;

    /// The non-zeros of ∂f/∂p, column by column.
    struct Columns {
        int begin[Field::parameter_size + 2]{};
        int row[Jacobians::num_of_p + 1]{}, column[Jacobians::num_of_p + 1]{},
            entry[Jacobians::num_of_p + 1]{};

        constexpr Columns() {
            int count = 0;
            for (int of = 0; of < Field::parameter_size; ++of) {
                begin[of] = count;
                for (int e = 0; e < Jacobians::num_of_p; ++e) {
                    const JacobianEntry at = Jacobians::OfP::frozen.entries[e];
                    if (at.column != of) continue;
                    row[count] = at.row;
                    column[count] = of;
                    entry[count++] = e;
                }
            }
            begin[Field::parameter_size] = count;
        }
    };
    static constexpr auto columns = [] {
        if constexpr (of_p)
            return Columns();
        else
            return 0;
    }();
};

}  // namespace eddy::inline v0::detail
