#pragma once
// Where a solve of M dy/dt = f(t, y, p) with a singular M begins: y0 moved along K until the algebraic
// equations hold (the names are those of mass_matrix.hpp),
//
//   y = y0 + K z,   N f(t, y, p) = 0,   by Newton's method: (N J K) δ = N f, y ← y − K δ.
//
// M y stays what it was. The adjoint is that of the implicit function, whatever the iteration was:
//
//   (N J K)ᵀ w = Kᵀ ȳ,   v = −Nᵀ w,   (t̄, ȳ0, p̄) = (0, ȳ, 0) + vᵀ ∂f/∂(t, y, p),
//
// which is zero along K. Of one lane, in plain or dual numbers; once a lane.
// Test: tests/solve/dae.cpp, tests/solve/dae_gradients.cpp

#include <eddy/ad/dual.hpp>
#include <eddy/ad/linear_model.hpp>
#include <eddy/core/result.hpp>
#include <eddy/linalg/dense_lu.hpp>
#include <eddy/steppers/mass_matrix.hpp>
#include <eddy/steppers/term.hpp>

namespace eddy::inline v0 {

/// How a start is to be found: tolerances, and how many steps it may take where it takes steps.
template <class Real, int size>
struct StartTask {
    Real rtol;
    const Vec<Real, size>& atol;
    std::int64_t max_steps;
};
/// What became of it, and at whose fault.
struct StartReport {
    Result result = Result::success;
    std::int32_t component = -1;
    std::int64_t accepted = 0, rejected = 0, evaluations = 0;
    bool is_integrated = false;  // the second way of a steady state
};

namespace detail {

/// N J K as a list of its terms: an entry of J, where it goes, and its weight.
struct ConstraintTerm {
    int entry = 0, row = 0, column = 0;
    double weight = 0;
};
template <class Model, class Mass>
constexpr List<ConstraintTerm> constraint_terms() {
    List<ConstraintTerm> terms;
    int e = 0;
    for (const JacobianEntry& entry : Model::pattern()) {
        for (int k = 0; k < Mass::num_constraints; ++k) {
            for (int l = 0; l < Mass::num_constraints; ++l) {
                const double weight =
                    Mass::analysis.left[k][entry.row] * Mass::analysis.right[l][entry.column];
                if (weight != 0) terms.push_back({e, k, l, weight});
            }
        }
        ++e;
    }
    return terms;
}
template <class Model, class Mass, int count>
struct ConstraintTerms {
    ConstraintTerm term[count > 0 ? count : 1]{};
    constexpr ConstraintTerms() {
        int i = 0;
        for (const ConstraintTerm& of : constraint_terms<Model, Mass>()) term[i++] = of;
    }
};

/// The values of parameters that may be dual numbers.
template <class Parameters>
struct PrimalsOf {
    const Parameters& p;
    [[nodiscard]] EDDY_HD auto operator[](int i) const { return primal(p[i]); }
};

}  // namespace detail

/// Starts of `Field`, whose mass matrix is singular.
template <class Field>
struct ConsistentStart {
    using Mass = MassMatrix<Field>;
    using Model = LinearModel<FieldProgram<Field>>;
    static constexpr int size = Mass::size;
    static constexpr int count = Mass::num_constraints;
    static constexpr int most_iterations = 50;
    /// Do steps and evaluations of the start count?
    static constexpr bool reports_steps = false;
    template <class Number>
    using State = Vec<Number, size>;

    /// Moves y until its algebraic equations hold.
    template <class Number, class Parameters, class Real>
    [[nodiscard]] EDDY_HD static StartReport solve(double t, State<Number>& y, const Parameters& p,
                                                   const StartTask<Real, size>& task) {
        State<Real> x = primal_of(y);
        int failed = newton(t, x, detail::PrimalsOf<Parameters>{p}, task);
        if (failed < 0) failed = set(t, y, x, p);
        return {failed < 0 ? Result::success : Result::inconsistent_start, failed};
    }

