#pragma once
// Sums over the paths of a lane in one fixed shape, whatever the machine, its threads and the parts of a call:
// blocks of 64 paths, each in the order of its paths, and then pairs of blocks, pairs of pairs and so on. A
// run is four blocks of a lane, or what is left at its end: whoever has solved its paths adds them up, where
// they lie, and only sums of runs go further.
// Test: tests/solve/paths.cpp, tests/solve/device_paths.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>

namespace eddy::inline v0::detail {

/// How many numbers there are, their mean, and the sum of their squared distances from it: nothing cancels,
/// whatever the mean (Welford 1962, Technometrics 4(3)).
struct Moments {
    double count = 0, mean = 0, squares = 0;

    constexpr Moments() = default;
    EDDY_HD constexpr explicit Moments(int) {}  // zero: of none
    EDDY_HD constexpr Moments(double count_of_all, double mean_of_all, double squares_of_all)
        : count(count_of_all), mean(mean_of_all), squares(squares_of_all) {}

    EDDY_HD constexpr void add(double x) {
        count += 1;
        const double distance = x - mean;
        mean += distance / count;
        squares += distance * (x - mean);
    }
    /// The moments of two sets of numbers together (Chan, Golub & LeVeque 1983, Amer. Statist.
    /// 37(3), eqs. 2.1).
    [[nodiscard]] friend EDDY_HD constexpr Moments operator+(const Moments& a, const Moments& b) {
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        const double of_both = a.count + b.count, distance = b.mean - a.mean;
        const double share = b.count / of_both;
        return {of_both, a.mean + distance * share,
                a.squares + b.squares + distance * distance * (a.count * share)};
    }
};

/// What became of some paths of a lane: their counts of steps added up, the end of the first that failed, and
/// where the tangent of one is the least reliable.
struct PathTally {
    LaneOutcome whole{};
    std::int64_t num_failed = 0;
    TangentMark mark{};

    /// One, or so many of which all failed if one did, with what their steps have cost together.
    EDDY_HD constexpr void add(const LaneOutcome& path, std::int64_t count = 1) {
        if (!is_failure(whole.result)) {
            whole.result = path.result;
            whole.t = path.t;
            whole.component = path.component;
        }
        num_failed += is_failure(path.result) ? count : 0;
        whole.accepted += path.accepted;
        whole.rejected += path.rejected;
        whole.evaluations += path.evaluations;
    }
    EDDY_HD constexpr void add(const TangentMark& path) {
        if (path.ratio > mark.ratio) mark = path;
    }
    EDDY_HD constexpr void add(const PathTally& more) {
        add(more.whole, more.num_failed);
        add(more.mark);
    }
};

/// The runs that rows consist of: row r is path first_path + r, and each lane has so many paths. The rows begin
/// and end where runs do.
struct PathRuns {
    static constexpr std::int64_t blocks_per_run = 4,
                                  paths_per_run = blocks_per_run * lanes_per_block;

    std::int64_t paths = 1, first_path = 0, num_rows = 0;

    struct Range {
        std::ptrdiff_t begin, end;
    };

