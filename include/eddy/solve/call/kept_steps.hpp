#pragma once
// The accepted steps of lanes that kernels solve which cannot allocate: one solve writes them into rows, as
// many as the memory budget has room for. Only where a lane takes more there is a second, with room for
// the steps that the first has counted.
// Test: tests/solve/device_calls.cpp

#include <algorithm>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/lane/solution_recorder.hpp>
#include <list>
#include <numeric>
#include <span>
#include <vector>

namespace eddy::inline v0::detail {

/// The accepted steps of a solution, where they are wanted.
template <class Real>
struct StepsOfSolution {
    Solution<Real>* solution = nullptr;  // null: nobody wants them

    [[nodiscard]] bool is_wanted() const { return solution != nullptr; }
    template <class State>
    void append(std::ptrdiff_t lane, const TakenStep& step, const State& y) const {
        Real values[State::size()];
        for (int i = 0; i < State::size(); ++i) values[i] = primal(y[i]);
        solution->append_step(lane, step.t, values);
    }
};

/// How many steps of each lane the budget has room for: not more than a lane can take.
template <class Spec>
[[nodiscard]] std::int64_t rows_of_steps(const CallTimes& times, std::ptrdiff_t num_lanes,
                                         const MemoryLimits& limits) {
    constexpr std::int64_t bytes_of_step =
        sizeof(double) + Spec::state_size * sizeof(typename Spec::Scalar);
    return std::min(
        most_rounds_of_lane(times, !Spec::counts_steps) + 1,
        budget_of_worker(limits, 1).bytes / bytes_of_step / std::max<std::int64_t>(1, num_lanes));
}

[[nodiscard]] inline bool any_cancelled(std::span<const LaneOutcome> lanes) {
    return std::any_of(lanes.begin(), lanes.end(),
                       [](const LaneOutcome& lane) { return lane.result == Result::cancelled; });
}

/// Calls append(lane, t, numbers) for each step of the lanes that run_kernel(steps) solves, which keeps a time and
/// `size` numbers of it; for none where the call was cancelled.
template <class Steps, int size, class RunKernel, class IsCancelled, class Append>
void keep_steps(std::ptrdiff_t num_lanes, std::int64_t num_rows, const RunKernel& run_kernel,
                const IsCancelled& is_cancelled, const Append& append) {
    using Real = typename Steps::Real;
    std::vector<std::int64_t> count(static_cast<std::size_t>(num_lanes));
    const auto append_lane = [&](std::ptrdiff_t lane, const double* t, const Real* y,
                                 std::ptrdiff_t stride) {
        for (std::int64_t k = 0; k < count[static_cast<std::size_t>(lane)]; ++k)
            append(lane, t[k * stride], y + k * stride * size);
    };
    std::list<StepRows<Real>> rows;
    run_kernel(Steps{.count = count.data(), .num_rows = num_rows, .rows = &rows});
    if (is_cancelled()) return;
    if (std::all_of(count.begin(), count.end(), [&](auto steps) { return steps <= num_rows; })) {
        for (const StepRows<Real>& part : rows) {
            for (std::ptrdiff_t lane = 0; lane < part.num_lanes; ++lane)
                append_lane(part.first_lane + lane, part.t.data() + lane,
                            part.y.data() + lane * size, part.num_lanes);
        }
        return;
    }
    std::vector<std::int64_t> first(count.size() + 1);
    std::partial_sum(count.begin(), count.end(), first.begin() + 1);
    std::vector<double> t(static_cast<std::size_t>(first.back()));
    std::vector<Real> y(t.size() * size);
    run_kernel(Steps{.count = count.data(), .first = first.data(), .t = t.data(), .y = y.data()});
    if (is_cancelled()) return;
    for (std::size_t lane = 0; lane < count.size(); ++lane)
        append_lane(static_cast<std::ptrdiff_t>(lane), t.data() + first[lane],
                    y.data() + first[lane] * size, 1);
}

}  // namespace eddy::inline v0::detail
