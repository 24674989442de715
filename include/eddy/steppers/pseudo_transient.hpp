#pragma once
// Steady states, f(y, p) = 0, by pseudo-transient continuation: linearly implicit Euler steps through
// M dy/dt = f, whose accuracy does not matter, and whose size grows until they are those of Newton's
// method (Kelley & Keyes 1998, SIAM J. Numer. Anal. 35(2), 508–523):
//
//   (M/h − J) δ = f,   y ← y + δ.
//
// The next size follows from the local error, ½ h |δ/h − δ₋/h₋|, held below the size of the state
// itself: a size that follows from |f| alone stays small along a slow manifold. So the steady state is
// one that the equation comes to from y0, but for large errors on its way.

#include <eddy/steppers/consistent_start.hpp>

namespace eddy::inline v0 {

/// f(y, p) = 0: a vector field without derivatives, which begins where `Field` comes to rest.
template <class Field>
struct SteadyField {
    using Transient = Field;
    static constexpr int state_size = Field::state_size, parameter_size = Field::parameter_size;
    static constexpr double mass[state_size][state_size]{};

    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y, const Parameters& p) const {
        return Field{}(t, y, p);
    }
};

namespace detail {

/// The way of one lane to its steady state, in plain numbers.
template <class Steady, class Real, class Parameters>
class PseudoTransient {
    using Mass = MassMatrix<typename Steady::Transient>;
    using Model = LinearModel<FieldProgram<Steady>>;
    static constexpr int size = Steady::state_size;
    using State = Vec<Real, size>;
    using Lu = DenseLu<Real, size>;
    /// Of a step, in units of the state.
    static constexpr Real most_error = Real(0.25);

  public:
    EDDY_HD PseudoTransient(double t, const Parameters& p, const StartTask<Real, size>& task)
        : t_(t), p_(p), task_(task) {}

    /// Moves y to the steady state.
    [[nodiscard]] EDDY_HD StartReport run(State& y) {
        here_.y = y;
        const int broken = evaluate_at(here_);
        if (broken >= 0) return ended(Result::non_finite, broken);
        h_ = first_size();
        const Real smallest = h_ * std::numeric_limits<Real>::epsilon();
        while (report_.accepted + report_.rejected < task_.max_steps) {
            if (!(h_ > smallest)) return ended(Result::dt_underflow, worst_);
            if (is_stuck_) return ended(Result::singular_matrix, singular_);
            if (!take_step() || !is_near_ || h_ < next_polish_) continue;
            if (polish(y)) return ended(Result::success, -1);
            if (first_near_ == Real(0)) first_near_ = h_;
            if (singular_ >= 0 && h_ > first_near_ * Real(1e6))
                return ended(Result::singular_matrix, singular_);
            next_polish_ = Real(10) * h_;
        }
        return ended(Result::max_steps_reached, worst_);
    }

  private:
    /// A state with f and the dense matrix J there.
    struct Point {
        State y{}, f{};
        typename Lu::Matrix jacobian{};
    };

    [[nodiscard]] EDDY_HD StartReport ended(Result result, int component) {
        report_.result = result;
        report_.component = component;
        return report_;
    }

    /// The first component of f that is not finite, or whose derivatives are not; −1: none.
    [[nodiscard]] EDDY_HD int evaluate_at(Point& point) {
        Vec<Real, Model::num_nonzeros> entries{};
        evaluate<typename Model::Values, Real>(
            [&]<int output>(int component, const Real& value) {
                if constexpr (output == 0)
                    point.f.data[component] = value;
                else
                    entries.data[component] = value;
            },
            t_, point.y, p_);
        ++report_.evaluations;
        int broken = -1;
        for (int i = size; i-- > 0;) {
            if (!is_number(point.f[i])) broken = i;
        }
        static_for<0, Model::num_nonzeros>([&]<int e>() {
            constexpr JacobianEntry entry = Model::pattern()[static_cast<std::size_t>(e)];
            point.jacobian.data[entry.row].data[entry.column] = entries.data[e];
            if (broken < 0 && !is_number(entries.data[e])) broken = entry.row;
        });
        return broken;
    }

    /// Moves no component by more than a tenth of itself, and leaves M its weight beside J where
    /// nothing moves.
    [[nodiscard]] EDDY_HD Real first_size() const {
        const State slope = Mass::slope(here_.f);
        Real fastest(0);
        for (int i = 0; i < size; ++i) {
            fastest = max(fastest, abs(slope[i]) / (abs(here_.y[i]) + task_.atol[i]));
            for (int j = 0; j < size; ++j)
                fastest = max(fastest, Real(1e-5) * abs(here_.jacobian[i][j]));
        }
        const Real size_of_step = Real(0.1) / fastest;
        return size_of_step <= Real(1e30) ? size_of_step : Real(1e30);
    }

