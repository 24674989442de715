#pragma once
// What a solve is asked to do: times, tolerances, what to save, how much memory. One aggregate for
// designated initialisers; every default is safe.

#include <cstddef>
#include <cstdint>
#include <eddy/solve/ask/watcher.hpp>
#include <functional>
#include <initializer_list>
#include <limits>
#include <stop_token>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

template <class Array>
concept Doubles = requires(const Array& array) {
    static_cast<const double*>(array.data());
    array.size();
};

/// A copy of all, in order: of a span, or of an Eigen array, as its strides say, such as a row of a table.
template <Doubles Array>
[[nodiscard]] std::vector<double> numbers_of(const Array& array) {
    const double* const first = array.data();
    const auto size = static_cast<std::ptrdiff_t>(array.size());
    if constexpr (requires { array.innerStride() + array.outerStride() + array.innerSize(); }) {
        std::vector<double> numbers;
        numbers.reserve(static_cast<std::size_t>(size));
        for (std::ptrdiff_t k = 0; k < size; ++k) {
            const std::ptrdiff_t outer = k / array.innerSize(), inner = k % array.innerSize();
            numbers.push_back(first[outer * array.outerStride() + inner * array.innerStride()]);
        }
        return numbers;
    } else {
        return std::vector<double>(first, first + size);
    }
}

}  // namespace detail

/// A list of times: from a braced list, a std::vector, or any array of doubles (a span, an Eigen array,
/// a row or column of one).
struct Times {
    std::vector<double> values;

    Times() = default;
    Times(std::initializer_list<double> times) : values(times) {}
    Times(std::vector<double> times) : values(std::move(times)) {}
    template <detail::Doubles Array>
    Times(const Array& array) : values(detail::numbers_of(array)) {}
};

/// An absolute tolerance: one number for all components, or one for each, from the same as times.
struct Tolerance {
    std::vector<double> values;

    Tolerance(double all) : values{all} {}
    Tolerance(std::initializer_list<double> each) : values(each) {}
    Tolerance(std::vector<double> each) : values(std::move(each)) {}
    template <detail::Doubles Array>
    Tolerance(const Array& each) : values(detail::numbers_of(each)) {}

    [[nodiscard]] double operator[](int component) const {
        return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(component)];
    }
};

/// Puts the lanes of several processes together, see SolveOptions::gather_sums: gather(sums, columns).
using GatherSums = std::function<void(std::vector<double>& sums, std::ptrdiff_t num_columns)>;

/// Bytes that may be used, and whether anybody has said so: a device has a default of its own.
struct MemoryBudget {
    std::size_t bytes = std::size_t{256} << 20;
    bool is_set = false;

    constexpr MemoryBudget() = default;
    constexpr MemoryBudget(std::size_t given) : bytes(given), is_set(true) {}
    constexpr operator std::size_t() const { return bytes; }
};

/// Options of `solve`, `value_and_gradient`, `pullback` and `pushforward`. Times are in the unit of
/// t. Integration goes backward where t1 < t0; lists of times then descend.
struct SolveOptions {
    double t0 = 0;  ///< where every trajectory begins
    double t1 =
        std::numeric_limits<double>::quiet_NaN();  ///< where every trajectory ends; must be given
    double rtol = 1e-6;     ///< relative tolerance: at least 4 units in the last place, at most 1
    Tolerance atol = 1e-9;  ///< absolute tolerance, in the unit of y: a number, or one a component
    /// Save points, in the order of integration; only the end where there are none. A step ends at
    /// each where the method has no dense output of nearly its order (`steps_to_save_points`).
    Times save_at{};
    /// Every accepted step as well: solution.num_steps(lane), solution.step_t(lane, k),
    /// solution.step_y(lane, k, i).
    bool save_steps = false;
    /// Times that a step must end at; with the save points in it, they are not interpolated.
    Times step_to{};
    /// Times where f is discontinuous. f is asked on either side, never across.
    Times jump_times{};
    double dt0 = 0;     ///< the size of the first step; 0: Hairer's rule chooses
    double dt_min = 0;  ///< an adaptive step that fails at this size ends its trajectory
    /// The largest size of an adaptive step.
    double dt_max = std::numeric_limits<double>::infinity();
    std::int64_t max_steps = 100'000;  ///< attempted steps of one trajectory, accepted or rejected
    /// Bytes that a gradient may use for states on the way back, all threads together; 256 MiB. What
    /// fits is stored; else states are computed again from checkpoints. Memory is taken as it is used:
    /// a large budget costs nothing, and SIZE_MAX means all that the machine has.
    /// On a device the default is a quarter of its free memory, 4 GiB at most.
    MemoryBudget memory_budget{};
    /// States kept by each group of lanes; 0: as many as the budget holds.
    std::int64_t checkpoints = 0;
    /// Gradients: solve a lane once more, its tangents in the error norm, where its steps do not carry
    /// its derivative. Else report.unreliable(lane) tells.
    bool stable_gradients = true;
    /// `pushforward`: the errors of tangents count as those of the state do, by the same tolerances.
    /// Else steps are those of the state alone.
    bool tangents_in_error_norm = false;
    /// True: a bar on standard error, where that is a terminal. Or a watcher of your own, which is
    /// told of each call and reads how far it is: see watcher.hpp.
    Watcher progress = false;
    /// Stops the call from outside. A token stops once and for all: give a solver object, which is
    /// called again, one with each call instead.
    std::stop_token cancelled{};
    /// Asked by the calling thread about every 50 ms whether to go on: false cancels the call, and
    /// what it throws ends the call and is thrown. For callers that must look after something
    /// meanwhile, such as the signals of an interpreter or messages of other processes.
    std::function<bool()> poll{};
    /// Where several processes share the lanes: called once in every call of a gradient, by the
    /// calling thread, with the sums over each block of 64 of this process's lanes, (block, column):
    /// the loss, where there is one, then the components of shared parameters (and then their
    /// tangents). It leaves there the blocks of all processes, in the order of their lanes. The
    /// totals then have the bits of one process with all lanes, if every process but the last has a
    /// multiple of 64 of them. (The parts of more than 64 shared parameters come as one row, so that
    /// their totals are right, but not to the last bit.) Nothing to add over lanes: it is not called.
    GatherSums gather_sums{};
    /// Of stochastic equations, from here on; ordinary ones, which follow no path, do not look at these
    /// but for `paths`. A path has the number first_path + lane * paths + path, below 2^48, and
    /// is a function of seed and number alone, whatever the batch, method and machine.
    std::uint64_t seed = 0;
    /// More than one: each lane is so many paths, of which means and variances are kept, and the mean
    /// of the loss: solution.mean(k), solution.variance(k), loss(lane).
    std::int64_t paths = 1;
    std::uint64_t first_path = 0;  ///< the number of the first path
    bool antithetic = false;       ///< path 2k + 1 is minus path 2k
    /// Stretches of time with normals of their own, dt0 or dt0 times a power of two: with the same
    /// cell, steps of any such dt0 follow the same path. 0: dt0.
    double noise_cell = 0;
};

}  // namespace eddy::inline v0
