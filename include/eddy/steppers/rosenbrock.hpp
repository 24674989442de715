#pragma once
// One step of a Rosenbrock method, in the form of rosenbrock_tableau.hpp, and its discrete adjoint, for
// every tableau, scalar type and machine. All stages solve with one matrix, W = J − M/(γh):
//
//   W U_i = −f_i − (1/h) M Σ_j coupling_ij U_j − h d_i ∂f/∂t.
//
// The adjoint solves with the same factors, transposed (Sandu, Daescu & Carmichael 2003, Atmos. Environ.
// 37, 5083–5096, here with parameters, times and the derivatives of J and ∂f/∂t):
//
//   Wᵀ v_i = −Ū_i,                     Ū_i = m_i ȳ⁺ + Σ_j (a_ji Ȳ_j + coupling_ji Mᵀ v_j / h),
//   (Ȳ_i, p̄) = v_iᵀ ∂f/∂(y, p),        J̄ = Σ_i v_i U_iᵀ on the non-zeros of J,   τ = Σ_i d_i v_i,
//   and once a step the pullback of (t, y, p) ↦ (f, J, ∂f/∂t) with cotangents (v_0, J̄, hτ).
//
// Second derivatives of f enter by that pullback alone: no products with Hessians. Step sizes are data
// unless their cotangent is asked for.
// Test: tests/steppers/rosenbrock.cpp

#include <eddy/ad/linear_model.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/linalg/dual_lu.hpp>
#include <eddy/steppers/explicit_rk.hpp>
#include <eddy/steppers/rosenbrock_rows.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/steppers/step_matrix.hpp>

namespace eddy::inline v0 {
namespace detail {

/// A sum that begins with its first term.
template <class Number>
struct NumberSum {
    Number value;
    bool is_empty = true;  // known when it is compiled

    template <class Weight>
    EDDY_INLINE EDDY_HD constexpr void add(const Weight& weight, const Number& x) {
        if (is_empty)
            value = weight * x;
        else
            value = mul_add(weight, x, value);
        is_empty = false;
    }
    EDDY_INLINE EDDY_HD constexpr void add(const Number& x) {
        if (is_empty)
            value = x;
        else
            value = value + x;
        is_empty = false;
    }
};

/// The same of vectors.
template <class Number, int size>
struct ScaledSum {
    Vec<Number, size> value;
    bool is_empty = true;

    template <class Weight>
    EDDY_INLINE EDDY_HD constexpr void add(const Weight& weight, const Vec<Number, size>& x) {
        add_each([&](int i) EDDY_INLINE {
            if (is_empty)
                value.data[i] = weight * x.data[i];
            else
                value.data[i] = mul_add(weight, x.data[i], value.data[i]);
        });
        is_empty = false;
    }
    EDDY_INLINE EDDY_HD constexpr void add(const Vec<Number, size>& x) {
        add_each([&](int i) EDDY_INLINE {
            if (is_empty)
                value.data[i] = x.data[i];
            else
                value.data[i] = value.data[i] + x.data[i];
        });
        is_empty = false;
    }

  private:
    template <class Body>
    EDDY_INLINE EDDY_HD static constexpr void add_each(const Body& body) {
        if constexpr (size > longest_unrolled_sum && !compiling_for_device)
            loop_over(size, body);
        else
            for_each_index(body, std::make_integer_sequence<int, size>{});
    }
};

}  // namespace detail

/// Steps of `Method` for the vector field `Field`.
template <class Field, RosenbrockMethod Method>
struct Rosenbrock {
    static_assert(ValidRosenbrockTableau<Method>::value);
    using Model = LinearModel<FieldProgram<Field>>;
    using Rows = RosenbrockRows<Method>;
    using Mass = MassMatrix<Field>;
    using Matrix = detail::StepMatrix<Model, Mass>;
    static constexpr int num_stages = Method::coefficients.num_stages;
    static constexpr int state_size = Field::state_size;
    static constexpr bool depends_on_time = Model::depends_on_time;
    template <class Number>
    using State = Vec<Number, state_size>;

    /// What a step computes: solutions of its systems, the states where f is evaluated, the factors.
    /// `Solutions` may be a pointer to where the solutions are wanted, so that nobody copies them.
    template <class Number, int stages, class Solutions = State<Number>[stages]>
    struct Work {
        static constexpr int count = stages;
        Solutions u;
        State<Number> y[stages];
        SparseLu<Matrix, Number> lu;
        State<Number> slope;  // ∂f/∂t, where f depends on t
    };

