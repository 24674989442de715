#pragma once
// A 64-bit checksum of a stream of bytes, fast enough to disappear behind a disk: eight independent
// lanes of lane = rotate(lane ^ word) * odd. Each step is a bijection of the lane, and the lanes
// are combined by bijections of each, so that a change confined to one aligned 64-bit word always
// changes the sum.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace eddy::inline v0::detail {

class Checksum {
  public:
    static constexpr std::size_t block = 64;  // bytes; only the last piece may be no multiple of it

    void update(std::span<const std::byte> bytes) {
        std::array<std::uint64_t, 8> lanes = lanes_;  // in registers
        std::size_t at = 0;
        for (; at + block <= bytes.size(); at += block) mix(lanes, bytes.data() + at);
        if (at < bytes.size()) {
            std::byte rest[block] = {};
            std::memcpy(rest, bytes.data() + at, bytes.size() - at);
            mix(lanes, rest);
        }
        lanes_ = lanes;
    }

    /// The sum, with `seeds` mixed in: the length belongs to them, for the last piece is filled up
    /// with zeros.
    [[nodiscard]] std::uint64_t finish(std::span<const std::uint64_t> seeds) const {
        std::uint64_t sum = 0;
        for (std::uint64_t lane : lanes_) sum = step(sum, lane);
        for (std::uint64_t seed : seeds) sum = step(sum, seed);
        return sum ^ (sum >> 32);
    }

  private:
    static std::uint64_t step(std::uint64_t lane, std::uint64_t word) {
        return std::rotl(lane ^ word, 29) * 0x9E3779B97F4A7C15u;
    }

    static void mix(std::array<std::uint64_t, 8>& lanes, const std::byte* bytes) {
        std::uint64_t words[8];
        std::memcpy(words, bytes, block);
        for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] = step(lanes[lane], words[lane]);
    }

    std::array<std::uint64_t, 8> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace eddy::inline v0::detail
