#pragma once
// The path that the steps of each place follow: of noise, where it is in time; and what rounds of
// constant size keep of the normals that neighbouring steps share.
// Test: tests/solve/oracle_noise.cpp, tests/solve/stochastic_path.cpp

#include <eddy/solve/lane/problem.hpp>

namespace eddy::inline v0::detail {

/// The normals of each chain of one round, for those who keep them; null where nobody does.
template <class Spec>
struct NormalsOfRound {
    typename Spec::Single* first = nullptr;
    std::int64_t stride = 0;  // from chain to chain

    [[nodiscard]] EDDY_INLINE EDDY_HD typename Spec::Single* of(int chain) const {
        return first ? first + chain * stride : nullptr;
    }
};

template <class Spec>
requires(Spec::normals_per_step == 0) struct NormalsOfRound<Spec> {
    [[nodiscard]] EDDY_HD static constexpr typename Spec::Single* of(int) { return nullptr; }
};

/// The cells of steps of constant size, each of which is a cell or several: how many there were before the last tstop.
template <class Time>
struct PassedCells {
    Time passed;

    EDDY_HD void begin(double, int) { passed = Time(0); }
    EDDY_HD void head_for(int place, const CellRow& row) { set_lane(passed, place, row.first); }
};

/// The path of noise that the steps of a Number's places follow.
template <class Spec>
class ChainPath {
    using Time = typename Spec::Time;
    using Single = typename Spec::Single;
    using Path = typename Spec::Path;

  public:
    EDDY_HD void begin([[maybe_unused]] const Problem<Spec>& problem) {
        if constexpr (Spec::has_path) lanes_ = Time(0);
        if constexpr (Spec::has_noise) cells_.begin(problem.noise.cell, problem.noise.level);
    }
    EDDY_HD void assign([[maybe_unused]] int place, [[maybe_unused]] LaunchLane lane) {
        if constexpr (Spec::has_path) set_lane(lanes_, place, static_cast<double>(lane));
    }
    /// The steps of a place head for a tstop of its lane; it has none where it is −1.
    EDDY_HD void head_for([[maybe_unused]] const Problem<Spec>& problem, [[maybe_unused]] int place,
                          [[maybe_unused]] LaunchLane lane, [[maybe_unused]] std::int32_t tstop) {
        if constexpr (Spec::has_noise)
            cells_.head_for(place, tstop < 0 ? CellRow{} : problem.cells_of(lane)[tstop]);
    }

    /// The path of a step; root(noise) is asked for √size and steps() for the number of steps since the last tstop,
    /// where sizes are constant; and the normals of the step, if they are at hand.
    template <class Root, class Steps>
    [[nodiscard]] EDDY_INLINE EDDY_HD Path of([[maybe_unused]] const Problem<Spec>& problem,
                                              [[maybe_unused]] const Time& elapsed,
                                              [[maybe_unused]] const Time& size,
                                              [[maybe_unused]] const Root& root,
                                              [[maybe_unused]] const Steps& steps,
                                              [[maybe_unused]] const Single* normals) const {
        if constexpr (Spec::has_dyadic_steps)
            return Path({lanes_, elapsed, size}, problem.noise,
                        cells_.noise_at(cells_.place_at(elapsed), size));
        else if constexpr (Spec::has_noise)
            return Path({lanes_, elapsed, size}, root(problem.noise), problem.noise,
                        {cells_.passed, steps()}, normals);
        else if constexpr (Spec::has_path)
            return Path(StepInterval<Time>{lanes_, elapsed, size});
        else
            return {};
    }
    /// The cells of dyadic steps.
    [[nodiscard]] EDDY_INLINE EDDY_HD const auto& cells() const { return cells_; }

    // Rounds of constant size, whose normals belong to them alone where a cell is a step.

    /// The normals of several steps, drawn together, taken one after another.
    struct Drawn {
        static constexpr int count =
            steps_to_a_block(Spec::num_noises) * blocks_at_once<typename Spec::Time>;
        Single z[count][Spec::normals_per_step];
        int next = count;         // of them; `count`: others have to be drawn
        bool has_begun = false;   // in single rounds
        bool is_in_step = false;  // are all places at the same of them?
    };
    /// Begins with the step that comes after so many. False where each place has to draw its own.
    [[nodiscard]] EDDY_HD bool begin_drawing(Drawn& drawn, const Time& steps,
                                             const MaskOf<Time>& occupied,
                                             const NoisePlan& plan) const {
        const Time cell = cells_.passed + steps;
        constexpr int of_block = steps_to_a_block(Spec::num_noises);
        const Time phase = cell - floor(cell * Time(1. / of_block)) * Time(of_block);
        double least = of_block, most = -1;
        for (int place = 0; place < Spec::num_places; ++place) {
            if (!get_lane(occupied, place)) continue;
            least = min(least, get_lane(phase, place));
            most = max(most, get_lane(phase, place));
        }
        if (plan.level != 0 || least < most) return false;
        drawn.next = Drawn::count;
        if (most <= 0) return true;
        draw(drawn, steps, plan);
        drawn.next = static_cast<int>(most);
        return true;
    }
    /// The normals of the step after so many.
    [[nodiscard, gnu::returns_nonnull]] EDDY_INLINE EDDY_HD const Single* normals(
        Drawn& drawn, const Time& steps, const NoisePlan& plan) const {
        if (drawn.next == Drawn::count) {
            draw(drawn, steps, plan);
            drawn.next = 0;
        }
        return drawn.z[drawn.next++];
    }
    /// Draws the normals of the cell after so many steps, of all that share a block with it, and of the
    /// next block.
    EDDY_INLINE EDDY_HD void draw(Drawn& drawn, const Time& steps, const NoisePlan& plan) const {
        noise(plan).template root_of_cells<Spec::num_noises>(as_counts(cells_.passed + steps),
                                                             drawn.z);
    }
    /// Draws the normals of a single step.
    EDDY_HD void draw_one(const Time& steps, Single* normals, const NoisePlan& plan) const {
        Single z[Spec::normals_per_step];
        noise(plan).template root_of_cell<Spec::num_noises>(as_counts(cells_.passed + steps), z);
        for_components<Spec::normals_per_step>([&](int i) { normals[i] = z[i]; });
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD PathNoise<Time> noise(const NoisePlan& plan) const {
        using Counts = typename CountsOf<Time>::type;
        return {plan.key, as_counts(lanes_) + Counts(plan.first_path), plan.antithetic};
    }

    struct NoLanes {};
    struct NoCells {};
    [[no_unique_address]] std::conditional_t<
        Spec::has_dyadic_steps, DyadicGrid<Time>,
        std::conditional_t<Spec::has_noise, PassedCells<Time>, NoCells>>
        cells_;
    // Last, for it is empty only where all is (see ChainState).
    [[no_unique_address]] std::conditional_t<Spec::has_path, Time, NoLanes> lanes_;
};

}  // namespace eddy::inline v0::detail