    /// f, the matrix and its factors at the start of a step. Shows the factors with what they are of to
    /// `inspect`.
    template <class Input, class Number, int stages, class Inspect, class Solutions>
    EDDY_INLINE EDDY_HD static void begin(const Input& in, Work<Number, stages, Solutions>& work,
                                          State<Number>& f, const Inspect& inspect) {
        using Primal = PrimalOf<Number>;
        typename SparseLu<Matrix, Number>::Entries matrix;
        evaluate<typename Model::Values, Number>(
            [&]<int output>(int component, const Number& value) EDDY_INLINE {
                if constexpr (output == 0)
                    f.data[component] = value;
                else if constexpr (output == Model::jacobian_output)
                    matrix.data[component] = value;
                else
                    work.slope.data[component] = value;
            },
            stage_time<0>(in), in.y, in.p);
        constexpr double by_gamma = 1 / Method::coefficients.gamma;
        const auto shift = Primal(static_cast<ScalarOf<Number>>(by_gamma)) / in.dt.h;
        const auto add_mass = [&](int e, double m) EDDY_INLINE {
            if (m == 0) return;
            const auto moved = m == 1 ? shift : shift * Primal(static_cast<ScalarOf<Number>>(m));
            matrix.data[e] = e < Model::num_nonzeros ? matrix.data[e] - moved : Number(-moved);
        };
        if constexpr (detail::is_listed_lu<Matrix>) {
            for (int e = 0; e < Matrix::num_entries; ++e) add_mass(e, Matrix::mass[e]);
        } else {
            static_for<0, Matrix::num_entries>([&]<int e>() EDDY_INLINE {
                constexpr double m = Matrix::mass[e];
                add_mass(e, m);
            });
        }
        work.lu.factor(matrix);
        inspect(work.lu, matrix);
    }

    static constexpr bool is_long = detail::is_long_step<Matrix, num_stages>;
    template <class Body>
    EDDY_INLINE EDDY_HD static void for_states(Body&& body) {
        detail::for_states<state_size, is_long>(body);
    }

    /// All stages up to `stages`. A long step is one text for all who take it, on the way forward, once more
    /// and back: each of them would compile it anew.
    template <bool checks, class Input, class Number, int stages, class Mask, class Solutions>
    EDDY_INLINE EDDY_HD static void run(const Input& in, Work<Number, stages, Solutions>& work,
                                        Mask& failed) {
        if constexpr (is_long)
            run_out_of_line<checks>(in, work, failed);
        else
            run_here<checks>(in, work, failed);
    }

    /// y⁺.
    template <class Number, int stages, class Solutions>
    EDDY_INLINE EDDY_HD static void set_next_state(const State<Number>& y,
                                                   const Work<Number, stages, Solutions>& work,
                                                   State<Number>& next) {
        set_row_state<num_stages>(y, work, next);
    }
    /// Σ m_error_i U_i.
    template <class Solved, class Number>
    EDDY_INLINE EDDY_HD static void set_error(const Solved& work, State<Number>& error) {
        constexpr int first = first_of_error();
        for_states([&](int c) EDDY_INLINE {
            Number sum = error_term<first, Number>(work, c);
            static_for<first + 1, num_stages>([&]<int i>() EDDY_INLINE {
                constexpr double e = Method::coefficients.m_error[i];
                if constexpr (e == 1)
                    sum = sum + work.u[i].data[c];
                else if constexpr (e != 0)
                    sum = mul_add(static_cast<ScalarOf<Number>>(e), work.u[i].data[c], sum);
            });
            error.data[c] = sum;
        });
    }

    // States are summed component by component: a sum then stays in a register, where sums of whole states
    // would be stored and loaded again with each term.

    /// Y_i; y⁺ for i = num_stages. `Solved` has the first `count` of U and Y, as Work does.
    template <int i, class Number, class Solved>
    EDDY_INLINE EDDY_HD static void set_row_state(const State<Number>& y, const Solved& work,
                                                  State<Number>& state) {
        constexpr int stages = Solved::count;
        for_states([&](int c) EDDY_INLINE {
            if constexpr (Rows::extends(i)) {
                state.data[c] = work.y[i - 1].data[c] + work.u[i - 1].data[c];
            } else {
                Number sum = y.data[c];
                static_for<0, (i < stages ? i : stages)>([&]<int j>() EDDY_INLINE {
                    constexpr double a = Rows::a(i, j);
                    if constexpr (a != 0)
                        sum = mul_add(static_cast<ScalarOf<Number>>(a), work.u[j].data[c], sum);
                });
                state.data[c] = sum;
            }
        });
    }