    [[nodiscard]] EDDY_HD std::int64_t runs_per_lane() const {
        return (paths + paths_per_run - 1) / paths_per_run;
    }
    /// The number of the run that a path is in, of all lanes.
    [[nodiscard]] EDDY_HD std::int64_t run_of(std::int64_t path) const {
        return path / paths * runs_per_lane() + path % paths / paths_per_run;
    }
    /// The path that the run of a path begins with.
    [[nodiscard]] EDDY_HD std::int64_t start_of_run(std::int64_t path) const {
        return path - path % paths % paths_per_run;
    }
    [[nodiscard]] EDDY_HD std::int64_t num_runs() const {
        return num_rows == 0 ? 0 : run_of(first_path + num_rows - 1) - run_of(first_path) + 1;
    }
    /// The rows of a run, counted from the first.
    [[nodiscard]] EDDY_HD Range rows_of(std::int64_t run) const {
        const std::int64_t number = run_of(first_path) + run;
        const std::int64_t lane = number / runs_per_lane(),
                           begin = number % runs_per_lane() * paths_per_run,
                           from = lane * paths - first_path;
        return {from + begin, from + eddy::min(paths, begin + paths_per_run)};
    }
    [[nodiscard]] EDDY_HD std::int64_t end_path() const { return first_path + num_rows; }
    /// The runs of a lane that are among these, counted from the first.
    [[nodiscard]] EDDY_HD Range runs_of(std::int64_t lane) const {
        const std::int64_t before = run_of(first_path), end = before + num_runs();
        return {eddy::max(before, lane * runs_per_lane()) - before,
                eddy::min(end, (lane + 1) * runs_per_lane()) - before};
    }
    /// The next rows after these, whole runs: at most so many, but one at least; where `within_lanes`, of one lane.
    /// There are none from path `total` on.
    [[nodiscard]] PathRuns next(std::int64_t total, std::int64_t most, bool within_lanes) const {
        const std::int64_t first = end_path(), next = first + eddy::max(most, paths_per_run),
                           end =
                               within_lanes ? eddy::min(total, (first / paths + 1) * paths) : total;
        return {paths, first, (next < end ? start_of_run(next) : end) - first};
    }
    /// The most rows of a chunk, and the most runs that so many rows consist of.
    [[nodiscard]] static std::int64_t most_rows(std::int64_t total, std::int64_t most) {
        return eddy::min(total, eddy::max(most, paths_per_run));
    }
    [[nodiscard]] static std::int64_t most_runs(std::int64_t rows, std::int64_t paths) {
        const std::int64_t of_lane = PathRuns{paths}.runs_per_lane();
        return rows / paths * of_lane + 2 * eddy::min(of_lane, rows / paths_per_run + 1);
    }
};

/// The sum over the rows of a run: `add(row, sum)` adds one to that of its block, and blocks are added in pairs.
/// Rows that failed are left out.
template <class Sum, class Add>
[[nodiscard]] EDDY_HD Sum sum_of_run(const PathRuns::Range& rows, const LaneOutcome* outcomes,
                                     const Add& add) {
    PairwiseSum<Sum> sum;
    for (std::ptrdiff_t first = rows.begin; first < rows.end; first += lanes_per_block) {
        Sum block(0);
        for (std::ptrdiff_t row = first; row < eddy::min(rows.end, first + lanes_per_block); ++row)
            if (!is_failure(outcomes[row].result)) add(row, block);
        sum.add(block);
    }
    return sum.total();
}

/// The place of the sums of runs. Each run has so many, and a tally.
template <class Sum>
struct RunSums {
    PathRuns runs;
    Sum* sums = nullptr;           // (run, number); null: rows themselves are wanted
    PathTally* tallies = nullptr;  // (run)
    std::ptrdiff_t num_numbers = 0;
    const TangentMark* marks = nullptr;  // (row); null: nobody watches

    [[nodiscard]] EDDY_HD bool is_wanted() const { return sums != nullptr; }
    /// `numbers` knows how to sum one of them over some rows; the one after the last is the tally.
    template <class Numbers>
    EDDY_HD void add(std::int64_t run, std::ptrdiff_t number, const Numbers& numbers,
                     const LaneOutcome* outcomes) const {
        const PathRuns::Range rows = runs.rows_of(run);
        if (number < num_numbers) {
            sums[run * num_numbers + number] = numbers.sum(number, rows, outcomes);
        } else {
            PathTally tally;
            for (std::ptrdiff_t row = rows.begin; row < rows.end; ++row) {
                tally.add(outcomes[row]);
                if (marks) tally.add(marks[row]);
            }
            tallies[run] = tally;
        }
    }
    /// Adds all runs, one after another.
    template <class Numbers>
    void add_all(const Numbers& numbers, const LaneOutcome* outcomes) const {
        for (std::int64_t run = 0; run < runs.num_runs(); ++run) {
            for (std::ptrdiff_t number = 0; number <= num_numbers; ++number)
                add(run, number, numbers, outcomes);
        }
    }
};

}  // namespace eddy::inline v0::detail
