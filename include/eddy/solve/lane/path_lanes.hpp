#pragma once
// From the sums of runs to what becomes of lanes, where the paths of a call are solved chunk by chunk: one text for the
// host and for a device that keeps them. A lane's runs are added in pairs, and whoever has the last of them
// hands out its means. The sums of a lane that goes on in the next chunk wait: one lane at most. Any thread may take
// any number of any lane.
// Test: tests/device/path_lanes.cu, tests/solve/device_paths.cpp

#include <cstdint>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <eddy/solve/lane/times.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// What is known of a lane whose paths are not all there.
template <class Sum>
struct WaitingLane {
    PairwiseSum<Sum>* sums = nullptr;  // (number)
    PathTally* tally = nullptr;
};

/// The lanes that some runs belong to. `Target` takes their means: put(lane, number, sum, count of paths), and
/// says how many numbers there are, and which of them are added over lanes in blocks.
template <class Sum, class Target>
struct PathLanes {
    RunSums<Sum> chunk;
    WaitingLane<Sum> before{};  // the lane that was begun before
    WaitingLane<Sum> after{};   // the one that goes on
    Target target;
    LaneOutcome* outcomes = nullptr;       // (lane)
    std::int64_t* failed_paths = nullptr;  // (lane)
    TangentMark* marks = nullptr;          // (lane); null: nobody watches
    std::int64_t first_lane = 0, num_lanes = 0;
    CallTimes times;
    bool is_cut = false;  // no paths follow: the call was cancelled

    static constexpr std::ptrdiff_t numbers_of_block = Target::num_of_block;

    /// Those lanes that some paths of the call belong to, and, where no paths follow them, all behind.
    [[nodiscard]] PathLanes of(const PathRuns& runs, bool none_follow) const {
        PathLanes part = *this;
        part.chunk.runs = runs;
        part.first_lane = runs.first_path / runs.paths;
        part.num_lanes =
            (none_follow ? num_lanes : (runs.end_path() - 1) / runs.paths + 1) - part.first_lane;
        part.is_cut = none_follow;
        return part;
    }
    /// How many numbers of a lane are summed.
    [[nodiscard]] std::ptrdiff_t num_numbers() const {
        return target.numbers_of_lane() + numbers_of_block;
    }
    [[nodiscard]] EDDY_HD std::int64_t end_lane() const { return first_lane + num_lanes; }
    /// The blocks that these lanes are in.
    [[nodiscard]] EDDY_HD std::int64_t first_block() const {
        return first_lane / target.lanes_of_block();
    }
    [[nodiscard]] EDDY_HD std::int64_t num_blocks() const {
        if (num_lanes == 0) return 0;
        return (end_lane() - 1) / target.lanes_of_block() - first_block() + 1;
    }
    /// One number of one lane, but for those that are added over lanes.
    EDDY_HD void finish(std::int64_t lane, std::ptrdiff_t number) const {
        const Sum sum = add_runs(lane, number);
        if (ends(lane)) target.put(lane, number, sum, count_of(lane));
    }
    /// One that is added over the lanes of a block, in their order.
    EDDY_HD void finish_block(std::int64_t block, std::ptrdiff_t number) const {
        const std::int64_t first = block * target.lanes_of_block(),
                           from = eddy::max(first, first_lane),
                           end = eddy::min(first + target.lanes_of_block(), end_lane());
        auto& sum_there = target.sum_of_block(block, number);
        auto sum = sum_there;
        if (begins(first)) sum = 0;
        for (std::int64_t lane = from; lane < end; ++lane) {
            const Sum of_lane = add_runs(lane, number);
            const std::int64_t count = count_of(lane);
            if (ends(lane) && count > 0) sum = sum + target.mean(of_lane, count);
        }
        sum_there = sum;
    }
    /// Finishes all blocks, one after another.
    void finish_all() const {
        for (std::int64_t lane = first_lane; lane < end_lane(); ++lane) {
            for (std::ptrdiff_t number = 0; number < target.numbers_of_lane(); ++number)
                finish(lane, number);
            tell(lane);
        }
        if constexpr (numbers_of_block > 0) {
            for (std::int64_t block = first_block(); block < first_block() + num_blocks(); ++block)
                for (std::ptrdiff_t number = 0; number < numbers_of_block; ++number)
                    finish_block(block, target.numbers_of_lane() + number);
        }
    }
    /// What became of its paths.
    EDDY_HD void tell(std::int64_t lane) const {
        PathTally tally;
        if (!begins(lane)) tally = *before.tally;
        const PathRuns::Range runs = chunk.runs.runs_of(lane);
        for (std::int64_t run = runs.begin; run < runs.end; ++run) tally.add(chunk.tallies[run]);
        if (!ends(lane)) {
            *after.tally = tally;
            return;
        }
        if (const std::int64_t rest = chunk.runs.paths - num_there(lane); rest > 0) {
            LaneOutcome never;
            never.result = Result::cancelled;
            never.t = times.of(Row{lane}).t0;
            tally.add(never, rest);
        }
        outcomes[lane] = tally.whole;
        failed_paths[lane] = tally.num_failed;
        if (marks) marks[lane] = tally.mark;
    }

