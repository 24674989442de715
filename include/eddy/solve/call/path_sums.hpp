#pragma once
// Several paths to a lane: the paths of a call, counted over all lanes, are solved some thousand at a
// time, each as a lane of its own. What is made of them is added up in one fixed shape, so that it
// depends neither on threads nor on packs, and memory does not grow with their number.
// Test: tests/solve/paths.cpp

#include <algorithm>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/lane/path_lanes.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Solves the paths of a call chunk after chunk, row r of a chunk's arrays being path first_path + r of the call, and
/// makes of their runs what becomes of lanes, as a device does (lane/path_lanes.hpp).
template <class Spec, class Sum>
class PathSums {
  public:
    RunSums<Sum> of_runs;  // of a chunk

    /// How many numbers are summed, how many of them over each run, and how large chunks are: whole runs, one at
    /// least; where `within_lanes`, of one lane.
    struct Sizes {
        std::ptrdiff_t of_lane, of_runs;
        std::int64_t most_rows;
        bool within_lanes = false;
        TangentMark* marks = nullptr;  // (lane), where they are watched
        CallTimes times{};
    };
    /// solve() a chunk, with what it brings to of_runs. `target` takes what becomes of lanes.
    template <class Target, class Solve>
    void run(const Sizes& sizes, const SolveOptions& options, const CallLink& call,
             Outcomes& outcomes, const Target& target, const Solve& solve) {
        const std::int64_t paths = options.paths, total = outcomes.num_lanes() * paths;
        for (Waiting& waiting : waiting_)
            waiting.sums.resize(static_cast<std::size_t>(sizes.of_lane));
        PathRuns rows{paths};
        const auto finish = [&](std::int64_t end_lane, bool is_cut) {
            const std::int64_t first_lane = rows.first_path / paths;
            const PathLanes<Sum, Target> lanes{of_runs,
                                               waiting_[0].lane(),
                                               waiting_[1].lane(),
                                               target,
                                               outcomes.lanes().data(),
                                               outcomes.failed_paths_of_lanes().data(),
                                               sizes.marks,
                                               first_lane,
                                               end_lane - first_lane,
                                               sizes.times,
                                               is_cut};
            lanes.finish_all();
            std::swap(waiting_[0], waiting_[1]);
        };
        while ((rows = rows.next(total, sizes.most_rows, sizes.within_lanes)).num_rows > 0) {
            of_runs = memory_.open(rows, sizes.of_runs);
            solve();
            finish((rows.end_path() - 1) / paths + 1, false);
            if (!call.is_cancelled() || rows.end_path() == total) continue;
            of_runs.runs = rows = {paths, rows.end_path(), 0};
            return finish(outcomes.num_lanes(), true);
        }
    }

    /// Sets the problem of a chunk, whose lanes are paths.
    void prepare(PreparedProblem<Spec>& chunk, const PreparedProblem<Spec>& whole) const {
        const PathRuns& rows = of_runs.runs;
        chunk.take_rows_of(whole, {rows.first_path, rows.paths}, rows.num_rows);
        chunk.problem.noise.first_path += static_cast<std::uint64_t>(rows.first_path);
    }

  private:
    /// A lane whose paths are not all there.
    struct Waiting {
        std::vector<PairwiseSum<Sum>> sums;
        PathTally tally;

        [[nodiscard]] WaitingLane<Sum> lane() { return {sums.data(), &tally}; }
    };
    Waiting waiting_[2];
    RunMemory<Sum> memory_;
};

/// Paths of so many numbers that take some ten megabytes, whatever the machine, or less.
[[nodiscard]] inline std::int64_t rows_that_fit(std::int64_t num_numbers,
                                                std::size_t most_bytes = std::size_t{1} << 23) {
    const auto most = static_cast<std::int64_t>(std::min(most_bytes, std::size_t{1} << 23) / 8);
    return most / std::clamp<std::int64_t>(num_numbers, 16, 1 << 20);
}

/// Does a backend keep all of the paths where it solves them: because one of these arrays lies there, or nobody waits; or, where it may, because it is one device. Else
/// rows are gathered on the host, and may go to several.
template <class Memory>
[[nodiscard]] bool paths_stay_there(const Memory& memory, const std::vector<const void*>& arrays,
                                    [[maybe_unused]] bool may_stay) {
    if constexpr (!is_of_host<Memory>) {
        if (may_stay && memory.is_alone()) return true;
    }
    return returns_early(memory) ||
           std::any_of(arrays.begin(), arrays.end(), [&](const void* first) {
               return first != nullptr && lies_in(memory, first);
           });
}
template <class Spec>
[[nodiscard]] std::vector<const void*> inputs_of(const Problem<Spec>& problem) {
    return {problem.y0.first, problem.p.first, problem.y0_tangent.first, problem.p_tangent.first};
}

}  // namespace eddy::inline v0::detail