    /// True where the step was accepted.
    [[nodiscard]] EDDY_HD bool take_step() {
        Lu lu;
        const int column = lu.factor(matrix(Real(1) / h_));
        if (column >= 0) {
            is_stuck_ = singular_ >= 0;
            return reject(Real(0.1), column);
        }
        const State step = lu.solve(here_.f);
        const Real error = measure(step);
        if (!(error <= most_error)) return reject(Real(0.5) * sqrt(most_error / error), worst_);
        Point next;
        next.y = here_.y + step;
        const int broken = evaluate_at(next);
        if (broken >= 0) return reject(Real(0.1), broken);
        here_ = next;
        rate_ = scaled(Real(1) / h_, step);
        has_rate_ = true;
        const Real grows = Real(0.7) * sqrt(most_error / error);
        h_ = min(h_ * max(Real(0.2), min(Real(10), grows)), Real(1e30));
        ++report_.accepted;
        return true;
    }
    EDDY_HD bool reject(Real factor, int component) {
        h_ = h_ * (factor >= Real(0.1) ? factor : Real(0.1));
        worst_ = component;
        ++report_.rejected;
        return false;
    }
    /// M/h − J.
    [[nodiscard]] EDDY_HD typename Lu::Matrix matrix(Real by_h) const {
        typename Lu::Matrix matrix{};
        static_for<0, size>([&]<int i>() {
            static_for<0, size>([&]<int j>() {
                constexpr double m = Mass::entry(i, j);
                Real& entry = matrix.data[i].data[j];
                entry = -here_.jacobian.data[i].data[j];
                if constexpr (m != 0) entry = entry + static_cast<Real>(m) * by_h;
            });
        });
        return matrix;
    }
    /// The error of a step in units of the state, NaN where it is no number; finds out whether it is
    /// small by the tolerances, and the component that moves the most by them.
    [[nodiscard]] EDDY_HD Real measure(const State& step) {
        Real error(0), largest(0);
        for (int i = 0; i < size; ++i) {
            const Real now = max(abs(here_.y[i]), abs(here_.y[i] + step[i]));
            const Real moved = abs(step[i]) / (task_.rtol * now + task_.atol[i]);
            const Real bent = has_rate_ ? Real(0.5) * abs(step[i] - h_ * rate_[i]) : Real(0);
            const Real of_component = bent / (now + task_.atol[i]);
            if (!(moved <= largest)) worst_ = i;
            largest = moved >= largest ? moved : largest;
            error = of_component <= error ? error : of_component;  // NaN stays
            if (!is_number(step[i])) return step[i] - step[i];
        }
        is_near_ = largest <= Real(1);
        return error;
    }

    /// Newton's method from here, if its matrix is regular: true where it ends nearby, in y.
    [[nodiscard]] EDDY_HD bool polish(State& y) {
        Lu lu;
        singular_ = lu.factor(matrix(Real(0)));
        if (singular_ >= 0) return false;
        State x = here_.y;
        if (ConsistentStart<Steady>::newton(t_, x, p_, task_) >= 0) return false;
        for (int i = 0; i < size; ++i) {
            const Real tolerance = task_.rtol * max(abs(x[i]), abs(here_.y[i])) + task_.atol[i];
            if (!(abs(x[i] - here_.y[i]) <= Real(100) * tolerance)) return false;
        }
        y = x;
        return true;
    }

    double t_;
    const Parameters& p_;
    const StartTask<Real, size>& task_;
    Point here_;
    State rate_{};  // dy/dt as the last step had it
    Real h_ = 0, first_near_ = 0, next_polish_ = 0;
    bool has_rate_ = false, is_near_ = false, is_stuck_ = false;
    int worst_ = 0, singular_ = -1;
    StartReport report_;
};

}  // namespace detail

/// Starts of SteadyField: their derivatives are those of every consistent start.
template <class Steady>
struct SteadyStart : ConsistentStart<Steady> {
    using Base = ConsistentStart<Steady>;
    static constexpr bool reports_steps = true;

    template <class Number, class Parameters, class Real>
    [[nodiscard]] EDDY_HD static StartReport solve(double t, Vec<Number, Base::size>& y,
                                                   const Parameters& p,
                                                   const StartTask<Real, Base::size>& task) {
        const detail::PrimalsOf<Parameters> values{p};
        Vec<Real, Base::size> x = Base::primal_of(y);
        detail::PseudoTransient<Steady, Real, detail::PrimalsOf<Parameters>> way(t, values, task);
        StartReport report = way.run(x);
        if (report.result != Result::success) return report;
        const int failed = Base::set(t, y, x, p);
        if (failed >= 0) report = {Result::singular_matrix, failed};
        return report;
    }
};
template <class Field>
struct ChosenStart<SteadyField<Field>> {
    using type = SteadyStart<SteadyField<Field>>;
};

}  // namespace eddy::inline v0
