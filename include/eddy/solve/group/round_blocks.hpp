#pragma once
// The steps of a gradient's sweeps: one round each, or a block of rounds of constant size; of noise, as many as
// it is drawn for at a time. Of a block the state before it alone is kept, and the others are computed
// once more on the way back: such a step takes less time than keeping its state.
// Test: tests/solve/device_blocks.cpp

#include <eddy/checkpoint/sweeps.hpp>
#include <eddy/solve/group/calm_rounds.hpp>
#include <eddy/solve/group/gradient_memory.hpp>

namespace eddy::inline v0::detail {

/// Blocks of one round: rounds that are steps by themselves.
struct SingleRounds {
    static constexpr int most = 1;

    template <class Problem>
    EDDY_HD void begin(const Problem&, const GradientPlan&) {}
    EDDY_HD void restart() {}
    EDDY_HD void reach(std::int64_t) {}
    EDDY_HD void take_again(std::int64_t) {}
    [[nodiscard]] EDDY_HD static std::int64_t first(std::int64_t step) { return step; }
    [[nodiscard]] EDDY_HD static LoopCounters in_rounds(const LoopCounters& steps) { return steps; }
};

/// Blocks of rounds of constant size.
template <class Spec>
class RoundBlocks {
  public:
    static constexpr int most = CalmRounds<Spec>::most;

    /// Blocks are worth it where few rounds land or save, and the log has the normals of all, if there are any. Noise
    /// has blocks as long as it is drawn for.
    EDDY_HD void begin(const Problem<Spec>& problem, const GradientPlan& plan) {
        const CallTimes& times = problem.times;
        const bool logs_all = plan.last_round < plan.logged_rounds && problem.takes_whole_cells();
        const double ends = times.num_tstops + times.num_saves;
        constexpr int least = Spec::normals_per_step > 0 ? most : min(most, 12);
        const double room = times.span / (4 * times.dt0 * ends);
        length_ = logs_all && room >= least ? static_cast<int>(min(room, double{most})) : 1;
    }
    EDDY_HD void restart() { rounds_ = taken_again_ = calm_from_ = calm_to_ = 0; }
    /// Says how many rounds have been taken.
    EDDY_HD void reach(std::int64_t rounds) { rounds_ = rounds; }
    EDDY_HD void take_again(std::int64_t rounds) { taken_again_ += rounds; }

    /// The first round of a step, and how many it has: the last one may have fewer.
    [[nodiscard]] EDDY_HD std::int64_t first(std::int64_t step) const { return step * length_; }
    [[nodiscard]] EDDY_HD int count(std::int64_t step) const {
        return static_cast<int>(min(std::int64_t{length_}, rounds_ - first(step)));
    }
    /// Rounds between these two are calm, as far as is known.
    EDDY_HD void set_calm(std::int64_t from, std::int64_t to) {
        calm_from_ = from;
        calm_to_ = to;
    }
    [[nodiscard]] EDDY_HD bool are_calm(std::int64_t first, int count) const {
        return calm_from_ < first && first + count <= calm_to_;
    }
    /// How many rounds from `first` on are before the first calm one.
    [[nodiscard]] EDDY_HD int first_calm(std::int64_t first) const {
        return static_cast<int>(max(calm_from_ + 1 - first, std::int64_t{0}));
    }

    /// The counts of a loop over such steps, in rounds.
    [[nodiscard]] EDDY_HD LoopCounters in_rounds(const LoopCounters& steps) const {
        LoopCounters rounds = steps;
        rounds.pullbacks = rounds_;
        rounds.recomputed = taken_again_;
        rounds.advances = rounds_ + taken_again_;
        return rounds;
    }

  private:
    int length_ = 1;
    std::int64_t rounds_ = 0, taken_again_ = 0;
    std::int64_t calm_from_ = 0, calm_to_ = 0;  // of a wave
};

}  // namespace eddy::inline v0::detail
