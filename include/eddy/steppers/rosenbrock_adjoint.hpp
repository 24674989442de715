#pragma once
// The way back through a step of a Rosenbrock method: the second half of rosenbrock.hpp, whose formulas
// it follows from the last stage to the first.
// Test: tests/steppers/rosenbrock.cpp

#include <eddy/steppers/pull_program.hpp>
#include <eddy/steppers/rosenbrock.hpp>
#include <eddy/steppers/stepper.hpp>

namespace eddy::inline v0 {

/// Cotangents of the steps of `Method` for the vector field `Field`.
template <class Field, RosenbrockMethod Method>
struct RosenbrockAdjoint {
    using Steps = Rosenbrock<Field, Method>;
    using Model = typename Steps::Model;
    using Rows = RosenbrockRows<Method>;
    using Matrix = typename Steps::Matrix;
    static constexpr int num_stages = Steps::num_stages;
    static constexpr int count = Rows::num_needed_stages();  // of stages that anything depends on
    static constexpr int state_size = Steps::state_size;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    using Work = typename Steps::template Work<Number, count>;

    /// The cotangent of y, from that of y⁺ and from those that U_i has of its own (`own.stage`), where there
    /// are any; adds those of p, and of times where they are asked for.
    template <class Input, class Number, class Own, class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Work<Number>& work, const State<Number>& next_cotangent,
        const Own& own, ParameterCotangent& p_cotangent, Times& times) {
        constexpr bool has_times = !std::is_same_v<Times, NoTimeCotangents>;
        Sums<Number, std::remove_cvref_t<decltype(in.dt.h)>> sums;
        sums.per_step = PrimalOf<Number>(static_cast<ScalarOf<Number>>(1)) / in.dt.h;
        const State<Number> of_next = next_cotangent + own.next;
        Steps::for_states([&](int c) EDDY_INLINE { sums.row[count].data[c] = of_next.data[c]; });
        pull_stages<has_times>(in, work, own, sums, p_cotangent, times);
        return sums.y;
    }

  private:
    template <int size>
    static constexpr int at_least_one = size > 0 ? size : 1;
    template <class Number>
    using Sum = detail::ScaledSum<Number, state_size>;

    template <class Number, class Size>
    struct Sums {
        Size per_step;                 // 1/h
        State<Number> row[count + 1];  // of Y_i, all that depends on it taken together; last: of y⁺
        State<Number> v[count];        // of f_i, by its own stage
        State<Number> scaled_v[count];  // Mᵀ v_i / h
        Sum<Number> point[count];  // of f_i, by all stages that use it, where there are several
        Vec<Number, at_least_one<Model::num_nonzeros>> jacobian;
        Sum<Number> slope;  // of ∂f/∂t
        State<Number> y;
    };

    /// The row of a stage's successor; the last one is that of y⁺.
    static constexpr int after(int i) { return i + 1 < count ? i + 1 : num_stages; }
    static constexpr bool is_extended(int i) { return after(i) == i + 1 && Rows::extends(i + 1); }
    /// Does anything depend on Y_i by itself?
    static constexpr bool is_live(int i) {
        return i > 0 && (Rows::point(i) == i || is_extended(i));
    }

    /// Do several stages use f_i?
    static constexpr bool is_shared(int i) {
        for (int j = i + 1; j < count; ++j) {
            if (Rows::point(j) == i) return true;
        }
        return false;
    }
    template <int i, class Number, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static const State<Number>& of_point(
        const Sums<Number, Size>& sums) {
        if constexpr (is_shared(i))
            return sums.point[i].value;
        else
            return sums.v[i];
    }

    template <bool has_times, class Input, class Number, class Size, class Own,
              class ParameterCotangent, class Times>
    EDDY_INLINE EDDY_HD static void pull_stages(const Input& in, const Work<Number>& work,
                                                const Own& own, Sums<Number, Size>& sums,
                                                ParameterCotangent& p_cotangent, Times& times) {
        static_for<0, count>([&]<int reversed>() EDDY_INLINE {
            constexpr int i = count - 1 - reversed;
            pull_system<i>(work, own, sums);
            if constexpr (has_times) add_times_of_system<i>(in, work, sums, times);
            if constexpr (is_live(i)) pull_row<i, has_times>(in, work, sums, p_cotangent, times);
        });
        if constexpr (sums_jacobian_at_end) sum_jacobian(work, sums);
        pull_model<has_times>(in, sums, p_cotangent, times);
    }

    /// Few entries of J̄ stay in registers from stage to stage; of many each is summed over all stages at the
    /// end, so that it does. The order of the sum is the same.
    static constexpr bool sums_jacobian_at_end = Model::num_nonzeros > 16;