    /// Newton's iteration: until a step is so small that the next would be lost in rounding errors, or
    /// until steps that are far below the tolerances get no smaller. −1, or the component to blame.
    template <class Real, class Parameters>
    [[nodiscard]] EDDY_HD static int newton(double t, State<Real>& x, const Parameters& p,
                                            const StartTask<Real, size>& task) {
        constexpr Real lost = sizeof(Real) == 4 ? Real(2e-5) : Real(4e-11);  // ε^(2/3)
        Real before = std::numeric_limits<Real>::infinity();
        int worst = 0;
        for (int k = 0; k < most_iterations; ++k) {
            Linear<Real> system;
            const int column = system.make(t, x, p);
            if (column >= 0) return free_component(column);
            const State<Real> step = Mass::right(system.lu.solve(Mass::left(system.f)));
            Real relative(0), norm(0);
            for (int i = 0; i < size; ++i) {
                x[i] = x[i] - step[i];
                const Real moved = abs(step[i]), now = abs(x[i]);
                const Real tiny = std::numeric_limits<Real>::min();
                const Real in_tolerances = moved / (task.rtol * now + task.atol[i] + tiny);
                relative = max(relative, moved / max(max(now, task.atol[i]), tiny));
                if (!(in_tolerances <= norm)) worst = i;
                if (!(moved <= std::numeric_limits<Real>::max())) return worst;
                norm = max(norm, in_tolerances);
            }
            if (relative <= lost) return -1;
            if (norm <= Real(0.01) && !(norm < before / Real(2))) return -1;
            before = norm;
        }
        return worst;
    }

    /// From the cotangent of the state that `solve` left in y to that of the state given; adds those of
    /// p and, where they are asked for, returns that of t.
    template <bool of_time, class Number, class Parameters, class ParameterCotangent>
    [[nodiscard]] EDDY_HD static Number pull(double t, const State<Number>& y, const Parameters& p,
                                             State<Number>& cotangent,
                                             ParameterCotangent& p_cotangent) {
        Linear<Number> system;
        (void)system.make(t, y, p);
        const auto w = system.lu.solve_transposed(Mass::right_transposed(cotangent));
        const State<Number> v = -Mass::left_transposed(w);
        State<Number> of_y{};
        const Number of_t =
            OdeTerm<Field>::template pull_derivative<of_time>(t, y, p, v, of_y, p_cotangent);
        static_for<0, size>([&]<int i>() {
            if constexpr (Mass::is_algebraic(i))
                cotangent.data[i] = convert<Number>(0);
            else
                cotangent.data[i] = cotangent.data[i] + of_y.data[i];
        });
        return of_t;
    }

    /// dy/dt at a consistent state, that of algebraic components too.
    template <class Number, class Parameters>
    [[nodiscard]] EDDY_HD static State<Number> slope(double t, const State<Number>& y,
                                                     const Parameters& p) {
        Linear<Number> system;
        (void)system.make(t, y, p);
        const State<Number> moved = Mass::slope(system.f);
        State<Number> rate = system.by_time;  // ∂f/∂t + J moved
        for_entries([&]<int e, int row, int column>() {
            rate.data[row] = mul_add(system.jacobian.data[e], moved.data[column], rate.data[row]);
        });
        return moved - Mass::right(system.lu.solve(Mass::left(rate)));
    }

  protected:
    template <class Number>
    [[nodiscard]] EDDY_HD static auto primal_of(const State<Number>& y) {
        State<PrimalOf<Number>> x{};
        for (int i = 0; i < size; ++i) x[i] = primal(y[i]);
        return x;
    }
    /// Gives y the values x that were found, with their tangents; −1, or the component to blame.
    template <class Number, class Real, class Parameters>
    [[nodiscard]] EDDY_HD static int set(double t, State<Number>& y, const State<Real>& x,
                                         const Parameters& p) {
        if constexpr (std::is_same_v<Number, Real>) {
            y = x;
            return -1;
        } else {
            for (int i = 0; i < size; ++i) y[i].value = x[i];
            return solve_tangents(t, y, p);
        }
    }

