#pragma once
// All lanes of a call with the same steps. Tiles make their attempts one beside the other; then their
// norms become one, added in the order of the lanes, so that neither threads nor the size of a tile
// change a bit of it; then each tile is told. A lane that has ended, well or not, is no part of the norm.
// Test: tests/backends/joint_steps.cpp

#include <algorithm>
#include <eddy/backends/tiles/solve_tiles.hpp>
#include <limits>
#include <vector>

namespace eddy::inline v0::detail {

/// The steps that all lanes have made.
struct JointSteps {
    std::vector<double> elapsed, size;  // (step); elapsed at its start

    [[nodiscard]] std::int64_t num_bytes() const {
        return static_cast<std::int64_t>((elapsed.capacity() + size.capacity()) * sizeof(double));
    }
};

/// A tile that waits for the others between an attempt and its verdict, in memory of its own.
template <class Spec, class Recorder>
struct JointTile {
    TileSolve<Spec, Recorder, false> solve;
    typename Spec::Scalar* y;
    Recorder recorder;

    static constexpr int most_lanes = tile_lanes<Spec, false>;

    JointTile(const Problem<Spec>& problem, const Recorder& with, Arena& arena)
        : solve(problem, arena),
          y(arena.take<typename Spec::Scalar>(std::int64_t{Spec::state_size} * most_lanes)),
          recorder(with) {}
};

/// What a solve keeps for the next one, which then allocates nothing.
template <class Spec, class Recorder>
struct JointLists {
    JointSteps steps;
    std::vector<JointTile<Spec, Recorder>> tiles;
    std::vector<float> norms;           // (lane)
    std::vector<LaneOutcome> outcomes;  // (lane), where lanes are solved twice

    void begin(std::ptrdiff_t num_tiles, std::ptrdiff_t num_lanes) {
        steps.elapsed.clear();
        steps.size.clear();
        tiles.clear();
        tiles.reserve(static_cast<std::size_t>(num_tiles));
        norms.resize(static_cast<std::size_t>(num_lanes));
    }
};

/// A team that lanes end in twice: the second time it counts.
template <class Team>
struct UncountingTeam {
    Team* team;
    [[nodiscard]] bool attend() { return team->attend(); }
    void ended(const LaneOutcome&) const {}
};

/// `counts`: do the lanes that end here count as ended?
template <class Spec, class Recorder, bool counts>
class JointSolve {
    using Tile = JointTile<Spec, Recorder>;
    using Team = TileTeam<Spec>;

  public:
    using Lists = JointLists<Spec, Recorder>;

    /// recorder(first lane) for each tile.
    template <class MakeRecorder>
    JointSolve(const LaunchPlan& tiles, const ThreadLink& link, const Problem<Spec>& problem,
               LaneOutcome* outcomes, const MakeRecorder& recorder, ArenaMemory& memory,
               Lists& lists)
        : plan_(tiles),
          link_(link),
          outcomes_(outcomes),
          steps_(lists.steps),
          tiles_(lists.tiles),
          norms_(lists.norms) {
        lists.begin(plan_.num_groups(), plan_.num_lanes);
        const auto lay_out = [&](Arena& arena, const auto& take) {
            for (std::ptrdiff_t tile = 0; tile < plan_.num_groups(); ++tile)
                take(Tile(problem, recorder(plan_.first_lane(tile)), arena));
        };
        Arena counting;
        lay_out(counting, [](const Tile&) {});
        Arena arena = memory.arena(counting.num_bytes());
        num_bytes_ = static_cast<std::int64_t>(
            counting.num_bytes() + static_cast<std::size_t>(plan_.num_groups()) * sizeof(Tile) +
            norms_.size() * sizeof(float));
        lay_out(arena, [&](const Tile& tile) { tiles_.push_back(tile); });
    }

    /// Bytes that it works in, without the steps.
    [[nodiscard]] std::int64_t num_bytes() const { return num_bytes_; }