  private:
    [[nodiscard]] EDDY_HD bool begins(std::int64_t lane) const {
        return lane * chunk.runs.paths >= chunk.runs.first_path;
    }
    [[nodiscard]] EDDY_HD bool ends(std::int64_t lane) const {
        return is_cut || num_there(lane) == chunk.runs.paths;
    }
    /// Paths of the lane up to here.
    [[nodiscard]] EDDY_HD std::int64_t num_there(std::int64_t lane) const {
        const std::int64_t paths = chunk.runs.paths, there = chunk.runs.end_path() - lane * paths;
        return there < 0 ? 0 : eddy::min(there, paths);
    }
    /// How many paths of a lane did not fail.
    [[nodiscard]] EDDY_HD std::int64_t count_of(std::int64_t lane) const {
        std::int64_t failed = begins(lane) ? 0 : before.tally->num_failed;
        const PathRuns::Range runs = chunk.runs.runs_of(lane);
        for (std::int64_t run = runs.begin; run < runs.end; ++run)
            failed += chunk.tallies[run].num_failed;
        return num_there(lane) - failed;
    }
    /// The sum over a lane's paths, if they are all there; else it goes on in the next chunk.
    [[nodiscard]] EDDY_HD Sum add_runs(std::int64_t lane, std::ptrdiff_t number) const {
        PairwiseSum<Sum> sum;
        if (!begins(lane)) sum.go_on(before.sums[number]);
        if (number < chunk.num_numbers) {
            const PathRuns::Range runs = chunk.runs.runs_of(lane);
            for (std::int64_t run = runs.begin; run < runs.end; ++run)
                sum.add(chunk.sums[run * chunk.num_numbers + number]);
        } else if (chunk.runs.num_rows > 0) {  // added over the whole chunk, which is of one lane
            sum.add(target.sum_of_chunk(number));
        }
        if (!ends(lane)) after.sums[number].go_on(sum);
        return sum.total();
    }
};

/// How many paths of a call are solved at a time: whole runs, one at least; where `within_lanes`, of one lane.
struct PathChunks {
    std::int64_t most_rows = 0;
    bool within_lanes = false;

    /// The most paths of a chunk.
    template <class Lanes>
    [[nodiscard]] std::int64_t num_rows(const Lanes& lanes) const {
        const std::int64_t paths = lanes.chunk.runs.paths;
        return PathRuns::most_rows(within_lanes ? paths : lanes.num_lanes * paths, most_rows);
    }
    /// Solves chunk after chunk, solve(sums of its runs), and finishes the lanes that its paths belong to, finish(lanes).
    template <class Lanes, class IsCancelled, class Solve, class Finish>
    void run(Lanes all, const IsCancelled& is_cancelled, const Solve& solve,
             const Finish& finish) const {
        PathRuns runs{all.chunk.runs.paths};
        const std::int64_t total = all.num_lanes * runs.paths;
        while ((runs = runs.next(total, most_rows, within_lanes)).num_rows > 0) {
            const Lanes of_chunk = all.of(runs, false);
            solve(of_chunk.chunk);
            finish(of_chunk);
            std::swap(all.before, all.after);
            if (is_cancelled() && runs.end_path() < total)
                return finish(all.of(PathRuns{runs.paths, runs.end_path(), 0}, true));
        }
    }
};

}  // namespace eddy::inline v0::detail
