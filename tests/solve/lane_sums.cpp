// The shape of sums over lanes, against one written down as a recursion.

#include <cmath>
#include <eddy/solve/lane/lane_sums.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::detail::PairwiseSum;
using eddy::detail::sum_over_lanes;

/// Numbers whose sum rounds at every addition.
std::vector<double> random_numbers(std::size_t count) {
    support::Random random(count + 1);
    std::vector<double> numbers(count);
    for (double& x : numbers) x = std::ldexp(random.uniform(-1, 1), random.below(30));
    return numbers;
}

/// Neighbours are added until one number is left; an odd one goes up as it is.
double sum_of_levels(std::vector<double> left) {
    while (left.size() > 1) {
        std::vector<double> next;
        for (std::size_t i = 0; i + 1 < left.size(); i += 2) next.push_back(left[i] + left[i + 1]);
        if (left.size() % 2 == 1) next.push_back(left.back());
        left = next;
    }
    return left.empty() ? 0 : left[0];
}

}  // namespace

TEST_CASE("lane_sums: numbers are added in pairs, level by level") {
    for (std::size_t count = 0; count <= 300; ++count) {
        const auto numbers = random_numbers(count);
        PairwiseSum<double> sum;
        for (const double x : numbers) sum.add(x);
        CHECK(sum.total() == sum_of_levels(numbers));
    }
}

TEST_CASE("lane_sums: lanes are added in order within blocks of 64, then blocks in pairs") {
    for (const std::ptrdiff_t lanes : {0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 4096, 5000}) {
        const auto numbers = random_numbers(static_cast<std::size_t>(lanes));
        const auto value = [&](std::ptrdiff_t lane) {
            return numbers[static_cast<std::size_t>(lane)];
        };
        std::vector<double> blocks;
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            if (lane % 64 == 0) blocks.push_back(0);
            blocks.back() += value(lane);
        }
        const double sum = sum_over_lanes<double>(lanes, value);
        CHECK(sum == sum_of_levels(blocks));
    }
}

TEST_CASE("lane_sums: of a million lanes the rounding errors stay small") {
    constexpr std::ptrdiff_t lanes = 1 << 20;
    const float sum = sum_over_lanes<float>(lanes, [](std::ptrdiff_t) { return 0.1f; });

    CHECK(std::fabs(sum / (static_cast<double>(lanes) * 0.1f) - 1) < 1e-6);
    static_assert(sum_over_lanes<int>(1000, [](std::ptrdiff_t lane) { return lane < 10; }) == 10);
}
