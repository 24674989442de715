#pragma once
// Where an event lies depends on what the tangents of a lane are of, and with it when the steps behind it
// begin: t has a tangent there (`clock`), the size of a step that lands on a tstop has that with the other
// sign, and that of a step to an event is a root, of
//
//   g(t + h, Φ(t, y, h, p), p) = 0:    ḣ = −ġ / (g_t + g_y Φ_h),    ġ along the tangents of t, y and p.
//
// Times and sizes are then dual numbers to the method, which differentiates its step with respect to them
// as to all else; all other sizes are data. Φ_h is the step's tangent along h alone.
// Test: tests/solve/event_tangents.cpp

#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/event_replay.hpp>
#include <eddy/solve/lane/times.hpp>
#include <eddy/steppers/dual_parts.hpp>
#include <eddy/steppers/stepper.hpp>

namespace eddy::inline v0::detail {

/// The times of a step's stages, with tangents of its start and of its size.
template <class Time, class Number>
struct MovingStageTimes {
    using Primal = PrimalOf<Number>;

    StageTimes<Time> times;
    Primal by_start, by_size;
    Number first, last;

    EDDY_INLINE EDDY_HD MovingStageTimes(const StageTimes<Time>& of_values, const Primal& of_start,
                                         const Primal& of_size)
        : times(of_values),
          by_start(of_start),
          by_size(of_size),
          first(convert<Primal>(of_values.first), of_start),
          last(convert<Primal>(of_values.last), of_start + of_size) {}

    [[nodiscard]] EDDY_INLINE EDDY_HD const StageTimes<Time>& without_tangents() const {
        return times;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD Number at_fraction(double c) const {
        return {convert<Primal>(times.at_fraction(c)),
                by_start + Primal(static_cast<ScalarOf<Number>>(c)) * by_size};
    }
};

/// A step, of times without tangents, whose times get them.
template <class Input, class Number>
struct MovingStep {
    using Primal = PrimalOf<Number>;
    const Input& in;

    template <class Use>
    EDDY_HD decltype(auto) along(const Primal& of_start, const Primal& of_size, Use&& use) const {
        return with(in.y, in.p, of_start, of_size, use);
    }
    /// Uses the input of a step that moves along its size only.
    template <class Use>
    EDDY_HD decltype(auto) along_size(Use&& use) const {
        auto y = in.y;
        for (int i = 0; i < y.size(); ++i) y[i] = Number(primal(in.y[i]));
        const ValuesOfParameters<std::remove_cvref_t<decltype(in.p)>> p{in.p};
        return with(y, p, Primal(0), Primal(1), use);
    }

  private:
    template <class State, class Parameters, class Use>
    EDDY_HD decltype(auto) with(const State& y, const Parameters& p, const Primal& of_start,
                                const Primal& of_size, Use&& use) const {
        using Time = std::remove_cvref_t<decltype(in.t.first)>;
        const StepSize<Time, Number> dt{in.dt.dt, Number(in.dt.h, of_size)};
        return use(StepInput{MovingStageTimes<Time, Number>(in.t, of_start, of_size), y, p, dt,
                             in.path, in.tolerances});
    }
};

/// The tangent of the size of a step to the i-th event, from the memory with which it begins; what does not
/// depend on what the tangents are of does not move, whatever the slope.
template <class Spec, int i, class Input>
[[nodiscard]] EDDY_HD typename Spec::Primal tangent_of_root(const Input& in,
                                                            const typename Spec::Memory& memory,
                                                            const typename Spec::Primal& of_start) {
    using Number = typename Spec::Number;
    using Primal = typename Spec::Primal;
    const auto value_of = [&](const auto& moving) -> Number {
        const auto y = Spec::Stepper::step(moving, memory);
        return EventFunctions<typename Spec::Field>::template value<i, Number>(moving.t.last, y,
                                                                               moving.p);
    };
    const MovingStep<Input, Number> step{in};
    const Primal still = step.along(of_start, Primal(0), value_of).tangent;
    const Primal slope = step.along_size(value_of).tangent;
    return select(still == Primal(0), Primal(0), -still / slope);
}

/// The time at which a step ends, with its tangent, if it has one.
template <class Spec>
[[nodiscard]] EDDY_HD double time_after(const ChainState<Spec>&, const NoClock&, double t, int) {
    return t;
}
template <class Spec>
[[nodiscard]] EDDY_HD auto time_after(const ChainState<Spec>& before,
                                      const typename Spec::Primal& by, double t, int place) {
    return typename Spec::Lane(static_cast<typename Spec::Scalar>(t),
                               get_lane(before.events.clock, place) + get_lane(by, place));
}

/// A save point at `fraction` of a step stays where it is when the step moves.
template <class Spec>
requires(!Spec::moves_times) [[nodiscard]] EDDY_INLINE EDDY_HD
    inline auto moving_fraction(const auto& /*in*/, const typename Spec::Primal& fraction) {
    return fraction;
}
template <class Spec>
requires Spec::moves_times [[nodiscard]] EDDY_INLINE EDDY_HD inline auto moving_fraction(
    const auto& in, const typename Spec::Primal& fraction) {
    return typename Spec::Number(fraction,
                                 -(in.t.by_start + fraction * in.t.by_size) / primal(in.dt.h));
}

}  // namespace eddy::inline v0::detail
