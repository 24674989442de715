#pragma once
// Several paths to a lane: the paths of a call, counted over all lanes, are solved some thousand at a
// time, each as a lane of its own. What is made of them is added up in one fixed shape, so that it
// depends neither on threads nor on packs, and memory does not grow with their number.

#include <algorithm>
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
    /// Of a whole call; each row is one path.
    void begin(std::int64_t paths, std::ptrdiff_t num_lanes) {
        paths_ = paths;
        total_ = num_lanes * paths_;
        rows_ = {paths_};
    }
    /// The next rows, whole runs of at most so many, which are one at least; where `within_lanes`, of one lane.
    /// False: there are none.
    [[nodiscard]] bool take(std::int64_t most, bool within_lanes) {
        rows_ = rows_.next(total_, most, within_lanes);
        return rows_.num_rows > 0;
    }
    /// What the rows consist of.
    [[nodiscard]] const PathRuns& runs() const { return rows_; }
    /// Sets the problem of the rows taken: those of the whole problem's arrays.
    void prepare(PreparedProblem<Spec>& rows, const PreparedProblem<Spec>& whole) {
        const Problem<Spec>& from = whole.problem;
        rows.follow(whole, {of_lanes(from.y0, y0_), of_parameters(from.p, p_),
                            of_lanes(from.y0_tangent, y0_tangent_),
                            of_parameters(from.p_tangent, p_tangent_)});
        rows.problem.noise.first_path += static_cast<std::uint64_t>(rows_.first_path);
    }
    /// A row for each path, from an array with a row for each lane.
    void gather(const EnsembleView<const Real>& of_lanes, EnsembleArray<Real>& of_rows) const {
        of_rows.assign(rows_.num_rows, of_lanes.num_components, Real(0));
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
        for (std::int64_t path = rows_.first_path; path < rows_.end_path();) {
            const std::int64_t lane = path / paths_;
            const std::int64_t end = std::min((lane + 1) * paths_, rows_.end_path());
            visit(lane, path - rows_.first_path, end - rows_.first_path);
            path = end;
        }
    }
    [[nodiscard]] std::int64_t total() const { return total_; }
    [[nodiscard]] std::int64_t end() const { return rows_.end_path(); }
    [[nodiscard]] std::int64_t paths() const { return paths_; }

  private:
    using Rows = EnsembleView<const Real>;
    /// No array has no rows.
    Rows of_lanes(const Rows& array, EnsembleArray<Real>& rows) const {
        if (!array.first) return array;
        gather(array, rows);
        return std::as_const(rows).view();
    }
    Rows of_parameters(const Rows& array, EnsembleArray<Real>& rows) const {
        return Spec::shares_parameters ? array : of_lanes(array, rows);
    }

    std::int64_t paths_ = 0, total_ = 0;
    PathRuns rows_;
    EnsembleArray<Real> y0_, p_, y0_tangent_, p_tangent_;
};

/// Paths of so many numbers that take some ten megabytes, whatever the machine, or less.
[[nodiscard]] inline std::int64_t rows_that_fit(std::int64_t num_numbers,
                                                std::size_t most_bytes = std::size_t{1} << 23) {
    const auto most = static_cast<std::int64_t>(std::min(most_bytes, std::size_t{1} << 23) / 8);
    return most / std::clamp<std::int64_t>(num_numbers, 16, 1 << 20);
}

/// Can a backend keep all of the paths where it solves them?
template <class Backend>
inline constexpr bool may_keep_paths = !is_of_host<typename Backend::Memory>;
/// Does it: because one of these arrays lies there, or nobody waits; or, where it may, because it is one device. Else
/// rows are gathered on the host, and may go to several.
template <class Memory>
[[nodiscard]] bool paths_stay_there(const Memory& memory, const std::vector<const void*>& arrays,
                                    [[maybe_unused]] bool may_stay) {
    if constexpr (requires { memory.is_alone(); }) {
        if (may_stay && memory.is_alone()) return true;
    }
    return returns_early(memory) ||
           std::any_of(arrays.begin(), arrays.end(), [&](const void* first) {
               return first != nullptr && lies_in(memory, first);
           });
}
template <class Spec>
[[nodiscard]] std::vector<const void*> inputs_of(const Problem<Spec>& problem) {
    return {problem.y0.first, problem.p.first, problem.y0_tangent.first, problem.p_tangent.first};
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
