#pragma once
// Steady states, f(y, p) = 0, by pseudo-transient continuation: linearly implicit Euler steps through
// M dy/dt = f, whose accuracy does not matter, and whose size grows until they are those of Newton's
// method (Kelley & Keyes 1998, SIAM J. Numer. Anal. 35(2), 508–523):
//
//   (M/h − J) δ = f,   y ← y + δ.
//
// Switched evolution relaxation (Mulder & van Leer 1985, J. Comput. Phys. 59(2), 232–246), as there, lets
// h follow from |f|, and stays small along a slow manifold. Here h follows from the local error,
// ½ h |δ/h − δ₋/h₋|, and from what f at the end of the step says of it: both stay below a quarter of the
// state itself. So the steady state is one that the equation comes to from y0, but for large errors on
// its way.
//
// Where these errors lead astray, the way begins anew and keeps to the trajectory: by steps of Rodas3 whose
// errors are below a hundredth of each component. Newton's method ends both ways. It is no way of its own:
// from afar it comes to states that trajectories leave.
// Test: tests/solve/steady_state.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/linalg/place_lu.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/steppers/consistent_start.hpp>

namespace eddy::inline v0 {

namespace detail {

/// The parameters of one place.
template <class Parameters>
struct ParametersOfPlace {
    const Parameters& p;
    int place;
    [[nodiscard]] EDDY_HD auto operator[](int i) const { return get_lane(p[i], place); }
};

/// The way of the lanes in the places of a Number to their steady states: each has steps and sizes of its
/// own, and stands still where it has ended.
template <class Steady, class Number, class Parameters>
class PseudoTransient {
    using Mass = MassMatrix<typename Steady::Transient>;
    using Model = LinearModel<FieldProgram<Steady>>;
    using Real = ScalarOf<Number>;
    using Mask = MaskOf<Number>;
    using Count = eddy::WithElement<Number, double>;
    static constexpr int size = Steady::state_size;
    static constexpr int num_places = num_lanes_of<Number>;
    using State = Vec<Number, size>;
    using LaneState = Vec<Real, size>;
    using Lu = PlaceLu<Number, size>;
    using Tableau = RosenbrockTableau<4>;
    static constexpr Tableau rodas3 = Rodas3::coefficients;
    /// Of a step, in units of the state, and of one that integrates.
    static constexpr Real most_error = Real(0.25), most_of_integration = Real(1e-2);
    static constexpr Real longest = Real(1e30);

  public:
    EDDY_HD PseudoTransient(double t, const Parameters& p, const StartTask<Real, size>& task,
                            StartReport (&reports)[num_places])
        : t_(t), p_(p), task_(task), reports_(reports) {}

    /// Moves y to the steady states of the places that are `wanted`, and reports on them.
    EDDY_HD void run(State& y, const Mask& wanted) {
        active_ = wanted;
        here_.y = y;
        end_where(Number(0) <= evaluate_at(here_), Result::non_finite, broken_);
        h_ = first_size();
        const Point start = here_;
        const std::int64_t most_transient = min((task_.max_steps + 1) / 2, std::int64_t{250});
        const Number first = h_, smallest = h_ * Number(std::numeric_limits<Real>::epsilon());
        for (std::int64_t step = 0; any(active_); ++step) {
            if (step >= task_.max_steps) end_where(active_, Result::max_steps_reached, worst_);
            const Mask underflows = !(h_ > smallest);
            end_where(integrates_ & underflows, Result::dt_underflow, worst_);
            const Mask is_astray = underflows | Mask(step >= most_transient);
            integrate_where(active_ & is_astray & (!integrates_), start, first);
            end_where(is_stuck_, Result::singular_matrix, singular_);
            const Mask accepted = take_step();
            const Mask is_due = accepted & is_near_;
            polish_where(is_due & (h_ >= next_polish_), y);
        }
    }

  private:
    /// States with f and the dense matrices J there.
    struct Point {
        State y{}, f{};
        typename Lu::Matrix jacobian{};
    };

    static constexpr bool is_algebraic(int component) {
        if constexpr (Mass::num_constraints > 0)
            return Mass::is_algebraic(component);
        else
            return false;
    }
    [[nodiscard]] EDDY_HD static Number index(int i) { return Number(static_cast<Real>(i)); }
    [[nodiscard]] EDDY_HD static Mask is_finite(const Number& x) { return x - x == Number(0); }
    EDDY_HD static void add_where(const Mask& where, Count& count) {
        count = count + convert<Count>(select(where, Number(1), Number(0)));
    }

