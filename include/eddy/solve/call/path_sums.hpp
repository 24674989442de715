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
#include <vector>

namespace eddy::inline v0::detail {

/// Memory of the host for the sums over the paths of a call, as a device has it (lane/path_lanes.hpp). Row r of a chunk's
/// arrays is path first_path + r of the call.
template <class Spec, class Sum>
class PathSums {
  public:
    /// solve(sums of the runs of a chunk) leaves those there; the target of `lanes` takes what becomes of lanes.
    template <class Target, class Solve>
    void run(PathLanes<Sum, Target> lanes, const PathChunks& chunks, const CallLink& call,
             const Solve& solve) {
        const std::int64_t num_runs =
            PathRuns::most_runs(chunks.num_rows(lanes), lanes.chunk.runs.paths);
        sums_.resize(static_cast<std::size_t>(num_runs * lanes.chunk.num_numbers));
        tallies_.resize(static_cast<std::size_t>(num_runs));
        lanes.chunk.sums = sums_.data();
        lanes.chunk.tallies = tallies_.data();
        lanes.before = waiting_[0].lane(lanes.num_numbers());
        lanes.after = waiting_[1].lane(lanes.num_numbers());
        chunks.run(
            lanes, [&] { return call.is_cancelled(); }, solve,
            [](const auto& of_chunk) { of_chunk.finish_all(); });
    }

    /// Sets the problem of a chunk, whose lanes are paths.
    static void prepare(PreparedProblem<Spec>& chunk, const PreparedProblem<Spec>& whole,
                        const PathRuns& rows) {
        chunk.take_rows_of(whole, {rows.first_path, rows.paths}, rows.num_rows);
        chunk.problem.noise.first_path += static_cast<std::uint64_t>(rows.first_path);
    }

  private:
    /// A lane whose paths are not all there.
    struct Waiting {
        std::vector<PairwiseSum<Sum>> sums;
        PathTally tally;

        [[nodiscard]] WaitingLane<Sum> lane(std::ptrdiff_t num_numbers) {
            sums.resize(static_cast<std::size_t>(num_numbers));
            return {sums.data(), &tally};
        }
    };
    Waiting waiting_[2];
    std::vector<Sum> sums_;
    std::vector<PathTally> tallies_;
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
                                    bool may_stay) {
    return (may_stay && memory.is_alone()) || returns_early(memory) ||
           std::any_of(arrays.begin(), arrays.end(), [&](const void* first) {
               return first != nullptr && lies_in(memory, first);
           });
}
template <class Spec>
[[nodiscard]] std::vector<const void*> inputs_of(const Problem<Spec>& problem) {
    return {problem.y0.first, problem.p.first, problem.y0_tangent.first, problem.p_tangent.first};
}

}  // namespace eddy::inline v0::detail
