#pragma once
// Was the size of an explicit step bounded by stability, not by its error? Differences u of stages hold most
// of the stiffest mode (Shampine 1977, Numer. Math. 28; Hairer & Wanner 1996, Solving ODEs II, IV.2), and
// J multiplies it by λ:
//
//   |λ|² ≈ |J² u| / |u|,   u = h Σ_i w_i k_i,   Σ_i w_i = 0,   hJ v = h (f(t, y + v) − f(t, y)).
//
// Where |hλ| is as long as the method is stable, the controller has found that bound. The quotient of u and
// the difference of the stages' states, |J ΔY| / |ΔY|, would need no f, but it is ω² for an oscillation that
// units make look flat, in some of its phases, and what is smooth in ΔY hides the mode; J² turns any
// oscillation into ω², whatever the units, and has left the smooth behind. Norms are largest magnitudes.
// Test: tests/steppers/stiffness.cpp

#include <cstdint>
#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/stability_polynomial.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <eddy/steppers/term.hpp>

namespace eddy::inline v0 {

/// Which attempts of a lane, from 1 on, are looked at: `first`, and one in so many after it. Looking at
/// each would be a sixth of the operations of a cheap step.
struct LookSchedule {
    std::int64_t first, every;

    [[nodiscard]] EDDY_HD constexpr bool holds(std::int64_t attempt) const {
        return attempt >= first && (attempt - first) % every == 0;
    }
    /// The number of the next one after so many attempts.
    [[nodiscard]] EDDY_HD constexpr std::int64_t next(std::int64_t attempts) const {
        return attempts < first ? first : first + ((attempts - first) / every + 1) * every;
    }
};
/// Those that are counted: each stands for so many.
inline constexpr std::int64_t attempts_per_look = 256;
inline constexpr LookSchedule counted_looks{96, attempts_per_look};
/// Those that may send a lane to the second method of an AutoSwitch, the counted ones among them.
/// A lane that is stiff from the start is sent with attempt 96, a quarter of what a stiff method takes for
/// it; looks take 3 % of the time of lanes that are not. Twice as many, three in a row, see as much.
inline constexpr LookSchedule switching_looks{32, 64};
/// So many in a row must see that stability bounds the steps, which it may do for a moment in any equation.
inline constexpr int looks_to_switch = 2;

namespace detail {

/// Weights w_i of the stages of a method.
template <int stages>
struct StageDifference {
    double weight[stages];
};

/// Polynomials of time up to this degree are what the state of stage i makes of their slopes.
template <int stages>
constexpr int stage_order(const ButcherTableau<stages>& tableau, int i) {
    int degree = 1;  // rows sum to c
    for (double power = tableau.c[i] * tableau.c[i];; power *= tableau.c[i], ++degree) {
        double sum = 0;
        for (int j = 0; j < i; ++j) {
            double slope = tableau.a[i][j];
            for (int k = 0; k < degree; ++k) slope *= tableau.c[j];
            sum += slope;
        }
        if (degree >= stages || !nearly_zero((degree + 1) * sum - power)) return degree;
    }
}

/// The difference that holds the stiffest mode, and no more of the solution than it must: that of the last
/// two stages of one time, or else the divided difference of as many of the last as have the order for it.
template <RungeKuttaMethod Method>
inline constexpr auto stage_difference = [] {
    constexpr int stages = Method::tableau.num_stages;
    constexpr auto& tableau = Method::tableau;
    StageDifference<stages> difference{};
    for (int last = stages - 1; last > 0; --last) {
        for (int i = last - 1; i >= 0; --i) {
            if (tableau.c[i] != tableau.c[last]) continue;
            difference.weight[last] = 1;
            difference.weight[i] = -1;
            return difference;
        }
    }
    const auto order = [&](int count) {  // of what is left of a solution
        int lowest = count - 1;
        for (int i = stages - count; i < stages; ++i)
            if (i > 0 && stage_order(tableau, i) + 1 < lowest) lowest = stage_order(tableau, i) + 1;
        return lowest;
    };
    int count = 2;
    for (int more = 3; more <= stages; ++more)
        if (order(more) > order(count)) count = more;
    for (int i = stages - count; i < stages; ++i) {
        double product = 1;
        for (int j = stages - count; j < stages; ++j)
            if (j != i) product *= tableau.c[i] - tableau.c[j];
        difference.weight[i] = 1 / product;
    }
    return difference;
}();

/// Of steps of an explicit Runge–Kutta method for `Field`: where stability bounds their size, for each place.
template <class Field, RungeKuttaMethod Method>
struct StiffnessTest {
    static constexpr int num_stages = Method::tableau.num_stages;
    static constexpr auto difference = stage_difference<Method>;

    /// `k` are the stages of the step of `in`.
    template <class Input, class State, int room>
    [[nodiscard]] EDDY_HD static auto holds(const Input& in, const State (&k)[room]) {
        using Real = std::remove_cvref_t<decltype(primal(k[0][0]))>;
        using Moved = Vec<Real, State::size()>;
        constexpr double square = 0.81 * stability_length<Method> * stability_length<Method>;
        Moved u;
        for_components<State::size()>([&](int i) {
            Real sum(0);
            static_for<0, num_stages>([&]<int j>() {
                constexpr double weight = difference.weight[j] / scale;
                if constexpr (weight != 0)
                    sum = mul_add(primal(k[j][i]), Real(static_cast<ScalarOf<Real>>(weight)), sum);
            });
            u[i] = primal(in.dt.h) * sum;
        });
        Moved v = u;
        for (int power = 0; power < 2; ++power) v = times_jacobian(in, k[0], v);
        return largest(v) > Real(static_cast<ScalarOf<Real>>(square)) * largest(u);
    }

  private:
    /// Differences of stages are as large as stages.
    static constexpr double scale = [] {
        double sum = 0;
        for (const double w : difference.weight) sum += w < 0 ? -w : w;
        return sum / 2;
    }();

    /// hJv, as the difference of f for a state off by v. `of_start` is f itself.
    template <class Input, class State, class Moved>
    [[nodiscard]] EDDY_HD static Moved times_jacobian(const Input& in, const State& of_start,
                                                      const Moved& v) {
        State y, f;
        for_components<State::size()>([&](int i) { y[i] = in.y[i] + v[i]; });
        OdeTerm<Field>::derivative(start_time_of(in.t), y, in.p, f);
        Moved product;
        for_components<State::size()>(
            [&](int i) { product[i] = primal(in.dt.h) * (primal(f[i]) - primal(of_start[i])); });
        return product;
    }
    template <class Moved>
    [[nodiscard]] EDDY_HD static auto largest(const Moved& v) {
        auto most = abs(v[0]);
        for_components<Moved::size() - 1>([&](int i) { most = max(most, abs(v[i + 1])); });
        return most;
    }
};

}  // namespace detail

/// A stepper that tells of a trial, for each place, whether stability has bounded its size.
template <class S>
concept TellsStiffness = requires {
    { S::tells_stiffness } -> std::convertible_to<bool>;
    requires S::tells_stiffness;
};

}  // namespace eddy::inline v0
