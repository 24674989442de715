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
// Test: tests/solve/event_gradients.cpp

#include <eddy/solve/lane/event_replay.hpp>

namespace eddy::inline v0::detail {

/// The cotangents of parameters where nobody wants them.
struct Unwanted {
    template <class Number>
    EDDY_INLINE EDDY_HD void add(int, const Number&) const {}
};

template <class Spec>
struct EventAdjoint {
    using Functions = EventFunctions<typename Spec::Field>;
    using Number = typename Spec::Number;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Mask = MaskOf<typename Spec::Primal>;

    /// A round that ended with events in the places of `meets`: which, of several, and the memory with
    /// which it began.
    struct Met {
        const MaskOf<typename Spec::Time>& meets;
        const KeptIf<Spec::has_several_events, typename Spec::Time>& event;
        const typename Spec::Memory& memory;
    };
    /// What is gathered on the way back.
    struct Cotangents {
        State& y;                                 // of the state at the end of the step
        Vec<Number, Spec::parameter_room>& sums;  // of the parameters
        Number& t;  // of the time from which the steps behind it go on
    };

    /// Turns the cotangents of the states after the jumps into those of the states before them.
    template <class Input>
    EDDY_HD static void pull_jumps(const Input& in, const Met& met, const Cotangents& cotangents) {
        if (!any(met.meets)) return;
        const State y = Stepper::step(in, met.memory);
        for_events<Spec>(met.meets, met.event, [&]<int i>(const Mask& places) {
            if constexpr (!Functions::template is_terminal<i>)
                pull_jump<i>(in, places, y, cotangents);
        });
    }
    /// Adds λ g to the cotangents, with which the step is to be pulled back: that of its size is then zero,
    /// but for rounding. `of_times` is what save points within the step have brought.
    template <class Input, class Linearization, class Dense, class Times>
    EDDY_HD static void clear_sizes(const Input& in, const Linearization& of_step,
                                    const Dense& of_dense, const Met& met, Times& of_times,
                                    const Cotangents& cotangents) {
        if (!any(met.meets)) return;
        const State y = Stepper::step(in, met.memory);
        Times of_state = of_times;
        Unwanted unwanted;
        static_cast<void>(Stepper::pull(in, of_step, cotangents.y, of_dense, unwanted, of_state));
        const Number of_size = cotangents.t + of_state.dt;
        for_events<Spec>(met.meets, met.event, [&]<int i>(const Mask& places) {
            add_root<i, Dense>(in, of_step, {places, y, of_size}, cotangents);
        });
        const auto meets = places_of<typename Spec::Primal, typename Spec::Time>(met.meets);
        of_times.dt = select(meets, of_times.dt + cotangents.t, of_times.dt);
    }

  private:
    template <int i, class Input>
    EDDY_HD static void pull_jump(const Input& in, const Mask& places, const State& y,
                                  const Cotangents& cotangents) {
        State before{};
        const Number of_t = Functions::template pull_jump<i>(
            in.t.last, y, in.p, cotangents.y, before, [&](int k, const Number& of_p) {
                Number& sum = cotangents.sums[k];
                sum = select(places, sum + of_p, sum);
            });
        move_where(places, before, cotangents.y);
        cotangents.t = select(places, cotangents.t + of_t, cotangents.t);
    }

    /// Places that have met an event, the state there, and the cotangent of the step's size.
    struct Root {
        const Mask& places;
        const State& y;
        const Number& of_size;
    };
    template <int i, class Dense, class Input, class Linearization>
    EDDY_HD static void add_root(const Input& in, const Linearization& of_step, const Root& root,
                                 const Cotangents& cotangents) {
        State by_y{};
        Vec<Number, Spec::parameter_room> by_p{};
        const Number by_t = Functions::template derivatives<i>(
            in.t.last, root.y, in.p, by_y, [&](int k, const Number& value) { by_p[k] = value; });
        auto of_root = TimeCotangents<Number>::zero();
        Unwanted unwanted;
        static_cast<void>(Stepper::pull(in, of_step, by_y, Dense{}, unwanted, of_root));
        Mask has_any = root.of_size != convert<Number>(0);
        has_any = has_any | (tangent_or_zero(root.of_size) != typename Spec::Primal(0));
        has_any = has_any & root.places;
        const Number factor = -root.of_size / (by_t + of_root.dt);
        // Without a slope there is none: what is infinite becomes no number.
        const Number lambda = select(has_any, factor + (factor - factor), convert<Number>(0));
        for_components<Spec::state_size>([&](int k) {
            cotangents.y[k] =
                select(root.places, cotangents.y[k] + lambda * by_y[k], cotangents.y[k]);
        });
        for_components<Spec::parameter_size>([&](int k) {
            cotangents.sums[k] =
                select(root.places, cotangents.sums[k] + lambda * by_p[k], cotangents.sums[k]);
        });
        cotangents.t = select(root.places, cotangents.t + lambda * by_t, cotangents.t);
    }
};

}  // namespace eddy::inline v0::detail
