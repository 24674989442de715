// Sums over the lanes of a gradient on emulated warps: in the shape of sum_over_lanes, whoever comes last.

#include <eddy/backends/grid/grid_finish.hpp>
#include <vector>

#include "solve/emulated_device.hpp"
#include "support/catch.hpp"
#include "support/same_bits.hpp"

namespace {

using eddy::detail::BackCost;
using eddy::detail::num_blocks;
using Work = eddy::detail::FinishWork<float, support::GridWarp>;

/// Losses of lanes, of which every fifth has failed, as a launch finds them.
struct Lanes {
    std::vector<eddy::LaneOutcome> outcomes;
    std::vector<float> loss;
    std::vector<double> sums;
    double total = 0;
    std::int64_t num_done = 0;
    BackCost of_group, cost;

    explicit Lanes(std::ptrdiff_t count)
        : outcomes(static_cast<std::size_t>(count)),
          loss(outcomes.size()),
          sums(static_cast<std::size_t>(num_blocks(count))) {
        for (std::size_t lane = 0; lane < loss.size(); ++lane) {
            loss[lane] = 1.0F / static_cast<float>(3 + lane * lane % 1009);
            if (lane % 5 == 2) outcomes[lane].result = eddy::Result::non_finite;
        }
    }
    [[nodiscard]] double expected() const {
        return eddy::detail::sum_over_lanes<double>(
            static_cast<std::ptrdiff_t>(loss.size()), [&](std::ptrdiff_t lane) {
                const auto index = static_cast<std::size_t>(lane);
                return index % 5 == 2 ? 0. : static_cast<double>(loss[index]);
            });
    }
    void add(std::uint64_t seed) {
        const auto count = static_cast<std::ptrdiff_t>(loss.size());
        const Work work{{outcomes.data(), loss.data(), 1, count, sums.data(), &total, &num_done},
                        {},
                        {&of_group, 1, 1, &cost}};
        eddy::test::run_warps(static_cast<int>(work.num_warps()), seed,
                              [&](int warp, eddy::test::EmulatedWarp& threads) {
                                  work(support::GridWarp(threads, warp, work.num_warps()));
                              });
    }
};

}  // namespace

TEST_CASE("grid finish: losses of all lanes are added in the shape of the host") {
    // One block and less, those of a warp, one more; as many warps as members, and more.
    for (const std::ptrdiff_t count :
         {1, 64, 65, 64 * 31, 64 * 32, 64 * 33 + 5, 65'535, 65'537, 150'001}) {
        CAPTURE(count);
        for (const std::uint64_t seed : {1u, 2u}) {
            Lanes lanes(count);
            const double expected = lanes.expected();

            lanes.add(seed);

            CHECK(support::same_bits(lanes.total, expected));
            CHECK(lanes.num_done == 0);  // as the next launch wants it
            std::ptrdiff_t num_nan = 0;
            for (const float loss : lanes.loss) num_nan += loss != loss;
            CHECK(num_nan == (count + 2) / 5);
        }
    }
}