    void run(const LaneTimes& times) {
        for_tiles([&](Tile& tile, Team& team) {
            tile.solve.begin(team.first_lane(), team.num_lanes(), 0, tile.recorder,
                             outcomes_ + team.first_lane(), tile.y);
        });
        const double first_size = smallest_first_size(times);
        for_tiles([&](Tile& tile, Team& team) {
            tile.solve.begin_with(first_size);
            attempt(tile, team);
        });
        while (combine_norms()) {
            for_tiles([&](Tile& tile, Team& team) {
                if (tile.solve.is_done()) return;
                take_verdicts(tile, team);
                attempt(tile, team);
            });
        }
    }

  private:
    static constexpr float has_ended = -1;  // in place of a norm

    void attempt(Tile& tile, const Team& team) {
        if (!tile.solve.is_done()) tile.solve.attempt(tile.y);
        float* const norms = norms_.data() + team.first_lane();
        for (int lane = 0; lane < team.num_lanes(); ++lane)
            norms[lane] = tile.solve.clock(lane).is_running() ? tile.solve.step().squared_norm(lane)
                                                              : has_ended;
    }
    void take_verdicts(Tile& tile, Team& team) {
        if constexpr (counts) {
            tile.solve.take_joint_verdict(tile.y, team, norm_);
        } else {
            UncountingTeam<Team> quiet{&team};
            tile.solve.take_joint_verdict(tile.y, quiet, norm_);
        }
    }

    /// The mean of the squared norms of lanes that run, NaN where one is not finite. False: there are none.
    bool combine_norms() {
        double sum = 0;
        std::ptrdiff_t count = 0, last = 0;
        for (std::ptrdiff_t lane = 0; lane < plan_.num_lanes; ++lane) {
            const float norm = norms_[static_cast<std::size_t>(lane)];
            if (norm == has_ended) continue;
            sum += norm <= std::numeric_limits<float>::max()
                       ? static_cast<double>(norm)
                       : std::numeric_limits<double>::quiet_NaN();
            ++count;
            last = lane;
        }
        if (count == 0) return false;
        norm_ = static_cast<float>(sum / static_cast<double>(count));
        if (norm_ <= 1) {
            const auto& clock =
                tiles_[static_cast<std::size_t>(last / Tile::most_lanes)].solve.clock(
                    static_cast<int>(last % Tile::most_lanes));
            steps_.elapsed.push_back(clock.before());
            steps_.size.push_back(clock.size());
        }
        return true;
    }
    /// No lane begins with a larger step than it would alone. One whose field is not finite at its start
    /// ends soon, and is not asked: its size says nothing.
    [[nodiscard]] double smallest_first_size(const LaneTimes& times) {
        if (times.dt0 != 0) return times.dt0;
        double smallest = std::numeric_limits<double>::infinity(), least = smallest;
        for (Tile& tile : tiles_) {
            for (int lane = 0; lane < tile.solve.step().num_lanes(); ++lane) {
                const double size = tile.solve.first_size(lane);
                least = std::min(least, size);
                if (tile.solve.step().has_finite_slope(lane)) smallest = std::min(smallest, size);
            }
        }
        return std::isinf(smallest) ? least : smallest;
    }

    /// work(tile, team) for all tiles, by all threads.
    template <class Work>
    void for_tiles(const Work& work) {
        struct OnThreads {
            JointSolve& solve;
            const Work& work;

            void operator()(std::ptrdiff_t worker, std::ptrdiff_t tile) const {
                Team team(solve.link_, solve.plan_, worker, tile);
                work(solve.tiles_[static_cast<std::size_t>(tile)], team);
            }
            [[nodiscard]] bool attends() const { return solve.link_.call->has_poll(); }
            void attend() const { solve.link_.call->poll(); }
        };
        OnThreads on_threads{*this, work};
        link_.others->for_each_group(plan_.num_groups(), plan_.num_workers, on_threads);
    }

    LaunchPlan plan_;
    ThreadLink link_;
    LaneOutcome* outcomes_;
    JointSteps& steps_;
    std::vector<Tile>& tiles_;
    std::vector<float>& norms_;
    std::int64_t num_bytes_ = 0;
    float norm_ = 0;
};

}  // namespace eddy::inline v0::detail
