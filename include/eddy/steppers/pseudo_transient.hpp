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

#include <eddy/core/lanes.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/linalg/place_lu.hpp>
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
    /// Of a step, in units of the state.
    static constexpr Real most_error = Real(0.25);
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
        const Number smallest = h_ * Number(std::numeric_limits<Real>::epsilon());
        for (std::int64_t step = 0; any(active_); ++step) {
            if (step >= task_.max_steps) end_where(active_, Result::max_steps_reached, worst_);
            end_where(!(h_ > smallest), Result::dt_underflow, worst_);
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
        reports_[place] = {result, component, count(accepted_), count(rejected_),
                           count(evaluations_)};
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

    /// True where the step was accepted.
    [[nodiscard]] EDDY_HD Mask take_step() {
        Lu lu;
        const Number column = lu.factor(matrix(Number(1) / h_));
        const Mask is_singular = active_ & (column >= Number(0));
        is_stuck_ = is_stuck_ | (is_singular & (singular_ >= Number(0)));
        const Mask is_tried = active_ & (!is_singular);
        const State step = lu.solve(here_.f);
        const Number error = measure(step, is_tried);
        const Mask is_short = is_tried & (error <= Number(most_error));
        const Mask is_long = is_tried & (!is_short);
        Point next;
        next.y = here_.y + step;
        if (any(is_short)) static_cast<void>(evaluate_at(next));
        add_where(is_short, evaluations_);
        const Mask accepted = is_short & (broken_ < Number(0));
        const Mask breaks = is_short & (!accepted);
        worst_ = select(is_singular, column, select(breaks, broken_, worst_));
        const Number share = sqrt(Number(most_error) / error);
        resize(accepted, is_long, share);
        accept(accepted, next, step);
        return accepted;
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
        const auto take = [&](Number& here, const Number& there) {
            here = select(accepted, there, here);
        };
        for (int i = 0; i < size; ++i) {
            take(here_.y[i], next.y[i]);
            take(here_.f[i], next.f[i]);
            take(rate_[i], per_step * step[i]);
            for (int j = 0; j < size; ++j) take(here_.jacobian[i][j], next.jacobian[i][j]);
        }
        has_rate_ = has_rate_ | accepted;
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
    [[nodiscard]] EDDY_HD Number measure(const State& step, Mask is_tried) {
        Number error(0), largest(0);
        Mask is_number = is_tried;
        for (int i = 0; i < size; ++i) {
            const Number atol(task_.atol[i]);
            const Number now = max(abs(here_.y[i]), abs(here_.y[i] + step[i]));
            const Number moved = abs(step[i]) / (Number(task_.rtol) * now + atol);
            const Number bent =
                select(has_rate_, Number(Real(0.5)) * abs(step[i] - h_ * rate_[i]), Number(0));
            const Number of_component = bent / (now + atol);
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
        const bool is_long = h > get_lane(first_near_, place) * Real(1e6) || h >= longest;
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
        const Real column = lu.factor(jacobian);
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
    Mask is_stuck_ = Mask(false);
    Number worst_{}, broken_{}, singular_ = Number(Real(-1));  // components
    Count accepted_{}, rejected_{}, evaluations_ = Count(1);
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
        StartReport reports[1];
        solve_places(t, y, p, task, true, reports);
        return reports[0];
    }
    /// The same for all places of packs that are `wanted`.
    template <class Number, class Parameters, class Real, class Mask, int num_places>
    EDDY_HD static void solve_places(double t, Vec<Number, Base::size>& y, const Parameters& p,
                                     const StartTask<Real, Base::size>& task, const Mask& wanted,
                                     StartReport (&reports)[num_places]) {
        const detail::PrimalsOf<Parameters> values{p};
        Vec<PrimalOf<Number>, Base::size> x = Base::primal_of(y);
        detail::PseudoTransient<Steady, PrimalOf<Number>, detail::PrimalsOf<Parameters>> way(
            t, values, task, reports);
        way.run(x, wanted);
        for (int place = 0; place < num_places; ++place) {
            if (!get_lane(wanted, place) || reports[place].result != Result::success) continue;
            Vec<LaneOf<Number>, Base::size> lane{};
            Vec<Real, Base::size> found{};
            for (int i = 0; i < Base::size; ++i) {
                lane[i] = get_lane(y[i], place);
                found[i] = get_lane(x[i], place);
            }
            const detail::ParametersOfPlace<Parameters> of_lane{p, place};
            const int failed = Base::set(t, lane, found, of_lane);
            if (failed >= 0) reports[place] = {Result::singular_matrix, failed};
            for (int i = 0; i < Base::size; ++i) set_lane(y[i], place, lane[i]);
        }
    }
};
template <class Field>
struct ChosenStart<SteadyField<Field>> {
    using type = SteadyStart<SteadyField<Field>>;
};

}  // namespace eddy::inline v0