    template <class Number, class Size>
    EDDY_INLINE EDDY_HD static void sum_jacobian(const Work<Number>& work,
                                                 Sums<Number, Size>& sums) {
        const auto sum_entry = [&](int e, const MatrixEntry& entry) EDDY_INLINE {
            detail::NumberSum<Number> sum;
            static_for<0, count>([&]<int reversed>() EDDY_INLINE {
                add_entry<count - 1 - reversed>(entry, work, sums, sum);
            });
            sums.jacobian.data[e] = sum.value;
        };
        if constexpr (Steps::is_long) {
            for (int e = 0; e < Model::num_nonzeros; ++e) sum_entry(e, Matrix::entry[e]);
        } else {
            static_for<0, Model::num_nonzeros>([&]<int e>() EDDY_INLINE {
                constexpr MatrixEntry entry = Matrix::entry[e];
                sum_entry(e, entry);
            });
        }
    }
    template <int i, class Number, class Size>
    EDDY_INLINE EDDY_HD static void add_to_jacobian(const Work<Number>& work,
                                                    Sums<Number, Size>& sums) {
        static_for<0, Model::num_nonzeros>([&]<int e>() EDDY_INLINE {
            constexpr MatrixEntry entry = Matrix::entry[e];
            detail::NumberSum<Number> sum;
            if constexpr (i < count - 1) sum.add(sums.jacobian.data[e]);
            add_entry<i>(entry, work, sums, sum);
            sums.jacobian.data[e] = sum.value;
        });
    }
    /// v_i U_iᵀ
    template <int i, class Number, class Size>
    EDDY_INLINE EDDY_HD static void add_entry(const MatrixEntry& entry, const Work<Number>& work,
                                              const Sums<Number, Size>& sums,
                                              detail::NumberSum<Number>& sum) {
        sum.add(sums.v[i].data[entry.row], work.u[i].data[entry.column]);
    }

    /// v_i, and what it brings to f and ∂f/∂t.
    template <int i, class Number, class Size, class Own>
    EDDY_INLINE EDDY_HD static void pull_system(const Work<Number>& work, const Own& own,
                                                Sums<Number, Size>& sums) {
        using Coefficient = ScalarOf<Number>;
        State<Number> x;
        Steps::for_states([&](int c) EDDY_INLINE { x.data[c] = of_solution<i>(own, sums, c); });
        work.lu.solve_transposed_in_place(x);
        if constexpr (!Matrix::keeps_order) x = Matrix::as_written(x);
        Steps::for_states([&](int c) EDDY_INLINE {
            sums.v[i].data[c] = -x.data[c];
            if constexpr (Steps::Mass::is_identity)
                sums.scaled_v[i].data[c] = sums.per_step * sums.v[i].data[c];
        });
        if constexpr (!Steps::Mass::is_identity)
            sums.scaled_v[i] =
                detail::scaled(sums.per_step, Steps::Mass::transposed_times(sums.v[i]));
        constexpr int point = Rows::point(i);
        if constexpr (is_shared(point)) sums.point[point].add(sums.v[i]);
        if constexpr (!sums_jacobian_at_end) add_to_jacobian<i>(work, sums);
        constexpr double d = Method::coefficients.d[i];
        if constexpr (Model::depends_on_time && d != 0)
            sums.slope.add(static_cast<Coefficient>(d), sums.v[i]);
    }

    /// Component c of the cotangent of U_i; what came last is added last. One component after another, as
    /// in the step itself.
    template <int i, class Number, class Size, class Own>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Number of_solution(const Own& own,
                                                                const Sums<Number, Size>& sums,
                                                                int c) {
        using Coefficient = ScalarOf<Number>;
        detail::NumberSum<Number> sum;
        if constexpr (!std::is_same_v<Own, NoDenseCotangent>) sum.add(own.stage[i].data[c]);
        constexpr double m = Rows::a(num_stages, i);
        if constexpr (!Rows::extends(num_stages) && m != 0)
            sum.add(static_cast<Coefficient>(m), sums.row[count].data[c]);
        static_for<i + 1, count>([&]<int reversed>() EDDY_INLINE {
            constexpr int j = count + i - reversed;
            constexpr double coupling = Method::coefficients.coupling[j][i];
            constexpr double a = Rows::extends(j) ? 0 : Rows::a(j, i);
            if constexpr (coupling != 0)
                sum.add(static_cast<Coefficient>(coupling), sums.scaled_v[j].data[c]);
            if constexpr (a != 0 && is_live(j))
                sum.add(static_cast<Coefficient>(a), sums.row[j].data[c]);
        });
        constexpr int next = after(i) == num_stages ? count : i + 1;
        if constexpr (is_extended(i)) sum.add(sums.row[next].data[c]);
        return sum.is_empty ? convert<Number>(0) : sum.value;
    }

