#pragma once
// The points at which derivatives are tested.

#include <cstdint>

namespace support {

struct Interval {
    double low, high;
};

/// Pseudo-random numbers in [0, 1) (Knuth's MMIX generator), exact in float.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state_ >> 40) * 0x1p-24;
    }
    double operator()(Interval in) {
        return static_cast<float>(in.low + (in.high - in.low) * (*this)());
    }

  private:
    std::uint64_t state_;
};

}  // namespace support
