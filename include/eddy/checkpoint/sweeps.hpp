#pragma once
// The two sweeps of a checkpointed loop, on host and device, over whatever body, stack and stores.
//
// Forward, the state advances and what the placement asks for is kept. Back, take the latest
// checkpoint v and the step g after the last one not yet reversed: if v is that step, it is pulled
// back and its slot is free; else the state is advanced again from v, leaving checkpoints at the
// binomial distances of schedule.hpp, up to step g - 1. Invariants: slot of x_0 is never evicted;
// checkpoints are ordered by step; none is after g.
//
// A body offers goes_on(x, step) and advance(x, step) forward; back, keeps_going(), which may end the
// sweep, again(x, step), the same advance once more, pull(x, step, cotangent), and recycle(x), which
// takes what is no longer needed; and write(slot, step, x), read(entry), which gives what `again` takes
// for x, will_read(entry), discard(slot). `Stores` gives next_piece(), the next stores in order, none
// where there are no more; and split(length, free_slots), see placement.hpp.
// Test: tests/checkpoint/checkpointed_loop.cpp

#include <cstdint>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <utility>

namespace eddy::inline v0 {

/// What a loop did since `run` began.
struct LoopCounters {
    std::int64_t advances = 0;    // every call of advance
    std::int64_t recomputed = 0;  // those made in reverse
    std::int64_t pullbacks = 0;   // one per step
    std::int64_t stores = 0;      // states written into slots
    std::int64_t loads = 0;       // states read from slots
    std::int64_t peak_checkpoints = 0;
    std::int64_t peak_bytes = 0;  // of what is stored, all states as large as the first

    friend bool operator==(const LoopCounters&, const LoopCounters&) = default;
};

namespace detail {

/// Advances x_0 as long as the body goes on, and returns the number of steps; `state` is then the
/// last one. The state of the loop is a local variable, so that a small one stays in registers.
EDDY_HD_AS_ARGUMENT
template <class Body, class State, class Stores, class Stack>
EDDY_HD std::int64_t sweep_forward(Body& body, State& state, Stores& stores, Stack& stack,
                                   LoopCounters& counters) {
    State x = std::move(state);
    std::int64_t step = 0, num_stores = 0;  // not in the counters, which have an address
    bool goes_on = true;
    while (goes_on) {
        const auto piece = stores.next_piece();
        auto next = piece.begin();
        bool is_last = false;
        std::int64_t step_to_store = next != piece.end() ? next->step : -1;
        for (; (goes_on = body.goes_on(std::as_const(x), step)); ++step) {
            if (step == step_to_store) {
                const std::int64_t slot = next->slot;
                stack.place(slot, step);
                body.write(slot, step, std::as_const(x));
                ++num_stores;
                ++next;
                is_last = !(next != piece.end());
                if (!is_last) step_to_store = next->step;
            }
            body.advance(x, step);
            if (is_last) {
                ++step;
                break;
            }
        }
    }
    counters.advances = step;
    counters.stores += num_stores;
    counters.peak_checkpoints =
        max(counters.peak_checkpoints, stack.size());  // it never shrinks here
    state = std::move(x);
    return step;
}

/// Takes x from a checkpoint at `step` up to step end - 1, leaving checkpoints on the way. False where
/// the body would not go on.
EDDY_HD_AS_ARGUMENT
template <class Body, class State, class Stores, class Stack>
EDDY_HD bool advance_behind(Body& body, State& x, std::int64_t step, std::int64_t end,
                            const Stores& stores, Stack& stack, LoopCounters& counters) {
    for (;;) {  // step has a checkpoint
        const std::int64_t distance = stores.split(end - step, stack.num_free());
        const bool arrives = distance == 0;
        const std::int64_t target = arrives ? end - 1 : step + distance;
        counters.advances += target - step;
        counters.recomputed += target - step;
        for (; step < target; ++step) {
            if (!body.keeps_going()) {
                counters.advances -= target - step;
                counters.recomputed -= target - step;
                return false;
            }
            body.again(x, step);
        }
        if (arrives) return true;
        const std::int64_t slot = stack.push(step);
        body.write(slot, step, std::as_const(x));
        ++counters.stores;
        counters.peak_checkpoints = max(counters.peak_checkpoints, stack.size());
    }
}

/// Pulls the cotangent of the last state back through `steps` steps to one of x_0. False where the
/// body would not go on.
EDDY_HD_AS_ARGUMENT
template <class Body, class Cotangent, class Stores, class Stack>
EDDY_HD bool sweep_back(Body& body, Cotangent& cotangent, std::int64_t steps, const Stores& stores,
                        Stack& stack, LoopCounters& counters) {
    stack.collect_free();
    if (stack.size() > 1) body.will_read(stack.below_top());  // when everything above it is done
    std::int64_t end = steps;  // counts follow from it: nothing is added up in the loop
    for (; end > 0; --end) {
        if (!body.keeps_going()) break;
        const auto top = stack.top();
        const bool is_next = top.step == end - 1;
        auto x = body.read(top);
        if (!is_next && !advance_behind(body, x, top.step, end, stores, stack, counters)) {
            ++counters.loads;
            break;
        }
        // The stack is done with before the pullback, which then has nothing of it to keep; the store
        // after it: x may lie there.
        if (is_next) stack.pop();
        const bool has_hint = is_next && stack.size() > 1;
        const auto hint = has_hint ? stack.below_top() : top;
        body.pull(std::as_const(x), end - 1, cotangent);
        body.recycle(std::move(x));
        if (is_next) body.discard(top.slot);
        if (has_hint) body.will_read(hint);
    }
    counters.loads += steps - end;
    counters.pullbacks += steps - end;
    return end == 0;
}

}  // namespace detail

}  // namespace eddy::inline v0
