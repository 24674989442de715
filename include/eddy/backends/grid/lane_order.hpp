#pragma once
// The order in which a group's lanes take the places of its warp: the longest first, by the attempts of
// the call before, so that the last ones to end are short (Graham 1969, Bounds on multiprocessing timing
// anomalies, SIAM J. Appl. Math. 17(2)). Who is where changes no bit of a lane: order is a matter of time
// alone. A warp sorts the lanes of its group when they are solved; nothing comes to the host.
// Test: tests/solve/sorted_lanes.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/lane/outcome.hpp>

namespace eddy::inline v0::detail {

/// Is there anything to sort, and may it be? Lanes with steps of constant size are even; parameter sums
/// that stay in the places depend on who is where.
template <class Spec>
inline constexpr bool sorts_lanes =
    !Spec::has_constant_size && (Spec::sums_by_lane || !Spec::shares_parameters);

/// Sorts by counting, stable: 64 buckets of attempts, of which those of 32 lanes are ranked at a time.
template <class Warp>
class LaneSort {
  public:
    static constexpr int num_buckets = 64;

    /// `buckets` is memory of the warp's, of which nothing is expected. All members call.
    EDDY_HD LaneSort(const Warp& warp, const LaneOutcome* outcomes, std::int32_t num_lanes,
                     std::int32_t* buckets)
        : warp_(&warp), outcomes_(outcomes), num_lanes_(num_lanes), buckets_(buckets) {}

    EDDY_HD_AS_ARGUMENT EDDY_HD void run(std::int32_t* order) {
        std::int64_t longest = 1;
        for (std::int32_t lane = warp_->member(); lane < num_lanes_; lane += 32)
            longest = eddy::max(longest, attempts(lane));
        per_attempt_ =
            static_cast<float>(num_buckets - 1) / static_cast<float>(warp_->max(longest));
        for (int bucket = warp_->member(); bucket < num_buckets; bucket += 32) buckets_[bucket] = 0;
        warp_->sync();
        for (std::int32_t first = 0; first < num_lanes_; first += 32) count(first);
        if (warp_->member() == 0) {
            std::int32_t before = 0;
            for (int bucket = 0; bucket < num_buckets; ++bucket) {
                const std::int32_t here = buckets_[bucket];
                buckets_[bucket] = before;
                before += here;
            }
        }
        warp_->sync();
        for (std::int32_t first = 0; first < num_lanes_; first += 32) {
            const Ranked lane = rank(first);
            if (lane.is_there) order[buckets_[lane.bucket] + lane.rank] = first + warp_->member();
            warp_->sync();
            add(lane);
        }
    }

  private:
    /// A lane among the 32 that are looked at: how many of its bucket are before it, and in all.
    struct Ranked {
        bool is_there;
        int bucket, rank, num_alike;
    };

    [[nodiscard]] EDDY_HD std::int64_t attempts(std::int32_t lane) const {
        return outcomes_[lane].accepted + outcomes_[lane].rejected;
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void count(std::int32_t first) { add(rank(first)); }
    EDDY_HD_AS_ARGUMENT EDDY_HD void add(const Ranked& lane) {
        if (lane.is_there && lane.rank == 0) buckets_[lane.bucket] += lane.num_alike;
        warp_->sync();
    }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD Ranked rank(std::int32_t first) const {
        const std::int32_t lane = first + warp_->member();
        Ranked ranked{lane < num_lanes_, 0, 0, 0};
        if (ranked.is_there)
            ranked.bucket = num_buckets - 1 -
                            static_cast<int>(per_attempt_ * static_cast<float>(attempts(lane)));
        std::uint32_t alike = warp_->ballot(ranked.is_there);
        for (int bit = 1; bit < num_buckets; bit *= 2) {
            const bool has_bit = (ranked.bucket & bit) != 0;
            const std::uint32_t with_bit = warp_->ballot(has_bit);
            alike &= has_bit ? with_bit : ~with_bit;
        }
        ranked.rank = Warp::count(alike & ((std::uint32_t{1} << warp_->member()) - 1));
        ranked.num_alike = Warp::count(alike);
        return ranked;
    }

    const Warp* warp_;
    const LaneOutcome* outcomes_;  // (lane)
    std::int32_t num_lanes_;
    std::int32_t* buckets_;
    float per_attempt_ = 0;
};

}  // namespace eddy::inline v0::detail
