#pragma once
// Means and variances over the paths of each lane, of a solve and of its tangents.

#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/path_rows.hpp>
#include <eddy/solve/call/solution.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The mean of numbers that come one after another, and the sum of their squared distances from it
/// (Welford 1962, Technometrics 4(3)): nothing cancels, whatever the mean.
struct RunningMoments {
    double mean = 0, squares = 0;

    /// The n-th number.
    void add(double x, double per_n) {
        const double distance = x - mean;
        mean += distance * per_n;
        squares += distance * (x - mean);
    }
};

/// Solves a SolveWorkspace's problem with several paths to a lane.
template <class SolveWorkspace, class Spec>
class PathSolve {
    using Real = typename Spec::Scalar;

  public:
    template <class Backend>
    void run(SolveWorkspace& whole, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, const Cancellation& cancelled, const char* title) {
        Solution<Real>& solution = whole.solution;
        rows_.begin(options, whole.prepared.num_lanes());
        CallLink call(cancelled, options);
        const auto watching = call.watch(options.progress, title, rows_.total());
        begin_lane(solution);
        while (rows_.take(most_rows(solution), false)) {
            rows_.prepare(part_.prepared, whole.prepared.problem, title);
            part_.take({}, HostMemory{}, title);
            part_.within = &call;
            static_cast<void>(part_.run(rows_.options(), backend, kept, cancelled, title));
            rows_.for_each_lane([&](std::ptrdiff_t lane, std::ptrdiff_t first, std::ptrdiff_t end) {
                add_rows(solution, lane, first, end);
                if (rows_.ends_lane(end)) settle(solution, lane);
            });
            if (!call.is_cancelled()) continue;
            if (rows_.end() % rows_.paths() != 0) settle(solution, rows_.end() / rows_.paths());
            cancel_rest(rows_, options.t0, solution);
            return;
        }
    }

  private:
    /// As many as take some ten megabytes, whatever the machine.
    static std::int64_t most_rows(const Solution<Real>& solution) {
        const auto numbers = std::max<std::int64_t>(
            1, solution.num_saves() * solution.num_columns() * (Spec::is_dual ? 2 : 1));
        return std::clamp<std::int64_t>((std::int64_t{1} << 20) / numbers, 128, 1 << 16);
    }
    void begin_lane(const Solution<Real>& solution) {
        const auto numbers =
            static_cast<std::size_t>(solution.num_saves() * solution.num_columns());
        count_ = 0;
        moments_.assign(numbers, {});
        tangents_.assign(Spec::is_dual ? numbers : 0, {});
    }
    void add_rows(Solution<Real>& solution, std::ptrdiff_t lane, std::ptrdiff_t first,
                  std::ptrdiff_t end) {
        const Solution<Real>& rows = part_.solution;
        reached_.clear();
        for (std::ptrdiff_t row = first; row < end; ++row) {
            const LaneOutcome& outcome = rows.outcomes()[static_cast<std::size_t>(row)];
            solution.add_path(lane, outcome);
            solution.add_mark(lane, rows.unreliable(row));
            if (!is_failure(outcome.result)) reached_.push_back(row);
        }
        std::size_t number = 0;
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
            for (std::ptrdiff_t i = 0; i < solution.num_columns(); ++i, ++number) {
                add_column(moments_[number], rows.y(k), i);
                if constexpr (Spec::is_dual) add_column(tangents_[number], rows.tangent(k), i);
            }
        }
        count_ += static_cast<std::int64_t>(reached_.size());
    }
    void add_column(RunningMoments& moments, const EnsembleView<const Real>& y,
                    std::ptrdiff_t i) const {
        RunningMoments sum = moments;  // in registers
        auto n = static_cast<double>(count_);
        for (const std::ptrdiff_t row : reached_) sum.add(static_cast<double>(y(row, i)), 1 / ++n);
        moments = sum;
    }
    /// All paths of the lane are there.
    void settle(Solution<Real>& solution, std::ptrdiff_t lane) {
        std::size_t number = 0;
        for (std::ptrdiff_t k = 0; count_ > 0 && k < solution.num_saves(); ++k) {
            for (std::ptrdiff_t i = 0; i < solution.num_columns(); ++i, ++number) {
                const RunningMoments& y = moments_[number];
                solution.y_of(k)(lane, i) = static_cast<Real>(y.mean);
                if (count_ > 1)
                    solution.variance_of(k)(lane, i) =
                        static_cast<Real>(y.squares / static_cast<double>(count_ - 1));
                if constexpr (Spec::is_dual)
                    solution.tangent_of(k)(lane, i) = static_cast<Real>(tangents_[number].mean);
            }
        }
        begin_lane(solution);
    }

    PathRows<Spec> rows_;
    SolveWorkspace part_;
    // Of one lane: paths that reached the end, and (save point, column).
    std::int64_t count_ = 0;
    std::vector<RunningMoments> moments_, tangents_;
    std::vector<std::ptrdiff_t> reached_;
};

}  // namespace eddy::inline v0::detail
