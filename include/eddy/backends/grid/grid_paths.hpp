#pragma once
// What the solve and the gradient of several paths to a lane are followed by on a device: sums over the paths of
// each run, in the shape of path_runs.hpp, which come back in the place of the paths. A thread takes a number of
// a run.

#include <eddy/solve/lane/path_runs.hpp>

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

template <class Warp, class Kernel>
[[nodiscard]] auto run_work(const Kernel& kernel) {
    const auto numbers = kernel.numbers();
    using Work = RunWork<std::remove_cvref_t<decltype(kernel.sums)>,
                         std::remove_const_t<decltype(numbers)>, Warp>;
    return Work{kernel.sums, kernel.outcomes, numbers};
}

}  // namespace eddy::inline v0::detail
