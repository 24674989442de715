#pragma once
// One pack of a group on its way forward: its slots, who sits in them, and when something other
// than a step happens next.

#include <eddy/solve/seating.hpp>
#include <eddy/solve/slot_stepper.hpp>

namespace eddy::detail {

template <class Program>
struct PackLanes {
    using Time = typename Program::Time;
    using State = typename Program::State;
    using LaneState = typename Program::LaneState;
    using Slots = SlotStepper<Program>;
    static constexpr int pack_slots = Program::pack_slots;

    Slots slots;
    Seat seats[pack_slots];
    std::int64_t first_row[pack_slots] = {};
    MaskOf<Time> occupied = MaskOf<Time>(false);
    Time event{};                    // (slot) the progress at which something happens
    Time rejected{};                 // (slot) attempts of the lane that were rejected
    std::int64_t next_check = 0;     // a row
    std::int64_t uniform_until = 0;  // rows before it are far from any event

    void begin(const LaneInputs<Program>& inputs) {
        slots.begin(inputs);
        for (Seat& seat : seats) seat = {};
        occupied = MaskOf<Time>(false);
        rejected = Time(0);
    }
    /// Has some lane a state that is not finite?
    [[nodiscard, gnu::always_inline]] bool is_broken(const State& y) const {
        return any(occupied & (Slots::finiteness(y) != Time(0)));
    }
    /// t of a slot whose progress is s.
    [[nodiscard]] double time_of(const Time& s, int slot) const { return slots.time_of(s, slot); }
};

/// The state in one slot.
template <class Program>
[[nodiscard]] typename Program::LaneState state_of(const typename Program::State& y, int slot) {
    typename Program::LaneState state{};
    for (int i = 0; i < Program::state_size; ++i) state[i] = get_lane(y[i], slot);
    return state;
}

}  // namespace eddy::detail
