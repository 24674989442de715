#pragma once
// Many tangents through one Rosenbrock step, by one factorisation: the system of a stage (rosenbrock.hpp), differentiated
// along (s, ṗ), with S_i and V_i the tangents of Y_i and U_i,
//
//   −W V_i = J_i S_i + ∂f_i/∂p ṗ + J̇ U_i + h d_i ḟ_t + (1/h) Σ_j coupling_ij V_j,   J_i = ∂f/∂y at Y_i,
//
// where J̇ and ḟ_t are those of the step's start: the derivatives of its Jacobian and of ∂f/∂t, whose structural
// non-zeros are computed once for all directions, as those of J_i and ∂f_i/∂p are. A direction then costs the method's
// sums, and for each stage two products with non-zeros and a solve.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/steppers/implicit_tangents.hpp>
#include <eddy/steppers/rosenbrock_stepper.hpp>

namespace eddy::inline v0::detail {

/// The non-zeros of ∂f/∂y, and behind them ∂f/∂t where f depends on t, as one result.
template <class P>
struct StepSlopesOf {
    static constexpr int expected_nodes = 6 * P::graph.size() + 64;
    static constexpr Graph make() {
        using Model = LinearModel<P>;
        Graph model = linear_model_graph(P::graph.thaw(), JacobianPlanOf<P, 1>::plan(),
                                         Model::depends_on_time);
        List<int> all;
        for (std::size_t k = 1; k < model.outputs.size(); ++k) {
            for (const int node : nodes_of(model, model.outputs[k])) all.push_back(node);
        }
        model.outputs.clear();
        model.push_output(all, Model::num_nonzeros + (Model::depends_on_time ? Model::size : 0),
                          false);
        return passes::simplify(model);
    }
};
/// How they bend: their derivatives with respect to y and p.
template <class Field, bool of_p>
using StepBends = FieldJacobians<Program<StepSlopesOf<FieldProgram<Field>>>, of_p>;

/// `of_p`: whether some directions are those of parameters.
template <class Field, RosenbrockMethod Method, bool estimates_error, bool of_p>
struct RosenbrockTangents {
    using Stepper = RosenbrockStepper<OdeTerm<Field>, Method, estimates_error>;
    using Steps = typename Stepper::Steps;
    using Rows = typename Stepper::Rows;
    using Matrix = typename Steps::Matrix;
    static_assert(Steps::Mass::is_identity);
    using Slopes = FieldJacobians<FieldProgram<Field>, of_p>;
    using Bends = StepBends<Field, of_p>;
    static constexpr int size = Field::state_size, num_entries = Slopes::num_of_y;
    static constexpr int num_bent = num_entries + (Steps::depends_on_time ? size : 0);
    static constexpr int num_stages = Stepper::num_stages, num_dense_stages = num_stages;
    template <class Number>
    using State = Vec<Number, size>;
    template <class Number>
    using Taken = TakenStages<Number, num_stages, size>;

    /// What all directions have in common.
    template <class Number>
    struct Linearization {
        SparseLu<Matrix, Number> lu;  // of −W
        Number h, per_step;           // 1/h
        typename Slopes::template Values<Number> slopes[num_stages];
        typename Bends::template Values<Number> bends;
        State<Number> u[num_stages];
    };
    template <class Input, class Number>
    static void linearize(const Input& in, const State<Number> (&u)[num_stages], bool,
                          Linearization<Number>& of_step) {
        using Coefficient = ScalarOf<Number>;
        of_step.h = in.dt.h;
        of_step.per_step = Number(static_cast<Coefficient>(1)) / of_step.h;
        Solved<const State<Number>*, Number> solved{u, {in.y}};
        typename OfSlopes::template AtStages<Input> slopes{in};
        static_for<0, num_stages>([&]<int i>() {
            if constexpr (i > 0) Steps::template set_row_state<i>(in.y, solved, solved.y[i]);
            slopes.add(of_step.slopes[i], Steps::template stage_time<i>(in), solved.y[i]);
            of_step.u[i] = u[i];
        });
        slopes.finish();
        typename OfBends::template AtStages<Input> bends{in};
        bends.add(of_step.bends, Steps::template stage_time<0>(in), in.y);
        bends.finish();
        constexpr double by_gamma = 1 / Method::coefficients.gamma;
        factor_shifted<Slopes>(Number(static_cast<Coefficient>(by_gamma)) / of_step.h,
                               of_step.slopes[0], of_step.lu);
    }

    /// What a Number of tangents gets from p.
    template <class Number>
    struct Sources {
        FieldSources<Slopes, Field, Number, num_stages> slopes;
        TangentSources<Number, 1, num_bent> bends;

        /// For the entries of parameters [first, last): put(source, value, column).
        template <class Primal, class Put>
        void take(const Linearization<Primal>& of_step, int first, int last, const Put& put) {
            slopes.take(of_step, first, last, put);
            if constexpr (Bends::num_of_p > 0)
                bends.set(
                    columns_of_p<Bends, Field>, first, last,
                    [&](int, int e) -> const Primal& { return of_step.bends.by_p[e]; }, put);
        }
        void leave(int first, int last) {
            slopes.leave(first, last);
            if constexpr (Bends::num_of_p > 0) bends.clear(columns_of_p<Bends, Field>, first, last);
        }
    };