  private:
    static constexpr int num_terms =
        static_cast<int>(detail::constraint_terms<Model, Mass>().size());
    static constexpr detail::ConstraintTerms<Model, Mass, num_terms> terms{};

    /// f, J and ∂f/∂t at a state, and the factors of N J K.
    template <class Number>
    struct Linear {
        State<Number> f{}, by_time{};
        Vec<Number, Model::num_nonzeros> jacobian{};
        DenseLu<Number, count> lu;

        /// −1, or the column of N J K that is to blame.
        template <class Parameters>
        [[nodiscard]] EDDY_HD int make(double t, const State<Number>& y, const Parameters& p) {
            evaluate<typename Model::Values, Number>(
                [&]<int output>(int component, const Number& value) {
                    if constexpr (output == 0)
                        f.data[component] = value;
                    else if constexpr (output == Model::jacobian_output)
                        jacobian.data[component] = value;
                    else
                        by_time.data[component] = value;
                },
                t, y, p);
            typename DenseLu<Number, count>::Matrix matrix{};
            static_for<0, num_terms>([&]<int i>() {
                constexpr detail::ConstraintTerm term = terms.term[i];
                Number& sum = matrix.data[term.row].data[term.column];
                sum = mul_add(PrimalOf<Number>(static_cast<ScalarOf<Number>>(term.weight)),
                              jacobian.data[term.entry], sum);
            });
            return lu.factor(matrix);
        }
    };
    template <class Body>
    EDDY_HD static void for_entries(Body&& body) {
        static_for<0, Model::num_nonzeros>([&]<int e>() {
            constexpr JacobianEntry entry = entry_of(e);
            body.template operator()<e, entry.row, entry.column>();
        });
    }
    static constexpr JacobianEntry entry_of(int e) {
        return Model::pattern()[static_cast<std::size_t>(e)];
    }
    [[nodiscard]] EDDY_HD static int free_component(int column) {
        int component = 0;
        static_for<0, count>([&]<int k>() {
            constexpr int of_column = Mass::analysis.free_component[k];
            if (k == column) component = of_column;
        });
        return component;
    }

    /// The tangents of y, whose values are consistent: those given play no part along K.
    template <class Number, class Parameters>
    [[nodiscard]] EDDY_HD static int solve_tangents(double t, State<Number>& y,
                                                    const Parameters& p) {
        using Real = PrimalOf<Number>;
        State<Real> tangent{};
        const State<Real> x = primal_of(y);
        Linear<Real> system;
        const int column = system.make(t, x, detail::PrimalsOf<Parameters>{p});
        if (column >= 0) return free_component(column);
        const State<Number> f = OdeTerm<Field>::derivative(t, y, p);
        for (int i = 0; i < size; ++i) tangent[i] = f[i].tangent;
        const State<Real> step = Mass::right(system.lu.solve(Mass::left(tangent)));
        for (int i = 0; i < size; ++i) y[i].tangent = y[i].tangent - step[i];
        return -1;
    }
};

/// What finds the start of a field with algebraic components.
template <class Field>
struct ChosenStart {
    using type = ConsistentStart<Field>;
};
template <class Field>
using StartOf = typename ChosenStart<Field>::type;

namespace detail {

/// Are there components that the equation itself determines at the start?
template <class Field>
consteval bool has_algebraic_components() {
    if constexpr (has_mass<Field>)
        return MassMatrix<Field>::num_constraints > 0;
    else
        return false;
}

/// Is there more to be told of a lane that began than of its steps? Else each start is found by itself, and solved for
/// once.
template <class Field>
concept ReportsStart = has_algebraic_components<Field>() && StartOf<Field>::reports_steps;
template <class Field>
inline constexpr bool keeps_starts = has_algebraic_components<Field>() && !ReportsStart<Field>;

}  // namespace detail
}  // namespace eddy::inline v0
