#pragma once
// The accepted steps of lanes that kernels solve which cannot allocate: one solve writes them into rows, as
// many as the memory budget has room for. Only where a lane takes more there is a second, with room for
// the steps that the first has counted.

#include <algorithm>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/lane/solution_recorder.hpp>
#include <list>
#include <numeric>
#include <vector>

namespace eddy::inline v0::detail {

/// How many steps of each lane the budget has room for: not more than a lane can take.
template <class Spec>
[[nodiscard]] std::int64_t rows_of_steps(const LaneTimes& times, std::ptrdiff_t num_lanes,
                                         const MemoryLimits& limits) {
    constexpr std::int64_t bytes_of_step =
        sizeof(double) + Spec::state_size * sizeof(typename Spec::Scalar);
    return std::min(
        most_rounds_of_lane(times, !Spec::counts_steps) + 1,
        budget_of_worker(limits, 1).bytes / bytes_of_step / std::max<std::int64_t>(1, num_lanes));
}

/// Puts the steps of a solve into its solution; run_kernel(steps) runs it.
template <class Spec>
class KeptSteps {
    using Real = typename Spec::Scalar;

  public:
    explicit KeptSteps(Solution<Real>& solution)
        : solution_(&solution), count_(static_cast<std::size_t>(solution.num_lanes())) {}

    /// A call that was cancelled keeps none.
    template <class RunKernel>
    void run(const RunKernel& run_kernel, std::int64_t num_rows) {
        std::list<StepRows<Real>> rows;
        run_kernel(StepArrays<Real>{.count = count_.data(), .num_rows = num_rows, .rows = &rows});
        if (is_cancelled()) return;
        const auto largest = std::max_element(count_.begin(), count_.end());
        if (largest != count_.end() && *largest > num_rows) return run_again(run_kernel);
        for (const StepRows<Real>& part : rows) {
            for (std::ptrdiff_t lane = 0; lane < part.num_lanes; ++lane)
                append(part.first_lane + lane, part.t.data() + lane,
                       part.y.data() + lane * Spec::state_size, part.num_lanes);
        }
    }

  private:
    [[nodiscard]] bool is_cancelled() const {
        if (solution_->success()) return false;
        const auto lanes = solution_->outcomes();
        return std::any_of(lanes.begin(), lanes.end(), [](const LaneOutcome& lane) {
            return lane.result == Result::cancelled;
        });
    }
    template <class RunKernel>
    void run_again(const RunKernel& run_kernel) {
        std::vector<std::int64_t> first(count_.size() + 1);
        std::partial_sum(count_.begin(), count_.end(), first.begin() + 1);
        std::vector<double> t(static_cast<std::size_t>(first.back()));
        std::vector<Real> y(t.size() * Spec::state_size);
        run_kernel(StepArrays<Real>{
            .count = count_.data(), .first = first.data(), .t = t.data(), .y = y.data()});
        if (is_cancelled()) return;
        for (std::size_t lane = 0; lane < count_.size(); ++lane)
            append(static_cast<std::ptrdiff_t>(lane), t.data() + first[lane],
                   y.data() + first[lane] * Spec::state_size, 1);
    }
    /// A lane's, of which every `stride`-th is its.
    void append(std::ptrdiff_t lane, const double* t, const Real* y, std::ptrdiff_t stride) {
        for (std::int64_t k = 0; k < count_[static_cast<std::size_t>(lane)]; ++k)
            solution_->append_step(lane, t[k * stride], y + k * stride * Spec::state_size);
    }

    Solution<Real>* solution_;
    std::vector<std::int64_t> count_;  // (lane)
};

}  // namespace eddy::inline v0::detail
