#pragma once
// What a solve is asked to do: times, tolerances, what to save, how much memory. One aggregate for
// designated initialisers; every default is safe.
// Test: tests/solve/validation.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/solve/ask/impulses.hpp>
#include <eddy/solve/ask/inputs.hpp>
#include <eddy/solve/ask/watcher.hpp>
#include <functional>
#include <initializer_list>
#include <limits>
#include <stop_token>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// An absolute tolerance: one number for all components, or one for each, from the same as times.
struct EDDY_EXPORT Tolerance {
    std::vector<double> values;

    Tolerance(double all);
    Tolerance(std::initializer_list<double> each) : values(each) {}
    Tolerance(std::vector<double> each) : values(std::move(each)) {}
    Tolerance(const Tolerance&);
    Tolerance(Tolerance&&) noexcept;
    Tolerance& operator=(const Tolerance&);
    Tolerance& operator=(Tolerance&&) noexcept;
    ~Tolerance();
    template <detail::Doubles Array>
    Tolerance(const Array& each) : values(detail::numbers_of(each)) {}

    [[nodiscard]] double operator[](int component) const {
        return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(component)];
    }
};

/// An all-gather of partial sums, for an ensemble that several processes share: `gather(sums,
/// num_columns)`. See SolveOptions::gather_sums.
using GatherSums = std::function<void(std::vector<double>& sums, std::ptrdiff_t num_columns)>;

/// Bytes that may be used, and whether anybody has said so: a device has a default of its own.
struct MemoryBudget {
    std::size_t bytes = std::size_t{256} << 20;
    bool is_set = false;

    constexpr MemoryBudget() = default;
    constexpr MemoryBudget(std::size_t given) : bytes(given), is_set(true) {}
    constexpr operator std::size_t() const { return bytes; }
};

/// Options of `solve`, `value_and_gradient`, `pullback`, `pushforward`, `sensitivities` and
/// `hessian_vector_product`. Times are in the unit of t. If t1 < t0, integration goes backward in
/// time, and lists of times descend, except knots of inputs.
struct SolveOptions {
    TimeOption t0 = 0;  ///< start time: of every trajectory, or `each(array)`
    /// end time, which must be given: of every trajectory, or `each(array)`
    TimeOption t1 = std::numeric_limits<double>::quiet_NaN();
    double rtol = 1e-6;  ///< relative tolerance, from 4 units in the last place to 1
    /// absolute tolerance in the unit of y: one number, or one for each component
    Tolerance atol = 1e-9;
    /// The save points, in the order of integration. Without any, only the end is saved. Steps do
    /// not end at save points, except for methods without dense output of sufficient order
    /// (`steps_to_save_points`). `each(array)`, of shape (trajectory, save point), gives each
    /// trajectory its own.
    SaveTimes save_at{};
    /// Saves every accepted step as well: `solution.num_steps(lane)`, `solution.step_t(lane, k)`,
    /// `solution.step_y(lane, k, i)`.
    bool save_steps = false;
    /// The tstops: times where a step must end. A save point that is also listed here is not
    /// interpolated. A trajectory whose own times leave one outside passes none there.
    Times step_to{};
    /// Times where f is discontinuous. A step ends at each. The step before it evaluates f only
    /// before the jump, the step after it only after the jump.
    Times jump_times{};
    /// Changes of the state at times that are known before, such as doses: `.impulses = {.times = {0, 12}, .amounts =
    /// 100}`.
    Impulses impulses{};
    /// Functions of time that the field reads, such as `piecewise_linear(knots, values)`, for a field with `input_size`. Their
    /// knots are jump times.
    Inputs inputs{};
    double dt0 = 0;     ///< size of the first step; 0: chosen by Hairer's rule
    double dt_min = 0;  ///< a trajectory whose adaptive step fails at this size ends there
    /// The largest size of an adaptive step.
    double dt_max = std::numeric_limits<double>::infinity();
    std::int64_t max_steps = 100'000;  ///< attempted steps of one trajectory, accepted or rejected
    /// Bytes that a gradient may use for states of the backward pass, all threads together. The
    /// default is 256 MiB; on a device it is a quarter of the free memory, at most 4 GiB.
    /// States that fit are stored. Otherwise the backward pass recomputes them from checkpoints.
    /// Memory is allocated as it is needed, so a large budget costs nothing. SIZE_MAX means all
    /// memory of the machine.
    MemoryBudget memory_budget{};
    /// States kept by each group of trajectories; 0: as many as the budget holds.
    std::int64_t checkpoints = 0;
    /// Gradients: if the steps of a trajectory do not resolve its derivative, it is solved once
    /// more with the tangents in the error norm. If false, such trajectories are only flagged:
    /// `report.unreliable(lane)`.
    bool stable_gradients = true;
    /// `pushforward`: tangents count in the error norm, with the tolerances of the state. If false,
    /// only the state controls the step size.
    bool tangents_in_error_norm = false;
    /// True shows a progress bar on standard error, if that is a terminal. A watcher of your own is
    /// called at the start of each call and can read its progress: see watcher.hpp.
    Watcher progress = false;
    /// Cancels the call from outside. A token stops once and for all. Therefore pass a new one to
    /// each call of a solver object, in place of this one.
    std::stop_token cancelled{};
    /// A function that the calling thread calls about every 50 ms. If it returns false, the call is
    /// cancelled. If it throws, the call ends and throws the same. Use it for signals of an
    /// interpreter or for messages of other processes.
    std::function<bool()> poll{};
    /// Your all-gather, for an ensemble that several processes share. The calling thread calls it
    /// once in each gradient call that has sums over trajectories.
    /// `sums` holds the partial sums of this process as (block, column), a block for each 64
    /// trajectories. The columns are the loss, if there is one, the components of shared
    /// parameters, and their tangents, if there are any.
    /// The function must replace `sums` by the blocks of all processes, in the order of their
    /// trajectories.
    /// The totals have the bits of a single process if every process except the last has a multiple
    /// of 64 trajectories. The parts of more than 64 shared parameters come as one row: their
    /// totals are right, but not to the last bit.
    GatherSums gather_sums{};
    /// The seed of the noise. This and the following options are for stochastic equations; only
    /// `paths` has a meaning for ordinary ones.
    /// A path has the number `first_path + lane * paths + path`, below 2^48. It depends only on
    /// seed and number, not on batch, method or machine.
    std::uint64_t seed = 0;
    /// Paths of each trajectory. With more than one, means and variances over the paths are kept,
    /// and the mean of the loss: `solution.mean(k)`, `solution.variance(k)`, `loss(lane)`.
    std::int64_t paths = 1;
    std::uint64_t first_path = 0;  ///< the number of the first path
    bool antithetic = false;       ///< path 2k + 1 is minus path 2k
    /// The interval of time with normals of its own: dt0, or dt0 times a power of two; 0: dt0. With
    /// the same cell, steps of any such dt0 follow the same path.
    double noise_cell = 0;
};

}  // namespace eddy::inline v0