    /// The cotangent of Y_i, and what of it goes to y.
    template <int i, bool has_times, class Input, class Number, class Size,
              class ParameterCotangent, class Times>
    EDDY_INLINE EDDY_HD static void pull_row(const Input& in, const Work<Number>& work,
                                             Sums<Number, Size>& sums,
                                             ParameterCotangent& p_cotangent,
                                             [[maybe_unused]] Times& times) {
        constexpr int next = after(i) == num_stages ? count : i + 1;
        State<Number> of_y;
        if constexpr (Rows::point(i) == i) {
            using Program = detail::FieldPullback<FieldProgram<Field>, has_times>;
            [[maybe_unused]] const auto of_time = detail::pull_program<Program, has_times>(
                of_y, p_cotangent, Steps::template stage_time<i>(in), work.y[i], in.p,
                of_point<i>(sums));
            if constexpr (has_times) add_time<i>(of_time, times);
        }
        Steps::for_states([&](int c) EDDY_INLINE {
            detail::NumberSum<Number> sum;
            if constexpr (is_extended(i)) sum.add(sums.row[next].data[c]);
            if constexpr (Rows::point(i) == i) sum.add(of_y.data[c]);
            sums.row[i].data[c] = sum.value;
        });
    }

    /// The pullback of (t, y, p) ↦ (f, J, ∂f/∂t) at the start.
    template <bool has_times, class Input, class Number, class Size, class ParameterCotangent,
              class Times>
    EDDY_INLINE EDDY_HD static void pull_model(const Input& in, Sums<Number, Size>& sums,
                                               ParameterCotangent& p_cotangent,
                                               [[maybe_unused]] Times& times) {
        using Values = typename Model::Values;
        using Program = detail::FieldPullback<Values, has_times>;
        State<Number> of_y;
        Number of_time = convert<Number>(0);
        const auto pull = [&](const auto&... cotangents) EDDY_INLINE {
            of_time = detail::pull_program<Program, has_times>(
                of_y, p_cotangent, Steps::template stage_time<0>(in), in.y, in.p, of_point<0>(sums),
                cotangents...);
        };
        [[maybe_unused]] State<Number> slope;
        if constexpr (Model::depends_on_time) slope = detail::scaled(in.dt.h, sums.slope.value);
        if constexpr (Model::has_jacobian && Model::depends_on_time)
            pull(sums.jacobian, slope);
        else if constexpr (Model::has_jacobian)
            pull(sums.jacobian);
        else if constexpr (Model::depends_on_time)
            pull(slope);
        else
            pull();
        Steps::for_states([&](int c) EDDY_INLINE { sums.y.data[c] = of_start(sums, of_y, c); });
        if constexpr (has_times) add_time<0>(of_time, times);
    }
    /// Component c of the cotangent of y.
    template <class Number, class Size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Number of_start(const Sums<Number, Size>& sums,
                                                             const State<Number>& of_model, int c) {
        detail::NumberSum<Number> sum;
        if constexpr (!Rows::extends(num_stages)) sum.add(sums.row[count].data[c]);
        static_for<0, count>([&]<int reversed>() EDDY_INLINE {
            constexpr int i = count - 1 - reversed;
            if constexpr (is_live(i) && !Rows::extends(i)) sum.add(sums.row[i].data[c]);
        });
        sum.add(of_model.data[c]);
        return sum.value;
    }

    /// f_i is taken at t + c_i h.
    template <int i, class Number, class Times>
    EDDY_INLINE EDDY_HD static void add_time(const Number& of_time, Times& times) {
        constexpr double c = Method::coefficients.c[i];
        times.t = times.t + of_time;
        times.dt = mul_add(static_cast<ScalarOf<Number>>(c), of_time, times.dt);
    }

    /// h stands in the matrix, in the weights of the other stages and before ∂f/∂t.
    template <int i, class Input, class Number, class Size, class Times>
    EDDY_INLINE EDDY_HD static void add_times_of_system([[maybe_unused]] const Input& in,
                                                        const Work<Number>& work,
                                                        const Sums<Number, Size>& sums,
                                                        Times& times) {
        using Coefficient = ScalarOf<Number>;
        Sum<Number> weights;  // U_i/γ − Σ_j coupling_ij U_j
        constexpr double by_gamma = 1 / Method::coefficients.gamma;
        weights.add(static_cast<Coefficient>(by_gamma), work.u[i]);
        static_for<0, i>([&]<int j>() EDDY_INLINE {
            constexpr double coupling = -Method::coefficients.coupling[i][j];
            if constexpr (coupling != 0) weights.add(static_cast<Coefficient>(coupling), work.u[j]);
        });
        times.dt = times.dt + sums.per_step * dot(sums.scaled_v[i], weights.value);
        constexpr double d = Method::coefficients.d[i];
        if constexpr (Model::depends_on_time && d != 0)
            times.dt = mul_add(static_cast<Coefficient>(d), dot(sums.v[i], work.slope), times.dt);
    }
};

}  // namespace eddy::inline v0
