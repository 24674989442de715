#include "joint_rows.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include "row_workers.hpp"

namespace eddy::inline v0::detail {

template <class Real>
void JointRows<Real>::lay_out(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field) {
    const std::ptrdiff_t count = plan_.num_groups();
    tiles_.reserve(static_cast<std::size_t>(count));
    make_in(memory_, [&](Arena& arena) {
        tiles_.clear();
        for (std::ptrdiff_t k = 0; k < count; ++k) tiles_.emplace_back(problem, field, arena);
        num_bytes_ = static_cast<std::int64_t>(arena.num_bytes());
    });
    norms_.resize(static_cast<std::size_t>(plan_.num_lanes));
}

template <class Real>
std::int64_t JointRows<Real>::num_bytes() const {
    const std::size_t of_lists = tiles_.capacity() * sizeof(Tile) +
                                 norms_.capacity() * sizeof(float) +
                                 (elapsed_.capacity() + size_.capacity()) * sizeof(double) +
                                 first_.capacity() * sizeof(LaneOutcome);
    return num_bytes_ + static_cast<std::int64_t>(of_lists);
}

template <class Real>
void JointRows<Real>::run(const RowProblem<Real>& problem, const LaunchPlan& tiles,
                          const ThreadLink& link, std::span<FieldOnTileOf<Real>* const> fields,
                          std::span<RowRecorder<Real>* const> recorders, LaneOutcome* outcomes,
                          bool counts) {
    problem_ = &problem;
    plan_ = tiles;
    link_ = link;
    fields_ = fields;
    recorders_ = recorders;
    outcomes_ = outcomes;
    counts_ = counts;
    elapsed_.clear();
    size_.clear();
    lay_out(problem, *fields.front());
    for_tiles(Work::begin);
    first_size_ = smallest_first_size();
    for_tiles(Work::attempt);
    while (combine_norms()) for_tiles(Work::take_verdict);
}
template <class Real>
void JointRows<Real>::find_steps(RowProblem<Real>& problem, const LaunchPlan& tiles,
                                 const ThreadLink& link,
                                 std::span<FieldOnTileOf<Real>* const> fields,
                                 LaneOutcome* outcomes) {
    RowRecorder<Real> recorder;  // nobody wants what save points show yet
    RowRecorder<Real>* for_all[1] = {&recorder};
    run(problem, tiles, link, fields, for_all, outcomes, false);
    first_.assign(outcomes, outcomes + tiles.num_lanes);
    ends_[1] = static_cast<std::int64_t>(size_.size());
    any_atol_.assign(static_cast<std::size_t>(problem.state_size), any_atol<Real>);
    problem.tolerances.atol = any_atol_.data();
    problem.prescribed = {ends_, elapsed_.data(), size_.data()};
    problem.shares_steps = true;
}
template <class Real>
void JointRows<Real>::add_first_solve(LaneOutcome* outcomes) const {
    for (const LaneOutcome& first : first_) {
        LaneOutcome& now = *outcomes++;
        if (is_failure(first.result)) {
            now = first;
            continue;
        }
        now.rejected = first.rejected;
        now.evaluations += first.evaluations;
    }
}

template <class Real>
void JointRows<Real>::for_tiles(Work work) {
    work_ = work;
    link_.others->for_each_group(plan_.num_groups(), plan_.num_workers, *this);
}
template <class Real>
void JointRows<Real>::operator()(std::ptrdiff_t worker, std::ptrdiff_t number) {
    ThreadTeam<1> team(link_, plan_, worker, number);
    Tile& tile = tiles_[static_cast<std::size_t>(number)];
    const auto of_worker = static_cast<std::size_t>(worker);
    tile.solve.work_by(*fields_[of_worker], *recorders_[std::min(of_worker, recorders_.size() - 1)],
                       counts_);
    switch (work_) {
        case Work::begin:
            tile.solve.step().take_parameters();
            return tile.solve.begin(team.first_lane(), team.num_lanes(),
                                    *recorders_[std::min(of_worker, recorders_.size() - 1)],
                                    outcomes_ + team.first_lane(), tile.y);
        case Work::attempt: tile.solve.begin_with(first_size_); break;
        case Work::take_verdict:
            if (tile.solve.is_done()) return;
            tile.solve.take_verdict(tile.y, norm_, norms_.data() + team.first_lane(),
                                    size_before_rejections_, team);
    }
    attempt(tile, team);
}
template <class Real>
void JointRows<Real>::attempt(Tile& tile, const ThreadTeam<1>& team) {
    tile.solve.attempt(tile.y, norms_.data() + team.first_lane(), has_ended);
}

/// The mean of the squared norms of lanes that run, NaN where one is not finite. False: there are none.
template <class Real>
bool JointRows<Real>::combine_norms() {
    double sum = 0;
    std::ptrdiff_t count = 0, last = 0;
    for (std::ptrdiff_t lane = 0; lane < plan_.num_lanes; ++lane) {
        const float norm = norms_[static_cast<std::size_t>(lane)];
        if (norm == has_ended) continue;
        sum += norm <= std::numeric_limits<float>::max() ? static_cast<double>(norm)
                                                         : std::numeric_limits<double>::quiet_NaN();
        ++count;
        last = lane;
    }
    if (count == 0) return false;
    norm_ = static_cast<float>(sum / static_cast<double>(count));
    const RowClocks& clocks =
        tiles_[static_cast<std::size_t>(last / plan_.group_size)].solve.clocks();
    const auto place = static_cast<int>(last % plan_.group_size);
    if (!clocks.was_rejected(place)) size_before_rejections_ = clocks.rows().size[place];
    if (norm_ <= 1) {
        elapsed_.push_back(clocks.rows().before[place]);
        size_.push_back(clocks.rows().tried[place]);
    }
    return true;
}
/// No lane begins with a larger step than it would alone. One whose field is not finite at its start ends soon, and is
/// not asked: its size says nothing.
template <class Real>
double JointRows<Real>::smallest_first_size() {
    if (problem_->times.dt0 != 0) return problem_->row_times().dt0;
    double smallest = std::numeric_limits<double>::infinity(), least = smallest;
    for (std::ptrdiff_t lane = 0; lane < plan_.num_lanes; ++lane) {
        RowSolve<Real>& tile = tiles_[static_cast<std::size_t>(lane / plan_.group_size)].solve;
        const auto place = static_cast<int>(lane % plan_.group_size);
        least = std::min(least, tile.first_size(place));
        if (tile.step().has_finite_slope(place))
            smallest = std::min(smallest, tile.first_size(place));
    }
    return std::isinf(smallest) ? least : smallest;
}

template class JointRows<double>;
template class JointRows<float>;

}  // namespace eddy::inline v0::detail
