#pragma once
// One step of an ESDIRK method, for every tableau, scalar type and machine. Stages are computed as
// increments z_i = hγ k_i, with what is known before them in ψ_i:
//
//   z_1 = hγ f(t, y),   ψ_i = y + Σ_{j<i} (a_ij/γ) z_j,   Y_i = ψ_i + z_i,   z_i = hγ f(t + c_i h, Y_i),
//
// y⁺ = Y_s, by simplified Newton iterations (Hairer & Wanner 1996, Solving ODEs II, IV.8) with one matrix
// for all, N = J − I/(γh) at the start of the step: N Δ = (Y − ψ)/(γh) − f(Y), Y ← Y + Δ. Where y is off
// what a stiff equation draws it to, z and ψ are large and Y is not: hence Y is what is iterated. Slopes
// are what the iteration leaves, never f at its result: that would multiply what is left of the error by hλ.
//
// Tangents do not run through the iteration. They solve the system that a stage's equation becomes when
// it is differentiated, with its own Jacobian: N_i ż_i = −(∂f/∂(t, y, p) along (ṫ, ψ̇_i, ṗ)) − ḣ/h k_i. The adjoint
// solves the same systems transposed, so that both agree to rounding whatever the iteration has left.
//
// Of a field in two parts, f_I + f_E, IMEX methods iterate with f_I alone: the other one has increments
// x_i = hγ f_E(t + c_i h, Y_i), which ψ of the stages after it knows, with weights of its own.
// Test: tests/steppers/esdirk.cpp

#include <eddy/ad/linear_model.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/linalg/dual_lu.hpp>
#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/dual_parts.hpp>
#include <eddy/steppers/esdirk_rows.hpp>
#include <eddy/steppers/imex.hpp>
#include <eddy/steppers/newton.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/steppers/step_matrix.hpp>
#include <eddy/steppers/stepper.hpp>

namespace eddy::inline v0 {

/// Steps of `Method` for the vector field `Field`.
template <class Field, EsdirkMethod Method>
struct Esdirk {
    static_assert(ValidEsdirkTableau<Method>::value);
    /// Does the method take the parts of the field apart? Then the other one has increments as well,
    /// x_i = hγ f_E(t + c_i h, Y_i), and ψ_i knows of those before.
    static constexpr bool splits = splits_field<Field, Method>;
    using Implicit = OdeTerm<ImplicitPart<Field, Method>>;
    using Explicit = OdeTerm<detail::NonStiffPartOf<Field>>;
    using Model = LinearModel<FieldProgram<typename Implicit::Field>>;
    using Rows = EsdirkRows<Method>;
    using Matrix = detail::StepMatrix<Model>;
    static constexpr int num_stages = Method::coefficients.num_stages;
    static constexpr int state_size = Field::state_size;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    using Lu = SparseLu<Matrix, Number>;
    /// Then the step is one text for all who take it, and its iterations are one for all its stages.
    static constexpr bool is_long = detail::is_long_step<Matrix, num_stages>;

    static constexpr int most_iterations_anew = 50;  // of one stage, each with a Jacobian

    /// What a step computes: increments, the states of the stages from the second on, and the factors of
    /// its matrix, without tangents.
    template <class Number>
    struct Work {
        State<Number> z[num_stages];
        State<Number> y[num_stages];
        struct Explicit {
            State<Number> x[num_stages];
        };
        struct Nothing {};
        [[no_unique_address]] std::conditional_t<splits, Explicit, Nothing> other;
        Lu<PrimalOf<Number>> lu;
        PrimalOf<Number> num_updates;  // of Newton's iterations
        PrimalOf<Number> num_solved;   // stages in order, before one whose iteration has failed

        /// hγ k_i, k_i all of f.
        template <int i>
        [[nodiscard]] EDDY_INLINE EDDY_HD State<Number> increment() const {
            if constexpr (splits)
                return z[i] + other.x[i];
            else
                return z[i];
        }
    };

    /// f, and N, at a state.
    template <class Number>
    struct Linear {
        State<Number> f;
        typename Lu<Number>::Entries matrix;
    };
    template <class Number, class Time, class Parameters, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Linear<Number> linear(const Time& t,
                                                                   const State<Number>& y,
                                                                   const Parameters& p,
                                                                   const Size& dt) {
        Linear<Number> model{};
        evaluate<typename Model::Values, Number>(
            [&]<int output>(int component, const Number& value) EDDY_INLINE {
                if constexpr (output == 0)
                    model.f.data[component] = value;
                else if constexpr (output == Model::jacobian_output)
                    model.matrix.data[component] = value;
            },
            t, y, p);
        const auto shift = per_increment<Number>(dt);
        static_for<0, state_size>([&]<int i>() EDDY_INLINE {
            constexpr int e = Matrix::diagonal[i];
            model.matrix.data[e] =
                e < Model::num_nonzeros ? model.matrix.data[e] - shift : Number(-shift);
        });
        return model;
    }