    EDDY_HD void end_where(const Mask& where, Result result, const Number& component) {
        const Mask ends = active_ & where;
        if (!any(ends)) return;
        for (int place = 0; place < num_places; ++place) {
            if (get_lane(ends, place))
                end(place, result, static_cast<std::int32_t>(get_lane(component, place)));
        }
    }
    EDDY_HD void end(int place, Result result, std::int32_t component) {
        const auto count = [&](const Count& of) {
            return static_cast<std::int64_t>(get_lane(of, place));
        };
        reports_[place] = {result,           component,           count(accepted_),
                           count(rejected_), count(evaluations_), get_lane(integrates_, place)};
        set_lane(active_, place, false);
    }

    /// The first component of f that is not finite, or whose derivatives are not; −1: none.
    [[nodiscard]] EDDY_HD const Number& evaluate_at(Point& point) {
        Vec<Number, Model::num_nonzeros> entries{};
        evaluate<typename Model::Values, Number>(
            [&]<int output>(int component, const Number& value) {
                if constexpr (output == 0)
                    point.f.data[component] = value;
                else
                    entries.data[component] = value;
            },
            Count(t_), point.y, p_);
        broken_ = Number(Real(-1));
        for (int i = size; i-- > 0;) broken_ = select(is_finite(point.f[i]), broken_, index(i));
        static_for<0, Model::num_nonzeros>([&]<int e>() {
            constexpr JacobianEntry entry = Model::pattern()[static_cast<std::size_t>(e)];
            point.jacobian.data[entry.row].data[entry.column] = entries.data[e];
            const Mask is_first = (broken_ < Number(0)) & (!is_finite(entries.data[e]));
            broken_ = select(is_first, index(entry.row), broken_);
        });
        return broken_;
    }

    /// Moves no component by more than a tenth of itself, and leaves M its weight beside J where
    /// nothing moves.
    [[nodiscard]] EDDY_HD Number first_size() const {
        const State slope = Mass::slope(here_.f);
        Number fastest(0);
        for (int i = 0; i < size; ++i) {
            fastest = max(fastest, abs(slope[i]) / (abs(here_.y[i]) + Number(task_.atol[i])));
            for (int j = 0; j < size; ++j)
                fastest = max(fastest, Number(Real(1e-5)) * abs(here_.jacobian[i][j]));
        }
        const Number size_of_step = Number(Real(0.1)) / fastest;
        return select(size_of_step <= Number(longest), size_of_step, Number(longest));
    }

    /// Begins anew.
    EDDY_HD void integrate_where(const Mask& where, const Point& start, const Number& first) {
        if (!any(where)) return;
        go_where(where, here_, start);
        h_ = select(where, first, h_);
        next_polish_ = select(where, Number(0), next_polish_);
        first_near_ = select(where, Number(0), first_near_);
        integrates_ = integrates_ | where;
    }

