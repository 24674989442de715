#pragma once
// Sums over lanes in one fixed shape, whatever the backend, its threads and its groups: blocks of 64
// lanes, each in the order of its lanes, and then pairs of blocks, pairs of pairs and so on. Blocks
// may be summed anywhere and in any order; the shape depends on the number of lanes alone. Pairs
// also keep the rounding errors of many lanes small (Higham 2002, Accuracy and Stability of
// Numerical Algorithms, 4.2). Invariant: a lane that is left out counts as zero.
// Test: tests/solve/lane_sums.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>

namespace eddy::inline v0::detail {

inline constexpr std::ptrdiff_t lanes_per_block = 64;

[[nodiscard]] EDDY_HD constexpr std::ptrdiff_t num_blocks(std::ptrdiff_t num_lanes) {
    return (num_lanes + lanes_per_block - 1) / lanes_per_block;
}

/// The rows in which sums over lanes [first, first + num_lanes) of all are kept: a block of lanes each. Those of a block
/// that begins before, on another rank (ranks/leaf_run.hpp), have rows of their own.
struct LaneBlocks {
    std::ptrdiff_t num_lanes = 0, num_alone = 0;

    [[nodiscard]] static constexpr LaneBlocks from(std::ptrdiff_t first, std::ptrdiff_t num_lanes) {
        const std::ptrdiff_t rest = (lanes_per_block - first % lanes_per_block) % lanes_per_block;
        return {num_lanes, rest < num_lanes ? rest : num_lanes};
    }
    [[nodiscard]] constexpr std::ptrdiff_t count() const {
        return num_alone + num_blocks(num_lanes - num_alone);
    }
    [[nodiscard]] constexpr std::ptrdiff_t first(std::ptrdiff_t row) const {
        return row < num_alone ? row : num_alone + (row - num_alone) * lanes_per_block;
    }
    [[nodiscard]] constexpr std::ptrdiff_t end(std::ptrdiff_t row) const {
        const std::ptrdiff_t end = row < num_alone ? row + 1 : first(row) + lanes_per_block;
        return end < num_lanes ? end : num_lanes;
    }
};

/// The sum of numbers that come one after another, added in pairs: ((0 + 1) + (2 + 3)) + (4 + 5)…
/// What is left over at the end joins from the right.
template <class Number>
class PairwiseSum {
  public:
    EDDY_HD constexpr void add(Number number) {
        // Each bit of the count is a sum of so many numbers: adding one carries.
        for (std::uint64_t carry = count_; (carry & 1) != 0; carry >>= 1)
            number = sums_[--num_sums_] + number;
        sums_[num_sums_++] = number;
        ++count_;
    }
    /// Goes on where another sum is. Only what that has used is copied, which is little of it.
    EDDY_HD constexpr void go_on(const PairwiseSum& other) {
        count_ = other.count_;
        num_sums_ = other.num_sums_;
        for (int i = 0; i < num_sums_; ++i) sums_[i] = other.sums_[i];
    }
    [[nodiscard]] EDDY_HD constexpr Number total() const {
        if (num_sums_ == 0) return Number(0);
        Number total = sums_[num_sums_ - 1];
        for (int i = num_sums_ - 1; i-- > 0;) total = sums_[i] + total;
        return total;
    }

  private:
    std::uint64_t count_ = 0;
    int num_sums_ = 0;
    Number sums_[64]{};
};

/// The sum of value(lane) over lanes [first, end), not more than a block.
template <class Number, class Value>
[[nodiscard]] EDDY_HD constexpr Number sum_of_block(std::ptrdiff_t first, std::ptrdiff_t end,
                                                    const Value& value) {
    Number sum(0);
    for (std::ptrdiff_t lane = first; lane < end; ++lane) sum = sum + value(lane);
    return sum;
}

/// The sum of value(lane) over all lanes.
template <class Number, class Value>
[[nodiscard]] EDDY_HD constexpr Number sum_over_lanes(std::ptrdiff_t num_lanes,
                                                      const Value& value) {
    PairwiseSum<Number> sum;
    for (std::ptrdiff_t first = 0; first < num_lanes; first += lanes_per_block) {
        const std::ptrdiff_t rest = num_lanes - first;
        const std::ptrdiff_t end = first + (rest < lanes_per_block ? rest : lanes_per_block);
        sum.add(sum_of_block<Number>(first, end, value));
    }
    return sum.total();
}

}  // namespace eddy::inline v0::detail