    /// Component c of Σ_j coupling_ij U_j.
    template <int i, class Number, class Solved>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Number coupled_sum(const Solved& work, int c) {
        constexpr int first = Rows::first_coupled(i);
        Number sum = static_cast<ScalarOf<Number>>(Method::coefficients.coupling[i][first]) *
                     work.u[first].data[c];
        static_for<first + 1, i>([&]<int j>() EDDY_INLINE {
            constexpr double coupling = Method::coefficients.coupling[i][j];
            if constexpr (coupling != 0)
                sum = mul_add(static_cast<ScalarOf<Number>>(coupling), work.u[j].data[c], sum);
        });
        return sum;
    }

    /// t + c_i h; or what t itself says of that fraction of the step.
    template <int i, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto stage_time(const Input& in) {
        constexpr double c = Method::coefficients.c[i];
        return detail::stage_time_of(in.t, in.dt, c);
    }

  private:
    template <bool checks, class Input, class Number, int stages, class Mask, class Solutions>
    [[gnu::noinline]] EDDY_HD static void run_out_of_line(const Input& in,
                                                          Work<Number, stages, Solutions>& work,
                                                          Mask& failed) {
        run_here<checks>(in, work, failed);
    }
    template <bool checks, class Input, class Number, int stages, class Mask, class Solutions>
    EDDY_INLINE EDDY_HD static void run_here(const Input& in, Work<Number, stages, Solutions>& work,
                                             [[maybe_unused]] Mask& failed) {
        using Primal = PrimalOf<Number>;
        State<Number> f[stages];
        begin(in, work, f[0], [&](const auto& lu, const auto& matrix) EDDY_INLINE {
            if constexpr (checks) failed = detail::cannot_solve<Model>(lu, matrix);
        });
        const auto per_step = Primal(static_cast<ScalarOf<Number>>(1)) / in.dt.h;
        static_for<0, stages>([&]<int i>() EDDY_INLINE {
            constexpr int point = Rows::point(i);
            if constexpr (i > 0) set_row_state<i>(in.y, work, work.y[i]);
            if constexpr (i > 0 && point == i)
                OdeTerm<Field>::derivative(stage_time<i>(in), work.y[i], in.p, f[i]);
            solve_stage<i>(in, f[point], per_step, work);
        });
    }
    static constexpr int first_of_error() {
        int i = 0;
        while (i + 1 < num_stages && Method::coefficients.m_error[i] == 0) ++i;
        return i;
    }
    template <int i, class Number, class Solved>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Number error_term(const Solved& work, int c) {
        constexpr double e = Method::coefficients.m_error[i];
        if constexpr (e == 1)
            return work.u[i].data[c];
        else
            return static_cast<ScalarOf<Number>>(e) * work.u[i].data[c];
    }

    /// U_i.
    template <int i, class Input, class Number, class Rate, int stages, class Solutions>
    EDDY_INLINE EDDY_HD static void solve_stage(const Input& in, const State<Number>& f,
                                                const Rate& per_step,
                                                Work<Number, stages, Solutions>& work) {
        // What is long is solved where it is wanted, for then it is in memory and would be copied.
        constexpr bool in_place = is_long && Matrix::keeps_order;
        State<Number> own;
        State<Number>& right = in_place ? work.u[i] : own;
        for_states([&](int c) EDDY_INLINE {
            right.data[c] = -f.data[c];
            if constexpr (Rows::is_coupled(i) && Mass::is_identity)
                right.data[c] = mul_add(-per_step, coupled_sum<i, Number>(work, c), right.data[c]);
        });
        if constexpr (Rows::is_coupled(i) && !Mass::is_identity) {
            State<Number> sum;
            for_states([&](int c) EDDY_INLINE { sum.data[c] = coupled_sum<i, Number>(work, c); });
            detail::add_scaled(right, -per_step, Mass::times(sum));
        }
        if constexpr (depends_on_time && Method::coefficients.d[i] != 0) {
            constexpr double d = -Method::coefficients.d[i];
            const auto weight = PrimalOf<Number>(static_cast<ScalarOf<Number>>(d)) * in.dt.h;
            detail::add_scaled(right, weight, work.slope);
        }
        if constexpr (!Matrix::keeps_order) right = Matrix::in_order(right);
        work.lu.solve_in_place(right);
        if constexpr (!in_place) {
            for_states([&](int c) EDDY_INLINE { work.u[i].data[c] = right.data[c]; });
        }
    }
};

}  // namespace eddy::inline v0