    /// True where the step was accepted.
    [[nodiscard]] EDDY_HD Mask take_step() {
        Lu lu;
        const Number gamma = select(integrates_, Number(Real(rodas3.gamma)), Number(1));
        const Number column = lu.factor(matrix(Number(1) / (gamma * h_)));
        const Mask is_singular = active_ & (column >= Number(0));
        is_stuck_ = is_stuck_ | (is_singular & (singular_ >= Number(0)));
        const Mask is_tried = active_ & (!is_singular);
        State step = lu.solve(here_.f), estimate{};
        if (any(is_tried & integrates_)) take_stages(lu, step, estimate);
        Number error = measure(step, estimate, is_tried);
        const Mask is_short = is_tried & (error <= Number(most_error));
        Point next;
        next.y = here_.y + step;
        if (any(is_short)) static_cast<void>(evaluate_at(next));
        add_where(is_short, evaluations_);
        const Mask is_defined = is_short & (broken_ < Number(0));
        const Mask breaks = is_short & (!is_defined);
        worst_ = select(is_singular, column, select(breaks, broken_, worst_));
        const Mask is_checked = is_defined & (!integrates_);
        if (any(is_checked)) {
            const Number at_end = error_at_end(lu, next, step, is_checked);
            error = select(is_checked & (!(at_end <= error)), at_end, error);
        }
        const Mask accepted = is_defined & (error <= Number(most_error));
        const Mask is_long = is_tried & (!accepted) & (!breaks);
        const Number root = sqrt(Number(most_error) / error);
        resize(accepted, is_long, select(integrates_, sqrt(root), root));
        accept(accepted, next, step);
        return accepted;
    }
    /// The error of a step in units of the state by f at its end: what the next iteration for Euler's
    /// implicit step would change; and above all bounds where a component that changes its sign would be
    /// driven back at zero, for beyond it f need not make sense.
    [[nodiscard]] EDDY_HD Number error_at_end(const Lu& lu, const Point& next, const State& step,
                                              const Mask& is_checked) {
        const State change = lu.solve(next.f - (Number(1) / h_) * Mass::times(step));
        Number error(0);
        Point at_zero = next;
        Mask crosses = Mask(false);
        static_for<0, size>([&]<int i>() {
            if constexpr (is_algebraic(i)) return;  // where no size of step would help
            const Number atol(task_.atol[i]), now = max(abs(here_.y[i]), abs(next.y[i]));
            const Number of_component = abs(change[i]) / (now + atol);
            error = select(of_component <= error, error, of_component);  // NaN stays
            const Mask changes_sign = here_.y[i] * next.y[i] < Number(0);
            const Mask is_beyond = is_checked & changes_sign & (abs(next.y[i]) > atol);
            at_zero.y[i] = select(is_beyond, Number(0), next.y[i]);
            crosses = crosses | is_beyond;
        });
        if (!any(crosses)) return error;
        static_cast<void>(evaluate_at(at_zero));
        add_where(crosses, evaluations_);
        const State slope = Mass::slope(at_zero.f);
        for (int i = 0; i < size; ++i) {
            const Mask is_at_zero = crosses & (at_zero.y[i] == Number(0));
            error = select(is_at_zero & (slope[i] * step[i] < Number(0)), Number(1), error);
        }
        return error;
    }
    /// Where the way is integrated: from the first stage of a step, which is that of Euler's method, to
    /// the step and its error.
    EDDY_HD void take_stages(const Lu& lu, State& step, State& estimate) {
        State u[Tableau::num_stages];
        u[0] = step;
        const Number by_h = Number(1) / h_;
        State next{}, error{};
        static_for<0, Tableau::num_stages>([&]<int i>() {
            if constexpr (i > 0) {
                Point at = here_;
                State coupled{};
                static_for<0, i>([&]<int j>() {
                    constexpr double a = rodas3.a[i][j], c = rodas3.coupling[i][j];
                    if constexpr (a != 0) at.y = at.y + Number(Real(a)) * u[j];
                    if constexpr (c != 0) coupled = coupled + (Number(Real(c)) * by_h) * u[j];
                });
                static_cast<void>(evaluate_at(at));
                u[i] = lu.solve(at.f + Mass::times(coupled));
            }
            constexpr double m = rodas3.m[i], e = rodas3.m_error[i];
            if constexpr (m != 0) next = next + Number(Real(m)) * u[i];
            if constexpr (e != 0) error = error + Number(Real(e)) * u[i];
        });
        for (int i = 0; i < size; ++i) step[i] = select(integrates_, next[i], step[i]);
        estimate = error;
        add_where(integrates_ & active_, evaluations_);
        add_where(integrates_ & active_, evaluations_);
    }
    /// The sizes of the steps that follow; those that were taken are `last_`.
    EDDY_HD void resize(const Mask& accepted, const Mask& is_long, const Number& share) {
        const Number least(Real(0.1)), half = Number(Real(0.5)) * share;
        const Mask shrinks_less = is_long & (half >= least);
        const Number rejected = h_ * select(shrinks_less, half, least);
        const Number grows =
            max(Number(Real(0.2)), min(Number(Real(10)), Number(Real(0.7)) * share));
        last_ = h_;
        h_ = select(accepted, min(h_ * grows, Number(longest)), select(active_, rejected, h_));
        add_where(accepted, accepted_);
        add_where(active_ & (!accepted), rejected_);
    }
    EDDY_HD void accept(const Mask& accepted, const Point& next, const State& step) {
        const Number per_step = Number(1) / last_;
        for (int i = 0; i < size; ++i) rate_[i] = select(accepted, per_step * step[i], rate_[i]);
        go_where(accepted, here_, next);
        has_rate_ = has_rate_ | accepted;
    }
    EDDY_HD static void go_where(const Mask& where, Point& here, const Point& there) {
        for (int i = 0; i < size; ++i) {
            here.y[i] = select(where, there.y[i], here.y[i]);
            here.f[i] = select(where, there.f[i], here.f[i]);
            for (int j = 0; j < size; ++j)
                here.jacobian[i][j] = select(where, there.jacobian[i][j], here.jacobian[i][j]);
        }
    }
    /// M/h − J.
    [[nodiscard]] EDDY_HD typename Lu::Matrix matrix(const Number& by_h) const {
        typename Lu::Matrix matrix{};
        static_for<0, size>([&]<int i>() {
            static_for<0, size>([&]<int j>() {
                constexpr double m = Mass::entry(i, j);
                Number& entry = matrix.data[i].data[j];
                entry = -here_.jacobian.data[i].data[j];
                if constexpr (m != 0) entry = entry + Number(static_cast<Real>(m)) * by_h;
            });
        });
        return matrix;
    }
    /// The error of a step in units of the state, NaN where it is no number; finds out, where it
    /// `is_tried`, whether it is small by the tolerances, and the component that moves the most by them.
    [[nodiscard]] EDDY_HD Number measure(const State& step, const State& estimate,
                                         const Mask& is_tried) {
        Number error(0), largest(0);
        Mask is_number = is_tried;
        for (int i = 0; i < size; ++i) {
            const Number atol(task_.atol[i]);
            const Number now = max(abs(here_.y[i]), abs(here_.y[i] + step[i]));
            const Number moved = abs(step[i]) / (Number(task_.rtol) * now + atol);
            const Number bent =
                select(has_rate_, Number(Real(0.5)) * abs(step[i] - h_ * rate_[i]), Number(0));
            const Number estimated = Number(most_error / most_of_integration) * abs(estimate[i]);
            const Number of_component = select(integrates_, estimated, bent) / (now + atol);
            const Mask is_worst = is_number & (!(moved <= largest));
            worst_ = select(is_worst, index(i), worst_);
            largest = select(moved >= largest, moved, largest);
            error = select(of_component <= error, error, of_component);  // NaN stays
            is_number = is_number & is_finite(step[i]);
        }
        is_near_ = (is_number & (largest <= Number(1))) | ((!is_number) & is_near_);
        return select(is_number, error, Number(std::numeric_limits<Real>::quiet_NaN()));
    }