    /// All stages. `failed`: where a system has lost its digits, or an iteration does not converge.
    /// `keeps_size`: no smaller step will be tried.
    template <bool keeps_size, class Input, class Number, class Mask>
    EDDY_INLINE EDDY_HD static void run(const Input& in, Work<Number>& work, Mask& failed) {
        if constexpr (detail::is_dual<Number>)
            run_dual<keeps_size>(in, work, failed);
        else if constexpr (is_long)
            run_out_of_line<keeps_size>(in, work, failed);
        else
            run_here<keeps_size>(in, work, failed);
    }

    /// Of a step in which an iteration has failed in a place: the first component of f that is no number where
    /// it stopped; −1 where all are, and it does not converge.
    template <class Input, class Number>
    [[nodiscard]] EDDY_HD static int broken_component(const Input& in, const Work<Number>& work,
                                                      int place) {
        const int stage = static_cast<int>(get_lane(work.num_solved, place));
        int component = -1;
        static_for<1, num_stages>([&]<int i>() {
            if (i != stage) return;
            const State<Number> f = Implicit::derivative(stage_time<i>(in), work.y[i], in.p);
            for (int k = state_size; k-- > 0;) {
                const auto value = primal(get_lane(f[k], place));
                if (!(value - value == 0)) component = k;
            }
        });
        return component;
    }

