#pragma once
// Gradients of lanes of which one in sixteen takes several times as many steps, so that others begin where lanes have ended.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace support {

[[nodiscard]] constexpr bool is_long_lane(std::ptrdiff_t lane) { return lane % 16 == 3; }

/// Rounds of tiles of 64 lanes, each as long as its longest.
[[nodiscard]] std::int64_t rounds_without_refill(const auto& outcomes) {
    constexpr std::ptrdiff_t width = 64;
    std::int64_t rounds = 0;
    for (std::ptrdiff_t first = 0; first < outcomes.num_lanes(); first += width) {
        std::int64_t longest = 0;
        for (std::ptrdiff_t lane = first; lane < std::min(first + width, outcomes.num_lanes());
             ++lane)
            longest = std::max<std::int64_t>(
                longest, outcomes.stats(lane).accepted + outcomes.stats(lane).rejected);
        rounds += longest;
    }
    return rounds;
}

}  // namespace support
