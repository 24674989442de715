#pragma once
// The points at which derivatives are tested.

#include <cmath>
#include <cstdint>

namespace support {

struct Interval {
    double low, high;
};

/// Pseudo-random numbers (Knuth's MMIX generator) of few bits, exact in float.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state_ >> 40) * 0x1p-24;
    }
    double operator()(Interval in) {
        // Not by a conversion to float: g++ 12 at -O3 loses one in a vectorised loop.
        return std::floor((in.low + (in.high - in.low) * (*this)()) * 0x1p16) * 0x1p-16;
    }

  private:
    std::uint64_t state_;
};

}  // namespace support
