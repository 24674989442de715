#pragma once
// f(y, p) = 0 as the start of a solve that ends where it begins: found by pseudo_transient.hpp from the
// state that is given, with the derivatives of every consistent start (consistent_start.hpp), which are
// those of the implicit function, whichever way led there.
// Test: tests/solve/steady_state.cpp

#include <eddy/steppers/pseudo_transient.hpp>

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
