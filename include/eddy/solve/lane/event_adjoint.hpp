#pragma once
// The way back through events. The step from (t, y) that ends with one has the size h for which
//
//   g(t + h, Φ(t, y, h, p), p) = 0:    dh = −(∂g/∂(t, y, p) at fixed h) / (g_t + g_y Φ_h),
//
// the derivative of the numbers that were computed: Φ is the method's step, Φ_h its own derivative by its size,
// which is f at the event up to the order of the method. What comes after the event begins at t + h: the
// cotangent T of that time, which the rounds behind it have gathered, is one of h, as is that which the state
// brings. So h is cleared by λ = −(T + ȳ Φ_h) / (g_t + g_y Φ_h), and λ g joins whatever the step is pulled
// back with. Φ_h takes the step's pullback twice more; events are rare.

#include <eddy/solve/lane/lane_state.hpp>

namespace eddy::inline v0::detail {

/// The cotangents of parameters where nobody wants them.
struct Unwanted {
    template <class Number>
    [[gnu::always_inline]] EDDY_HD void add(int, const Number&) const {}
};

template <class Spec>
struct EventAdjoint {
    using Functions = EventFunctions<typename Spec::Field>;
    using Number = typename Spec::Number;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Mask = MaskOf<typename Spec::Primal>;

    /// A step that ended with events in the places that `meets`, before any of them.
    struct Met {
        const Mask& meets;
        const State& y;
    };
    /// What is gathered on the way back.
    struct Cotangents {
        State& y;                                 // of the state at the end of the step
        Vec<Number, Spec::parameter_room>& sums;  // of the parameters
        Number& t;  // of the time from which the steps behind it go on
    };

    /// Of the state before the jumps from that after them.
    template <class Input>
    EDDY_HD static void pull_jump(const Input& in, const Met& met, const Cotangents& cotangents) {
        State before{};
        const Number of_t = Functions::pull_jump(in.t.last, met.y, in.p, cotangents.y, before,
                                                 [&](int i, const Number& of_p) {
                                                     Number& sum = cotangents.sums[i];
                                                     sum = select(met.meets, sum + of_p, sum);
                                                 });
        for_components<Spec::state_size>(
            [&](int i) { cotangents.y[i] = select(met.meets, before[i], cotangents.y[i]); });
        cotangents.t = select(met.meets, cotangents.t + of_t, cotangents.t);
    }

    /// Adds λ g to the cotangents, with which the step is to be pulled back: that of its size is then zero,
    /// but for rounding. `of_times` is what save points within the step have brought.
    template <class Input, class Linearization, class Dense, class Times>
    EDDY_HD static void clear_size(const Input& in, const Linearization& of_step,
                                   const Dense& of_dense, const Met& met, Times& of_times,
                                   const Cotangents& cotangents) {
        State by_y{};
        Vec<Number, Spec::parameter_room> by_p{};
        const Number by_t = Functions::derivatives(
            in.t.last, met.y, in.p, by_y, [&](int i, const Number& value) { by_p[i] = value; });
        Times of_state = of_times, of_root{convert<Number>(0), convert<Number>(0)};
        Unwanted unwanted;
        static_cast<void>(Stepper::pull(in, of_step, cotangents.y, of_dense, unwanted, of_state));
        static_cast<void>(Stepper::pull(in, of_step, by_y, Dense{}, unwanted, of_root));
        const Number of_size = cotangents.t + of_state.dt;
        const Number lambda = select(met.meets & (of_size != convert<Number>(0)),
                                     -of_size / (by_t + of_root.dt), convert<Number>(0));
        for_components<Spec::state_size>([&](int i) {
            cotangents.y[i] =
                select(met.meets, cotangents.y[i] + lambda * by_y[i], cotangents.y[i]);
        });
        for_components<Spec::parameter_size>([&](int i) {
            cotangents.sums[i] =
                select(met.meets, cotangents.sums[i] + lambda * by_p[i], cotangents.sums[i]);
        });
        cotangents.t = select(met.meets, cotangents.t + lambda * by_t, cotangents.t);
        of_times.dt = select(met.meets, of_times.dt + cotangents.t, of_times.dt);
    }
};

}  // namespace eddy::inline v0::detail
