#pragma once
// An engine of random numbers whose sequence is a pure function of a key and a step, for steps that
// are computed again: whoever makes the engine anew for a step draws the same numbers as before.
// Test: tests/checkpoint/random_steps.cpp

#include <cstdint>
#include <eddy/core/random/philox.hpp>
#include <limits>
#include <tuple>

namespace eddy::inline v0 {

/// A std::uniform_random_bit_generator for one step: 2⁶⁶ words of 32 bits, which depend on the key, the
/// step and nothing else. Sequences of different steps or keys do not overlap. A copy continues where
/// its original stands, so an engine may also be a part of a loop's state.
class CounterRng {
  public:
    using result_type = std::uint32_t;

    constexpr CounterRng(std::uint64_t key, std::uint64_t step) : key_(key), step_(step) {}

    /// The least word.
    [[nodiscard]] static constexpr result_type min() { return 0; }
    /// The largest word.
    [[nodiscard]] static constexpr result_type max() {
        return std::numeric_limits<result_type>::max();
    }
    /// The next word.
    constexpr result_type operator()() {
        const auto [w0, w1, w2, w3] = words().w;
        const result_type four[] = {w0, w1, w2, w3};
        const result_type word = four[used_];
        used_ = (used_ + 1) % 4;
        block_ += used_ == 0 ? 1 : 0;
        return word;
    }
    /// A number in [0, 1), from two words: a multiple of 2⁻⁵³.
    [[nodiscard]] constexpr double uniform() {
        const std::uint64_t high = (*this)() >> 5, low = (*this)() >> 6;
        return static_cast<double>(high * 67108864u + low) * 0x1p-53;
    }
    friend constexpr bool operator==(const CounterRng&, const CounterRng&) = default;

  private:
    [[nodiscard]] constexpr PhiloxWords<std::uint32_t> words() const {
        const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
        return philox(PhiloxWords<std::uint32_t>{{low(block_), low(block_ >> 32), low(step_),
                                                  low(step_ >> 32)}},
                      PhiloxKey(key_));
    }

    std::uint64_t key_, step_, block_ = 0;
    std::uint32_t used_ = 0;

  public:
    /// What the engine is made of, for hashes of loop states.
    static constexpr auto members =
        std::tuple(&CounterRng::key_, &CounterRng::step_, &CounterRng::block_, &CounterRng::used_);
};

/// The engine of a step: `counter_rng(key, step)` draws the same numbers whenever it is made.
[[nodiscard]] constexpr CounterRng counter_rng(std::uint64_t key, std::int64_t step) {
    return {key, static_cast<std::uint64_t>(step)};
}

}  // namespace eddy::inline v0
