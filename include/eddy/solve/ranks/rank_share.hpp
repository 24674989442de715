#pragma once
// A call's part of the lanes that several processes share.
// Test: tests/solve/processes.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/ranks/rank_group.hpp>

namespace eddy::inline v0::detail {

/// Lanes [first_lane, …) of `num_lanes` of all ranks.
struct RankShare {
    RankGroup* group = nullptr;  // null: this process has all of them
    CallPrint print;
    std::ptrdiff_t first_lane = 0, num_lanes = 0;
    bool moves_lanes = false;  // ranks take some from each other

    [[nodiscard]] explicit operator bool() const { return group != nullptr; }
    /// Waits for all ranks; they have been asked the same.
    void join(std::ptrdiff_t own_lanes) {
        first_lane = 0;
        num_lanes = own_lanes;
        if (!group) return;
        const RankVerdict& verdict = group->agree(print, own_lanes);
        first_lane = static_cast<std::ptrdiff_t>(verdict.first_lane);
        num_lanes = static_cast<std::ptrdiff_t>(verdict.num_lanes);
    }
    /// Waits for all ranks, where nothing has been added up.
    void end_work() const {
        if (group) group->end_work();
    }
};

// InvalidArgument where the division does not suit.

/// This rank's lanes must be whole groups, but for the last of all.
EDDY_EXPORT void require_whole_groups(const RankShare& ranks, std::ptrdiff_t own_lanes,
                                      std::ptrdiff_t group_size);
EDDY_EXPORT void require_rank_blocks(const LaneBlocks& lanes, bool are_on_device,
                                     const char* where);
EDDY_EXPORT void require_no_paths_of_ranks(const RankShare& ranks, std::int64_t paths,
                                           const char* where);

}  // namespace eddy::inline v0::detail
