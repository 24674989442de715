#pragma once
// Random numbers for property-based tests: the same on every machine, also at compile time.
// SplitMix64: Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195.

#include <cstdint>
#include <iterator>

namespace support {

class Random {
  public:
    explicit constexpr Random(std::uint64_t seed) : state_(seed) { (void)bits(); }

    constexpr std::uint64_t bits() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    /// An integer in [0, bound).
    constexpr int below(int bound) {
        return static_cast<int>(bits() % static_cast<std::uint64_t>(bound));
    }
    constexpr bool one_in(int count) { return below(count) == 0; }
    /// A number in [low, high).
    constexpr double uniform(double low, double high) {
        return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
    }
    template <class Items>
    constexpr const auto& pick(const Items& items) {
        return *(std::begin(items) + below(static_cast<int>(std::size(items))));
    }

  private:
    std::uint64_t state_;
};

}  // namespace support
