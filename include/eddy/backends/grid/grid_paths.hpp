#pragma once
// What a solve of several paths to a lane is followed by on a device: sums over the paths of each run, in the
// shape of path_runs.hpp, which come back in the place of the paths. A thread takes a number of a run.

#include <eddy/solve/lane/path_runs.hpp>
#include <eddy/solve/lane/solution_recorder.hpp>

namespace eddy::inline v0::detail {

template <class Real, class Warp>
struct RunWork {
    static constexpr int warps_per_processor = 32;

    RunSums sums;
    const LaneOutcome* outcomes;  // (row)
    SavedArrays<Real> saved;
    std::ptrdiff_t num_saves, num_columns;

    [[nodiscard]] EDDY_HD std::ptrdiff_t warps_of_number() const {
        return (sums.runs.num_runs() + 31) / 32;
    }
    [[nodiscard]] std::ptrdiff_t num_warps() const {
        return warps_of_number() * (sums.num_numbers + 1);
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t number = warp.index() / warps_of_number();
        const std::ptrdiff_t run = warp.index() % warps_of_number() * 32 + warp.member();
        if (run >= sums.runs.num_runs() || number > sums.num_numbers) return;
        if (number == sums.num_numbers) return sums.add_tally(run, outcomes);
        const auto array = [&](std::ptrdiff_t k) {
            return k < num_saves ? saved.y[k] : saved.tangent[k - num_saves];
        };
        sums.add_number(run, number, num_columns, array, outcomes);
    }
};

template <class Warp, class Kernel>
[[nodiscard]] auto run_work(const Kernel& kernel) {
    return RunWork<typename Kernel::Real, Warp>{kernel.sums, kernel.outcomes, kernel.saved,
                                                kernel.problem.times.num_saves,
                                                Kernel::num_columns};
}

}  // namespace eddy::inline v0::detail
