#pragma once
// Several paths to a lane: the paths of a call, counted over all lanes, are solved some thousand at a
// time, each as a lane of its own. What is made of them is added up in one fixed shape, so that it
// depends neither on threads nor on packs, and memory does not grow with their number.

#include <algorithm>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Solves the paths of a call part after part, row r of a part's arrays being path first_path + r of the call, and
/// adds up those of each lane in the order of their runs.
template <class Spec, class Sum>
class PathSums {
  public:
    RunSums<Sum> of_runs;  // of a part
    // Of one lane: its paths that reached the end, and their sums, (number).
    std::int64_t count = 0;
    std::vector<PairwiseSum<Sum>> of_lane;
    PathTally tally;  // what became of all its paths so far

    /// How many numbers are summed, how many of them over each run, and how large parts are: whole runs, one at
    /// least; where `within_lanes`, of one lane.
    struct Sizes {
        std::ptrdiff_t of_lane, of_runs;
        std::int64_t most_rows;
        bool within_lanes = false;
    };
    /// solve() a part, with what it brings to of_runs; settle(lane) when all of its paths are there.
    template <class Solve, class Settle>
    void run(const Sizes& sizes, const SolveOptions& options, const CallLink& call,
             Outcomes& outcomes, const Solve& solve, const Settle& settle) {
        const std::int64_t paths = options.paths, total = outcomes.num_lanes() * paths;
        begin_lane(static_cast<std::size_t>(sizes.of_lane));
        rows_ = PathRuns{paths}.next(total, sizes.most_rows, sizes.within_lanes);
        while (rows_.num_rows > 0) {
            of_runs = memory_.open(rows_, sizes.of_runs);
            solve();
            add_runs(outcomes, settle);
            if (call.is_cancelled()) {
                if (rows_.end_path() % paths != 0) settle(rows_.end_path() / paths);
                return cancel_rest(total, options.t0, outcomes);
            }
            rows_ = rows_.next(total, sizes.most_rows, sizes.within_lanes);
        }
    }

    /// Sets the problem of a part, whose lanes are paths.
    void prepare(PreparedProblem<Spec>& part, const PreparedProblem<Spec>& whole) const {
        part.follow(whole, {rows_.first_path, rows_.paths}, rows_.num_rows);
        part.problem.noise.first_path += static_cast<std::uint64_t>(rows_.first_path);
    }

  private:
    void begin_lane(std::size_t num_numbers) {
        count = 0;
        of_lane.assign(num_numbers, {});
        tally = {};
    }
    template <class Settle>
    void add_runs(Outcomes& outcomes, const Settle& settle) {
        const Sum* sum = of_runs.sums;
        for (std::int64_t run = 0; run < rows_.num_runs(); ++run) {
            const std::ptrdiff_t lane = rows_.lane_of(run);
            const PathTally& of_run = of_runs.tallies[run];
            const auto [begin, end] = rows_.rows_of(run);
            outcomes.add_path(lane, of_run.whole, of_run.num_failed);
            tally.add(of_run);
            count += end - begin - of_run.num_failed;
            for (std::ptrdiff_t number = 0; number < of_runs.num_numbers; ++number)
                of_lane[static_cast<std::size_t>(number)].add(*sum++);
            if (!rows_.ends_lane(run)) continue;
            settle(lane);
            begin_lane(of_lane.size());
        }
    }
    /// Paths that a call which was cancelled has not begun.
    void cancel_rest(std::int64_t total, double t0, Outcomes& outcomes) const {
        LaneOutcome never;
        never.result = Result::cancelled;
        never.t = t0;
        for (std::int64_t path = rows_.end_path(); path < total;) {
            const std::int64_t lane = path / rows_.paths, end = (lane + 1) * rows_.paths;
            outcomes.add_path(lane, never, end - path);
            path = end;
        }
    }

    PathRuns rows_;  // that are solved now
    RunMemory<Sum> memory_;
};

/// Paths of so many numbers that take some ten megabytes, whatever the machine, or less.
[[nodiscard]] inline std::int64_t rows_that_fit(std::int64_t num_numbers,
                                                std::size_t most_bytes = std::size_t{1} << 23) {
    const auto most = static_cast<std::int64_t>(std::min(most_bytes, std::size_t{1} << 23) / 8);
    return most / std::clamp<std::int64_t>(num_numbers, 16, 1 << 20);
}

/// Can a backend keep all of the paths where it solves them?
template <class Backend>
inline constexpr bool may_keep_paths = !is_of_host<typename Backend::Memory>;
/// Does it: because one of these arrays lies there, or nobody waits; or, where it may, because it is one device. Else
/// rows are gathered on the host, and may go to several.
template <class Memory>
[[nodiscard]] bool paths_stay_there(const Memory& memory, const std::vector<const void*>& arrays,
                                    [[maybe_unused]] bool may_stay) {
    if constexpr (requires { memory.is_alone(); }) {
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
