#pragma once
// What the solve and the gradient of several paths to a lane are followed by on a device: sums over the paths of
// each run, in the shape of path_runs.hpp, which come back in the place of the paths. A thread takes a number of
// a run. Where nothing comes back, lanes follow behind it (path_lanes.hpp).
// Test: tests/solve/device_paths.cpp, tests/device/path_lanes.cu

#include <eddy/solve/lane/path_lanes.hpp>

namespace eddy::inline v0::detail {

template <class Sums, class Numbers, class Warp>
struct RunWork {
    static constexpr int warps_per_processor = 32;

    Sums sums;
    const LaneOutcome* outcomes;  // (row)
    Numbers numbers;

    [[nodiscard]] EDDY_HD std::ptrdiff_t warps_of_number() const {
        return (sums.runs.num_runs() + 31) / 32;
    }
    [[nodiscard]] std::ptrdiff_t num_warps() const {
        return warps_of_number() * (sums.num_numbers + 1);
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t number = warp.index() / warps_of_number();
        const std::ptrdiff_t run = warp.index() % warps_of_number() * 32 + warp.member();
        if (run < sums.runs.num_runs() && number <= sums.num_numbers)
            sums.add(run, number, numbers, outcomes);
    }
};

/// A thread takes a number of a lane, what became of it, or a number of a block of lanes.
template <class Lanes, class Warp>
struct LanesOfPaths {
    static constexpr int warps_per_processor = 16;

    Lanes lanes;

    [[nodiscard]] EDDY_HD static std::ptrdiff_t warps_of(std::int64_t count) {
        return static_cast<std::ptrdiff_t>((count + 31) / 32);
    }
    [[nodiscard]] EDDY_HD std::ptrdiff_t warps_of_lanes() const {
        return warps_of(lanes.num_lanes) * (lanes.target.numbers_of_lane() + 1);
    }
    [[nodiscard]] std::ptrdiff_t num_warps() const {
        return warps_of_lanes() + warps_of(lanes.num_blocks()) * Lanes::numbers_of_block;
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        if (warp.index() < warps_of_lanes()) {
            const std::ptrdiff_t warps = warps_of(lanes.num_lanes), number = warp.index() / warps;
            const std::int64_t lane = lanes.first_lane + warp.index() % warps * 32 + warp.member();
            if (lane >= lanes.end_lane()) return;
            if (number < lanes.target.numbers_of_lane())
                lanes.finish(lane, number);
            else
                lanes.tell(lane);
        } else if constexpr (Lanes::numbers_of_block > 0) {
            const std::ptrdiff_t index = warp.index() - warps_of_lanes(),
                                 warps = warps_of(lanes.num_blocks()), number = index / warps;
            const std::int64_t block = index % warps * 32 + warp.member();
            if (block < lanes.num_blocks() && number < Lanes::numbers_of_block)
                lanes.finish_block(lanes.first_block() + block,
                                   lanes.target.numbers_of_lane() + number);
        }
    }
};

template <class Warp, class Kernel>
[[nodiscard]] auto run_work(const Kernel& kernel) {
    const auto numbers = kernel.numbers();
    using Work = RunWork<std::remove_cvref_t<decltype(kernel.sums)>,
                         std::remove_const_t<decltype(numbers)>, Warp>;
    return Work{kernel.sums, kernel.outcomes, numbers};
}

}  // namespace eddy::inline v0::detail
