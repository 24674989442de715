#pragma once
// What impulses make of the state of a lane, and their adjoint. All that it reads of the state is what scaling
// ones find: that is kept on the way forward.
// Test: tests/solve/impulses.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/solve/lane/times.hpp>

namespace eddy::inline v0::detail {

/// What an impulse makes of the number that it is for; keep(number) is told of one that it scales, as it was.
template <class Number, class Keep>
EDDY_HD void meet_impulse(const PlannedImpulse& impulse, const Number& amount, Number& number,
                          const Keep& keep) {
    if (impulse.kind == Impulse::scale) {
        keep(number);
        number = number * amount;
    } else {
        number = impulse.kind == Impulse::add ? number + amount : amount;
    }
}
/// Turns the cotangent of that number into the one before the impulse; kept() is what keep was told, and add(value)
/// takes what belongs to the amount.
template <class Number, class Kept, class Add>
EDDY_HD void pull_impulse(const PlannedImpulse& impulse, const Number& amount, Number& cotangent,
                          const Kept& kept, const Add& add) {
    add(impulse.kind == Impulse::scale ? cotangent * kept() : cotangent);
    if (impulse.kind == Impulse::scale) cotangent = cotangent * amount;
    if (impulse.kind == Impulse::replace) cotangent = Number(0);
}

/// `Times` are LaneTimes or LaneImpulses.
template <class Spec>
struct MeetImpulses {
    using Lane = typename Spec::Lane;
    using State = typename Spec::LaneState;

    /// Changes a state; keep(k, y) is told of the component that impulse k scales, as it was.
    template <class Times, class Keep>
    EDDY_HD static void apply(const Times& times, const ImpulseRange& range, State& y,
                              const Keep& keep) {
        for (std::int32_t k = range.first; k < range.end; ++k) {
            const PlannedImpulse& impulse = times.impulses[k];
            const Lane amount = amount_of(impulse);
            with_component(y, impulse, [&](Lane& number) {
                meet_impulse(impulse, amount, number, [&](const Lane& found) { keep(k, found); });
            });
        }
    }
    /// Turns the cotangent of the state after impulses into that before them; kept(k) is what keep was told, and
    /// add(k, value) takes what belongs to an amount.
    template <class Times, class Kept, class Add>
    EDDY_HD static void pull(const Times& times, const ImpulseRange& range, State& cotangent,
                             const Kept& kept, const Add& add) {
        for (std::int32_t k = range.end; k-- > range.first;) {
            const PlannedImpulse& impulse = times.impulses[k];
            with_component(cotangent, impulse, [&](Lane& number) {
                pull_impulse(
                    impulse, amount_of(impulse), number, [&] { return kept(k); },
                    [&](const Lane& value) { add(k, value); });
            });
        }
    }

  private:
    [[nodiscard]] EDDY_HD static Lane amount_of(const PlannedImpulse& impulse) {
        return Lane(static_cast<typename Spec::Scalar>(impulse.amount));
    }
    /// Where it is found by an index that only a run knows, a state would not stay in registers.
    template <class Use>
    EDDY_HD static void with_component(State& y, const PlannedImpulse& impulse, const Use& use) {
        for_components<Spec::state_size>([&](int i) {
            if (i == impulse.component) use(y[i]);
        });
    }
};

}  // namespace eddy::inline v0::detail
