#pragma once
// The arithmetic of binomial checkpointing: pure integer functions, no state, no memory, host and
// device.
//
// `slots` counts every stored state, the one at the start of the gap included; the working state is
// not a slot. A gap of `length` steps is reversed from its stored start with `slots` slots. With
// beta(s, r) = C(s + r, s) and r = repetition_number(length, s), the least number of untaped
// advances is t = r length - beta(s + 1, r - 1) (Griewank & Walther 2000, Algorithm 799,
// doi:10.1145/347837.347846).
//
// A loop must produce its last state before any cotangent exists, so its first sweep tapes nothing.
// That is the classical problem for length + 1 steps whose last step is the loss; hence E*(n, c) =
// t(n + 1, c) - n. Everything is int64, for arguments >= 0, and saturates at `unbounded` instead of
// overflowing.
// Test: tests/checkpoint/schedule.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <limits>

namespace eddy::inline v0::schedule {

/// Where the integer functions saturate; as a step: never.
inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// a + b, at most `unbounded`; a, b >= 0.
[[nodiscard]] EDDY_HD constexpr std::int64_t add(std::int64_t a, std::int64_t b) {
    return a > unbounded - b ? unbounded : a + b;
}

/// a * b, at most `unbounded`; a, b >= 0.
[[nodiscard]] EDDY_HD constexpr std::int64_t multiply(std::int64_t a, std::int64_t b) {
    return a != 0 && b > unbounded / a ? unbounded : a * b;
}

/// The binomial coefficient C(s + r, s): the steps that s slots reverse with no step advanced more
/// than r times. Zero for r < 0 or s < 0.
[[nodiscard]] EDDY_HD constexpr std::int64_t beta(std::int64_t s, std::int64_t r) {
    if (s < 0 || r < 0) return 0;
    const std::int64_t few = s < r ? s : r;
    const std::int64_t many = s < r ? r : s;
    if (few == 0) return 1;
    if (few == 1) return add(many, 1);
    // The loop hits these cases over and over: no division by a variable.
    if (many < 30'000) {
        if (few == 2) return (many + 1) * (many + 2) / 2;
        if (few == 3) return (many + 1) * (many + 2) * (many + 3) / 6;
        if (few == 4) return (many + 1) * (many + 2) * (many + 3) * (many + 4) / 24;
    }
    std::int64_t result = 1;
    for (std::int64_t i = 1; i <= few; ++i) {
        // result (many + i) / i is an integer, computed so that no intermediate exceeds it.
        const std::int64_t whole = multiply(result / i, add(many, i));
        const std::int64_t rest = multiply(result % i, add(many, i)) / i;
        result = add(whole, rest);
        if (result == unbounded) return unbounded;
    }
    return result;
}

/// The least r with length <= beta(slots, r): how often some step of the gap must be advanced at
/// best. slots >= 1.
[[nodiscard]] EDDY_HD constexpr std::int64_t repetition_number(std::int64_t length,
                                                               std::int64_t slots) {
    if (length <= 1) return 0;
    if (slots == 1) return length - 1;
    std::int64_t above = 1;
    while (beta(slots, above) < length) above *= 2;
    std::int64_t below = above / 2;  // invariant: beta(slots, below) < length <= beta(slots, above)
    while (above - below > 1) {
        const std::int64_t middle = below + (above - below) / 2;
        (beta(slots, middle) < length ? below : above) = middle;
    }
    return above;
}

/// t(length, slots): the least number of untaped advances that reverse a gap whose start is stored.
/// slots >= 1.
[[nodiscard]] EDDY_HD constexpr std::int64_t untaped_advances(std::int64_t length,
                                                              std::int64_t slots) {
    const std::int64_t r = repetition_number(length, slots);
    if (r == 0) return 0;
    if (slots == 1) {
        return length % 2 == 0 ? multiply(length / 2, length - 1) : multiply(length, length / 2);
    }
    const std::int64_t all = multiply(r, length);
    return all == unbounded ? unbounded : all - beta(slots + 1, r - 1);
}

/// E*(length, checkpoints): the least number of steps advanced again when a loop of known length is
/// reversed after an untaped first sweep; sum of r over the cheapest steps, which is t(length + 1,
/// checkpoints) - length.
[[nodiscard]] EDDY_HD constexpr std::int64_t optimal_recomputations(std::int64_t length,
                                                                    std::int64_t checkpoints) {
    if (length <= 1) return 0;
    const std::int64_t all = untaped_advances(add(length, 1), checkpoints);
    return all == unbounded ? unbounded : all - length;
}

/// 2 length + E*: every step once forward and once taped, and what must be advanced again.
[[nodiscard]] EDDY_HD constexpr std::int64_t optimal_evaluations(std::int64_t length,
                                                                 std::int64_t checkpoints) {
    return add(multiply(2, length), optimal_recomputations(length, checkpoints));
}

/// How far after the start of the gap its next checkpoint belongs; 0: none. The largest optimal
/// distance, hence the fewest stores: then t(length, slots) = m + t(length - m, slots - 1) + t(m,
/// slots).
[[nodiscard]] EDDY_HD constexpr std::int64_t split(std::int64_t length, std::int64_t slots) {
    if (length <= 2 || slots <= 1) return 0;
    if (length <= slots + 1) return 1;  // everything fits
    const std::int64_t r = repetition_number(length, slots);
    const std::int64_t widest = beta(slots, r - 1);
    const std::int64_t rest = length - beta(slots - 1, r - 1);
    return widest < rest ? widest : rest;
}

/// Where a forward sweep of known length stores next after `step`, with `free_slots` left;
/// `unbounded`: nowhere. The layout is optimal for the loop: its gaps cost E*(length, checkpoints)
/// together.
[[nodiscard]] EDDY_HD constexpr std::int64_t next_offline_checkpoint(std::int64_t step,
                                                                     std::int64_t length,
                                                                     std::int64_t free_slots) {
    const std::int64_t distance = split(add(length, 1) - step, free_slots + 1);
    return distance == 0 ? unbounded : step + distance;
}

/// Writes the steps that an optimal forward sweep stores, step 0 first, and returns how many (<=
/// checkpoints).
EDDY_HD constexpr std::int64_t offline_layout(std::int64_t length, std::int64_t checkpoints,
                                              std::int64_t* positions) {
    std::int64_t count = 0;
    for (std::int64_t step = 0; step < length && count < checkpoints;) {
        positions[count++] = step;
        step = next_offline_checkpoint(step, length, checkpoints - count);
    }
    return count;
}

}  // namespace eddy::inline v0::schedule
