#pragma once
// Several paths to a lane: the paths of a call, counted over all lanes, are solved some thousand at a
// time, each as a lane of its own. What is made of them is added up in one fixed shape, so that it
// depends neither on threads nor on packs, and memory does not grow with their number.

#include <algorithm>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// Which paths are solved now: row r of the arrays is path first_row() + r of the call.
template <class Spec>
class PathRows {
    using Real = typename Spec::Scalar;

  public:
    /// Of the options of the whole call; each row is one path.
    void begin(const SolveOptions& options, std::ptrdiff_t num_lanes) {
        if (paths_ == 0) single_ = options;  // the options of a solver object do not change
        single_.paths = 1;
        single_.progress = false;
        paths_ = options.paths;
        total_ = num_lanes * paths_;
        first_ = count_ = 0;
    }
    /// The next rows, whole runs of at most so many, which are one at least; where `within_lanes`, of one lane.
    /// False: there are none.
    [[nodiscard]] bool take(std::int64_t most, bool within_lanes) {
        first_ += count_;
        const std::int64_t end =
            std::min(total_, within_lanes ? (first_ / paths_ + 1) * paths_ : total_);
        const std::int64_t next = first_ + std::max(most, PathRuns::paths_per_run);
        count_ = (next < end ? runs().start_of_run(next) : end) - first_;
        return count_ > 0;
    }
    /// What the rows consist of.
    [[nodiscard]] PathRuns runs() const { return {paths_, first_, count_}; }
    /// Sets the problem of the rows taken: those of the whole problem's arrays.
    void prepare(PreparedProblem<Spec>& rows, const Problem<Spec>& whole, const char* where) {
        gather(whole.y0, y0_);
        if constexpr (!Spec::shares_parameters) gather_parameters(whole.p, p_);
        if constexpr (Spec::shares_parameters)
            rows.prepare(single_, whole.controller, y0_, SharedParameters<Real>{whole.p}, where);
        else
            rows.prepare(single_, whole.controller, y0_, p_, where);
        rows.problem.noise.first_path = whole.noise.first_path + static_cast<std::uint64_t>(first_);
        if constexpr (Spec::is_dual) prepare_tangents(rows, whole, where);
    }
    /// A row for each path, from an array with a row for each lane.
    void gather(const EnsembleView<const Real>& of_lanes, EnsembleArray<Real>& of_rows) const {
        of_rows.assign(count_, of_lanes.num_components, Real(0));
        for_each_lane([&](std::ptrdiff_t lane, std::ptrdiff_t first, std::ptrdiff_t end) {
            for (std::ptrdiff_t i = 0; i < of_lanes.num_components; ++i) {
                for (std::ptrdiff_t row = first; row < end; ++row)
                    of_rows(row, i) = of_lanes(lane, i);
            }
        });
    }

    /// Calls visit(lane, first, end) for each lane that the rows [first, end) belong to.
    template <class Visit>
    void for_each_lane(const Visit& visit) const {
        for (std::int64_t path = first_; path < first_ + count_;) {
            const std::int64_t lane = path / paths_;
            const std::int64_t end = std::min((lane + 1) * paths_, first_ + count_);
            visit(lane, path - first_, end - first_);
            path = end;
        }
    }
    [[nodiscard]] std::int64_t total() const { return total_; }
    [[nodiscard]] std::int64_t end() const { return first_ + count_; }
    [[nodiscard]] std::int64_t paths() const { return paths_; }
    /// The options of a call of one path to a lane, which nobody watches.
    [[nodiscard]] const SolveOptions& options() const { return single_; }

  private:
    void gather_parameters(const EnsembleView<const Real>& of_lanes, EnsembleArray<Real>& of_rows) {
        if constexpr (Spec::parameter_size > 0)
            gather(of_lanes, of_rows);
        else
            of_rows.assign(count_, 0, Real(0));
    }
    void prepare_tangents(PreparedProblem<Spec>& rows, const Problem<Spec>& whole,
                          const char* where) {
        rows.problem.counts_tangents = whole.counts_tangents;
        if (!whole.y0_tangent.first) return rows.leave_tangents_zero();
        gather(whole.y0_tangent, y0_tangent_);
        if constexpr (Spec::shares_parameters) {
            rows.prepare_tangents(y0_tangent_, SharedParameters<Real>{whole.p_tangent}, where);
        } else {
            gather_parameters(whole.p_tangent, p_tangent_);
            rows.prepare_tangents(y0_tangent_, p_tangent_, where);
        }
    }

    SolveOptions single_;
    std::int64_t paths_ = 0, total_ = 0, first_ = 0, count_ = 0;
    EnsembleArray<Real> y0_, p_, y0_tangent_, p_tangent_;
};

/// Rows are gathered on the host, and what is made of them is added up there.
template <class Spec, class Memory>
void require_rows_of_host(const Memory& memory, const Problem<Spec>& problem, std::int64_t paths,
                          const char* where) {
    require_argument(!returns_early(memory),
                     "{}: paths = {} in an asynchronous call, but means are made on the host; "
                     "leave one of them out",
                     where, paths);
    const auto is_there = [&](const auto& view) {
        return view.first && lies_in(memory, view.first);
    };
    bool are_there = is_there(problem.y0) || is_there(problem.p);
    if constexpr (Spec::is_dual)
        are_there = are_there || is_there(problem.y0_tangent) || is_there(problem.p_tangent);
    require_argument(!are_there,
                     "{}: paths = {} of arrays on the device; give arrays of the host, which are "
                     "small: a row for each lane",
                     where, paths);
}

/// Paths that a call which was cancelled has not begun.
template <class Spec>
void cancel_rest(const PathRows<Spec>& rows, double t, Outcomes& outcomes) {
    LaneOutcome never;
    never.result = Result::cancelled;
    never.t = t;
    for (std::int64_t path = rows.end(); path < rows.total();) {
        const std::int64_t lane = path / rows.paths();
        const std::int64_t end = (lane + 1) * rows.paths();
        outcomes.add_path(lane, never, end - path);
        path = end;
    }
}

}  // namespace eddy::inline v0::detail
