#pragma once
// Means and variances over the paths of each lane, of a solve and of its tangents.

#include <algorithm>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/path_rows.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/group/solve_kernel.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <vector>

namespace eddy::inline v0::detail {

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
            sums_ = memory_.open(rows_.runs(), num_numbers(solution));
            // Rows that a device has solved stay there: it adds up their runs.
            if constexpr (!is_of_host<typename Backend::Memory>) part_.sums = sums_;
            static_cast<void>(part_.run(rows_.options(), backend, kept, cancelled, title));
            if constexpr (is_of_host<typename Backend::Memory>) add_rows(solution);
            add_runs(solution);
            if (!call.is_cancelled()) continue;
            if (rows_.end() % rows_.paths() != 0) settle(solution, rows_.end() / rows_.paths());
            cancel_rest(rows_, options.t0, solution);
            return;
        }
    }

  private:
    /// As many as take some ten megabytes, whatever the machine.
    static std::int64_t most_rows(const Solution<Real>& solution) {
        return (std::int64_t{1} << 20) /
               std::clamp<std::int64_t>(num_numbers(solution), 16, 1 << 20);
    }
    static std::ptrdiff_t num_numbers(const Solution<Real>& solution) {
        return solution.num_saves() * solution.num_columns() * (Spec::is_dual ? 2 : 1);
    }
    void begin_lane(const Solution<Real>& solution) {
        of_lane_.assign(static_cast<std::size_t>(num_numbers(solution)), {});
    }
    /// The same of rows that are here, with the marks of their tangents.
    void add_rows(Solution<Real>& solution) {
        Solution<Real>& rows = part_.solution;
        y_.clear();
        tangent_.clear();
        for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k) {
            y_.push_back(rows.y_of(k));
            if constexpr (Spec::is_dual) tangent_.push_back(rows.tangent_of(k));
        }
        sums_.add_all(
            SavedNumbers<Real>{{y_.data(), tangent_.data()}, rows.num_saves(), rows.num_columns()},
            rows.outcomes().data());
        for (std::int64_t run = 0; run < sums_.runs.num_runs(); ++run) {
            const auto [begin, end] = sums_.runs.rows_of(run);
            for (std::ptrdiff_t row = begin; row < end; ++row)
                solution.add_mark(sums_.runs.lane_of(run), rows.unreliable(row));
        }
    }
    void add_runs(Solution<Real>& solution) {
        const Moments* moments = sums_.sums;
        for (std::int64_t run = 0; run < sums_.runs.num_runs(); ++run) {
            const std::ptrdiff_t lane = sums_.runs.lane_of(run);
            solution.add_path(lane, sums_.tallies[run].whole, sums_.tallies[run].num_failed);
            for (PairwiseSum<Moments>& sum : of_lane_) sum.add(*moments++);
            if (sums_.runs.ends_lane(run)) settle(solution, lane);
        }
    }
    /// All paths of the lane are there.
    void settle(Solution<Real>& solution, std::ptrdiff_t lane) {
        auto sum = of_lane_.begin();
        const auto put = [&](const auto& put_one) {
            for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k)
                for (std::ptrdiff_t i = 0; i < solution.num_columns(); ++i)
                    if (const Moments all = (sum++)->total(); all.count > 0) put_one(k, i, all);
        };
        put([&](std::ptrdiff_t k, std::ptrdiff_t i, const Moments& y) {
            solution.y_of(k)(lane, i) = static_cast<Real>(y.mean);
            if (y.count > 1)
                solution.variance_of(k)(lane, i) = static_cast<Real>(y.squares / (y.count - 1));
        });
        if constexpr (Spec::is_dual)
            put([&](std::ptrdiff_t k, std::ptrdiff_t i, const Moments& tangent) {
                solution.tangent_of(k)(lane, i) = static_cast<Real>(tangent.mean);
            });
        begin_lane(solution);
    }

    PathRows<Spec> rows_;
    SolveWorkspace part_;
    RunMemory<Moments> memory_;
    RunSums<Moments> sums_;
    std::vector<EnsembleView<Real>> y_, tangent_;  // (save point) of rows that are here
    std::vector<PairwiseSum<Moments>> of_lane_;    // (number)
};

}  // namespace eddy::inline v0::detail