    /// Newton's method from here, lane by lane; lanes that end nearby are at rest.
    EDDY_HD void polish_where(const Mask& where, State& y) {
        if (!any(where)) return;
        for (int place = 0; place < num_places; ++place) {
            if (get_lane(where, place)) polish_lane(place, y);
        }
    }
    EDDY_HD void polish_lane(int place, State& y) {
        LaneState x{};
        if (polish(place, x)) {
            for (int i = 0; i < size; ++i) set_lane(y[i], place, x[i]);
            return end(place, Result::success, -1);
        }
        const Real h = get_lane(h_, place);
        if (get_lane(first_near_, place) == Real(0)) set_lane(first_near_, place, h);
        const Real column = get_lane(singular_, place);
        const bool is_long = h > get_lane(first_near_, place) * Real(1e5) || h >= longest;
        if (column >= Real(0) && is_long)
            return end(place, Result::singular_matrix, static_cast<std::int32_t>(column));
        set_lane(next_polish_, place, Real(10) * h);
    }
    /// If its matrix is regular: true where it ends nearby, in x.
    [[nodiscard]] EDDY_HD bool polish(int place, LaneState& x) {
        typename PlaceLu<Real, size>::Matrix jacobian{};
        for (int i = 0; i < size; ++i) {
            x[i] = get_lane(here_.y[i], place);
            for (int j = 0; j < size; ++j) jacobian[i][j] = -get_lane(here_.jacobian[i][j], place);
        }
        const LaneState from = x;
        PlaceLu<Real, size> lu;
        // Pivots of a conserved sum are differences of what was rounded.
        const Real column = lu.factor(jacobian, Real(64));
        set_lane(singular_, place, column);
        if (column >= Real(0)) return false;
        const ParametersOfPlace<Parameters> p{p_, place};
        if (ConsistentStart<Steady>::newton(t_, x, p, task_) >= 0) return false;
        for (int i = 0; i < size; ++i) {
            const Real tolerance = task_.rtol * max(abs(x[i]), abs(from[i])) + task_.atol[i];
            if (!(abs(x[i] - from[i]) <= Real(100) * tolerance)) return false;
        }
        return true;
    }

    double t_;
    const Parameters& p_;
    const StartTask<Real, size>& task_;
    StartReport (&reports_)[num_places];
    Point here_;
    State rate_{};  // dy/dt as the last step had it
    Number h_{}, last_{}, first_near_{}, next_polish_{};
    Mask active_ = Mask(false), has_rate_ = Mask(false), is_near_ = Mask(false);
    Mask is_stuck_ = Mask(false), integrates_ = Mask(false);
    Number worst_{}, broken_{}, singular_ = Number(Real(-1));  // components
    Count accepted_{}, rejected_{}, evaluations_ = Count(1);
};

}  // namespace detail

}  // namespace eddy::inline v0