    /// y⁺.
    template <class Number>
    EDDY_INLINE EDDY_HD static void set_next_state(const State<Number>&, const Work<Number>& work,
                                                   State<Number>& next) {
        State<Number> sum = work.y[num_stages - 1];
        if constexpr (splits) {
            static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
                constexpr double weight = Rows::last_explicit_weight(i);
                if constexpr (weight != 0)
                    detail::add_scaled(sum, static_cast<ScalarOf<Number>>(weight), work.other.x[i]);
            });
        }
        next = sum;
    }
    /// Σ b_error_i h k_i, damped where the method wants it.
    template <class Input, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> error(const Input& in,
                                                                 const Work<Number>& work) {
        State<Number> sum{};
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            constexpr double weight = Rows::error_weight(i);
            if constexpr (weight != 0)
                detail::add_scaled(sum, static_cast<ScalarOf<Number>>(weight),
                                   work.template increment<i>());
        });
        if constexpr (filters_error<Method>)
            return filtered(detail::scaled(-per_increment<Number>(in.dt), sum), work.lu);
        else
            return sum;
    }

    template <int i, class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto stage_time(const Input& in) {
        constexpr double c = Method::coefficients.c[i];
        return detail::stage_time_of(in.t, in.dt, c);
    }
    /// h, hγ, and the reciprocal of that; of dual numbers with the tangent of h, if it has one.
    template <class Number, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto size(const Size& dt) {
        if constexpr (detail::is_dual<Number>)
            return dt.h;
        else
            return primal(dt.h);
    }
    template <class Number, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto increment(const Size& dt) {
        constexpr double gamma = Method::coefficients.gamma;
        return PrimalOf<Number>(static_cast<ScalarOf<Number>>(gamma)) * size<Number>(dt);
    }
    template <class Number, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto per_increment(const Size& dt) {
        constexpr double by_gamma = 1 / Method::coefficients.gamma;
        return PrimalOf<Number>(static_cast<ScalarOf<Number>>(by_gamma)) / size<Number>(dt);
    }

  private:
    template <bool keeps_size, class Input, class Number, class Mask>
    [[gnu::noinline]] EDDY_HD static void run_out_of_line(const Input& in, Work<Number>& work,
                                                          Mask& failed) {
        run_here<keeps_size>(in, work, failed);
    }
    template <bool keeps_size, class Input, class Number, class Mask>
    EDDY_INLINE EDDY_HD static void run_here(const Input& in, Work<Number>& work, Mask& failed) {
        const Linear<Number> start = linear<Number>(stage_time<0>(in), in.y, in.p, in.dt);
        work.lu.factor(start.matrix);
        work.z[0] = detail::scaled(increment<Number>(in.dt), start.f);
        add_explicit<0>(in, in.y, work);
        const NewtonScale<ScalarOf<Number>> scale(in.tolerances);
        NewtonProgress<Number> progress(detail::cannot_solve<Model>(work.lu, start.matrix),
                                        scale.floor());
        work.num_solved = Number(1);
        static_for<1, num_stages>([&]<int i>() EDDY_INLINE {
            const State<Number> base = known<i>(in.y, work);
            work.y[i] = guess<i>(in.y, work);
            const auto t = stage_time<i>(in);
            const auto had_failed = progress.failed();
            if constexpr (is_long)
                iterate_out_of_line(in, t, base, scale, work.lu, work.y[i], progress);
            else
                iterate(in, t, base, scale, work.lu, work.y[i], progress);
            if constexpr (keeps_size) {
                const auto stalls = progress.failed() & (!had_failed);
                if (any(stalls)) iterate_anew<i>(in, base, scale, stalls, work, progress);
            }
            work.z[i] = work.y[i] - base;
            add_explicit<i>(in, work.y[i], work);
            work.num_solved = work.num_solved + select(progress.failed(), Number(0), Number(1));
        });
        failed = progress.failed();
        work.num_updates = progress.num_updates();
    }

    /// ψ_i.
    template <int i, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> known(const State<Number>& y,
                                                                 const Work<Number>& work) {
        State<Number> sum = y;
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double weight = Rows::weight(i, j);
            if constexpr (weight != 0)
                detail::add_scaled(sum, static_cast<ScalarOf<Number>>(weight), work.z[j]);
            if constexpr (splits) {
                constexpr double other = Rows::explicit_weight(i, j);
                if constexpr (other != 0)
                    detail::add_scaled(sum, static_cast<ScalarOf<Number>>(other), work.other.x[j]);
            }
        });
        return sum;
    }
    /// x_i, where the field is split.
    template <int i, class Input, class Number>
    EDDY_INLINE EDDY_HD static void add_explicit([[maybe_unused]] const Input& in,
                                                 [[maybe_unused]] const State<Number>& y,
                                                 [[maybe_unused]] Work<Number>& work) {
        if constexpr (splits)
            work.other.x[i] = detail::scaled(increment<Number>(in.dt),
                                             Explicit::derivative(stage_time<i>(in), y, in.p));
    }
    template <int i, class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> guess(const State<Number>& y,
                                                                 const Work<Number>& work) {
        State<Number> sum{};
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double weight = Rows::first_guess(i, j);
            const State<Number>& from = j == 0 ? y : work.y[j];
            if constexpr (weight == 1)
                sum = from;  // the only one
            else if constexpr (weight != 0)
                detail::add_scaled(sum, static_cast<ScalarOf<Number>>(weight), from);
        });
        return sum;
    }

    /// Solves y = base + hγ f(t, y), beginning with the y that is there.
    template <class Input, class Time, class Number>
    [[gnu::noinline]] EDDY_HD static void iterate_out_of_line(
        const Input& in, const Time& t, const State<Number>& base,
        const NewtonScale<ScalarOf<Number>>& scale, const Lu<Number>& lu, State<Number>& y,
        NewtonProgress<Number>& progress) {
        iterate(in, t, base, scale, lu, y, progress);
    }
    template <class Input, class Time, class Number>
    EDDY_INLINE EDDY_HD static void iterate(const Input& in, const Time& t,
                                            const State<Number>& base,
                                            const NewtonScale<ScalarOf<Number>>& scale,
                                            const Lu<Number>& lu, State<Number>& y,
                                            NewtonProgress<Number>& progress) {
        const auto per_step = per_increment<Number>(in.dt);
        progress.begin_stage();
        for (int k = 0; k < scale.most_iterations && progress.goes_on(); ++k) {
            State<Number> right = -Implicit::derivative(t, y, in.p);
            detail::add_scaled(right, per_step, y - base);
            const State<Number> update = lu.solve(right), next = y + update;
            const Number norm =
                scale.template norm_of<OdeTerm<Field>>(update, in.y, next, in.tolerances);
            const auto moves = progress.take(norm, k == 0);
            static_for<0, state_size>(
                [&]<int j>() EDDY_INLINE { y.data[j] = select(moves, next.data[j], y.data[j]); });
        }
        progress.end_stage();
    }

    /// Newton's own iteration, whose Jacobian is that of each of its states, where that of the step's start
    /// has led nowhere.
    template <int i, class Input, class Number, class Mask>
    [[gnu::noinline]] EDDY_HD static void iterate_anew(const Input& in, const State<Number>& base,
                                                       const NewtonScale<ScalarOf<Number>>& scale,
                                                       const Mask& stalls, Work<Number>& work,
                                                       NewtonProgress<Number>& progress) {
        const auto t = stage_time<i>(in);
        State<Number> y = guess<i>(in.y, work);
        NewtonProgress<Number> anew(!stalls, scale.floor());
        anew.begin_stage();
        for (int k = 0; k < most_iterations_anew && anew.goes_on(); ++k) {
            const Linear<Number> model = linear<Number>(t, y, in.p, in.dt);
            Lu<Number> lu;
            lu.factor(model.matrix);
            State<Number> right = -model.f;
            detail::add_scaled(right, per_increment<Number>(in.dt), y - base);
            const State<Number> update = lu.solve(right), next = y + update;
            const Number norm =
                scale.template norm_of<OdeTerm<Field>>(update, in.y, next, in.tolerances);
            const auto moves = anew.take(norm, k == 0, true);
            static_for<0, state_size>(
                [&]<int j>() EDDY_INLINE { y.data[j] = select(moves, next.data[j], y.data[j]); });
        }
        anew.end_stage();
        const auto solved = stalls & (!anew.failed());
        for (int j = 0; j < state_size; ++j) work.y[i][j] = select(solved, y[j], work.y[i][j]);
        progress.solved_by(anew, solved);
    }

    /// The values as they are without tangents, then the tangents.
    template <bool keeps_size, class Input, class T, class Mask>
    EDDY_INLINE EDDY_HD static void run_dual(const Input& in, Work<Dual<T>>& work, Mask& failed) {
        const State<T> y = detail::values_of(in.y);
        const detail::ValuesOfParameters<std::remove_cvref_t<decltype(in.p)>> p{in.p};
        Work<T> values;
        run<keeps_size>(StepInput{detail::still_times(in.t), y, p, in.dt, NoPath{}, in.tolerances},
                        values, failed);
        work.lu = values.lu;
        work.num_updates = values.num_updates;
        work.num_solved = values.num_solved;
        const State<Dual<T>> f = Implicit::derivative(stage_time<0>(in), in.y, in.p);
        work.z[0] = detail::duals_of(
            values.z[0], detail::tangents_of(detail::scaled(increment<Dual<T>>(in.dt), f)));
        add_explicit<0>(in, in.y, work);
        keep_values<0>(values, work);
        static_for<1, num_stages>([&]<int i>() EDDY_INLINE {
            const State<T> of_base = detail::tangents_of(known<i>(in.y, work));
            const State<T> of_z = tangent_of_stage<i>(in, values, of_base, p);
            work.z[i] = detail::duals_of(values.z[i], of_z);
            work.y[i] = detail::duals_of(values.y[i], of_base + of_z);
            add_explicit<i>(in, work.y[i], work);
            keep_values<i>(values, work);
        });
    }
    /// x_i with the bits that it has without tangents.
    template <int i, class T>
    EDDY_INLINE EDDY_HD static void keep_values([[maybe_unused]] const Work<T>& values,
                                                [[maybe_unused]] Work<Dual<T>>& work) {
        if constexpr (splits)
            work.other.x[i] =
                detail::duals_of(values.other.x[i], detail::tangents_of(work.other.x[i]));
    }
    /// ż_i.
    template <int i, class Input, class T, class Values>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<T> tangent_of_stage(const Input& in,
                                                                       const Work<T>& values,
                                                                       const State<T>& of_base,
                                                                       const Values& p) {
        const auto t = stage_time<i>(in);
        const State<T>& y = values.y[i];
        const auto along = Implicit::derivative(t, detail::duals_of(y, of_base), in.p);
        State<T> right = -detail::tangents_of(along);
        if constexpr (detail::is_dual<std::remove_cvref_t<decltype(in.dt.h)>>) {
            const T rate = per_increment<T>(in.dt) * in.dt.h.tangent / primal(in.dt.h);
            detail::add_scaled(right, -rate, values.z[i]);
        }
        Lu<T> lu;
        lu.factor(linear<T>(primal(t), y, p, in.dt).matrix);
        return lu.solve(right);
    }

    /// Values and tangents alike: the matrix is part of how an error is measured, and has no tangent.
    template <class Number, class Factors>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> filtered(const State<Number>& error,
                                                                    const Factors& lu) {
        if constexpr (detail::is_dual<Number>)
            return detail::duals_of(filtered(detail::values_of(error), lu),
                                    filtered(detail::tangents_of(error), lu));
        else
            return lu.solve(error);
    }
};

}  // namespace eddy::inline v0