    /// The step of tangents that are `s` where it begins.
    template <class Size, class Primal, class Number>
    static void take(const Size&, const State<Number>& s, const Linearization<Primal>& of_step,
                     const Sources<Number>& sources, bool, Taken<Number>& taken) {
        Vec<Number, num_bent> bent = sources.bends.of[0];  // J̇, ḟ_t
        OfBends::add(of_step.bends.by_y, s, bent);
        Solved<State<Number>*, Number> solved{taken.k, {s}};
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            if constexpr (i > 0) Steps::template set_row_state<i>(s, solved, solved.y[i]);
            State<Number> sum = sources.slopes.of[i];
            add_bent<i>(of_step, bent, sum);
            if constexpr (Rows::is_coupled(i)) {
                Steps::for_states([&](int c) EDDY_INLINE {
                    sum.data[c] =
                        mul_add(of_step.per_step, Steps::template coupled_sum<i, Number>(solved, c),
                                sum.data[c]);
                });
            }
            OfSlopes::add(of_step.slopes[i].by_y, solved.y[i], sum);
            of_step.lu.solve_in_place(sum);
            taken.k[i] = sum;
        });
        Steps::template set_row_state<Steps::num_stages>(s, solved, taken.next);
    }
    template <class Size, class Number>
    [[nodiscard]] static State<Number> error(const Size&, const auto&, const Taken<Number>& taken) {
        State<Number> error;
        Steps::set_error(Solved<const State<Number>*, Number>{taken.k, {}}, error);
        return error;
    }
    /// θ of the way from s to its end.
    template <class Size, class Number, class Theta>
    [[nodiscard]] static State<Number> within(const State<Number>& s, const Size& dt,
                                              const Taken<Number>& taken, const Theta& theta) {
        return Stepper::interpolant(s, taken.next, dt.h, taken.k).at(theta);
    }
    /// A step of states, given what was tried, or anew.
    template <class Input, class... Trial>
    [[nodiscard]] static auto taken(const Input& in, const Trial&... given) {
        const auto& trial = tried<Stepper>(in, given...);
        Taken<NumberOf<Input>> taken;
        for (int i = 0; i < num_stages; ++i) taken.k[i] = trial.u[i];
        taken.next = trial.next;
        return taken;
    }

  private:
    using OfSlopes = TangentProducts<Slopes>;
    using OfBends = TangentProducts<Bends>;
    /// U and Y, as Steps reads them.
    template <class Solutions, class Number>
    struct Solved {
        static constexpr int count = num_stages;
        Solutions u;
        State<Number> y[num_stages];
    };

    /// Does an entry of J depend on y or p?
    static constexpr bool is_bent(int e) {
        for (int k = 0; k < Bends::num_of_y; ++k) {
            if (Bends::OfY::frozen.entries[k].row == e) return true;
        }
        if constexpr (of_p) {
            for (int k = 0; k < Bends::num_of_p; ++k) {
                if (Bends::OfP::frozen.entries[k].row == e) return true;
            }
        }
        return false;
    }
    /// J̇ U_i + h d_i ḟ_t.
    template <int i, class Primal, class Number>
    EDDY_INLINE static void add_bent(const Linearization<Primal>& of_step,
                                     const Vec<Number, num_bent>& bent, State<Number>& sum) {
        constexpr double d = Method::coefficients.d[i];
        if constexpr (Steps::depends_on_time && d != 0) {
            const Primal weight = Primal(static_cast<ScalarOf<Primal>>(d)) * of_step.h;
            Steps::for_states([&](int c) EDDY_INLINE {
                sum.data[c] = mul_add(weight, bent.data[num_entries + c], sum.data[c]);
            });
        }
        if constexpr (num_entries <= 16)
            multiply_bent(bent, of_step.u[i], sum);
        else
            multiply_bent_out_of_line(bent, of_step.u[i], sum);
    }
    template <class Primal, class Number>
    EDDY_INLINE static void multiply_bent(const Vec<Number, num_bent>& bent, const State<Primal>& u,
                                          State<Number>& sum) {
        static_for<0, num_entries>([&]<int e>() EDDY_INLINE {
            constexpr JacobianEntry at = Slopes::OfY::frozen.entries[e];
            if constexpr (is_bent(e))
                sum.data[at.row] = mul_add(u.data[at.column], bent.data[e], sum.data[at.row]);
        });
    }
    template <class Primal, class Number>
    [[gnu::noinline]] static void multiply_bent_out_of_line(const Vec<Number, num_bent>& bent,
                                                            const State<Primal>& u,
                                                            State<Number>& sum) {
        multiply_bent(bent, u, sum);
    }
};

}  // namespace eddy::inline v0::detail
