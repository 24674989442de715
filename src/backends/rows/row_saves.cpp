#include "row_saves.hpp"
#include <algorithm>
#include <limits>
#include <vector>

namespace eddy::inline v0::detail {

template <class Real>
RowSaves<Real>::RowSaves(const RowProblem<Real>& problem, const RowObjective<Real>& objective,
                         RowRun<Real>& run, RowStep<Real>& step, Arena& arena)
    : problem_(&problem), objective_(objective), run_(&run), step_(&step) {
    const int width = run.width();
    const auto rows = [&](std::int64_t count) { return arena.take<Real>(count * width); };
    const std::int64_t num_kept =
        objective.by_lane ? 0 : std::int64_t{run.num_tiles()} * problem.times.num_saves;
    saved_ = rows(num_kept * problem.state_size);
    seeds_ = rows(num_kept * problem.state_size);
    num_saved_ = arena.take<std::int32_t>(run.most_lanes());
    column_ = arena.take<Real>(problem.state_size);
    if (problem.events) end_time_ = arena.take<double>(run.most_lanes());
    const FieldOnTileOf<Real>* const loss = objective.loss;
    if (!loss) return;
    const int num_data = loss->num_parameters() - problem.parameter_size;
    loss_p_ = problem.sums_tile
                  ? arena.take<Real>(whole_lines(problem.parameter_size) + num_data * width)
                  : rows(loss->num_parameters());
    // What a tile sums over its lanes is added where the sums are.
    loss_of_p_ = problem.sums_tile ? nullptr : rows(loss->num_parameters());
    loss_value_ = rows(1 + problem.num_tangents);
    loss_c_ = rows(1 + problem.num_tangents);
    loss_kept_ = rows(loss->num_residuals());
    loss_t_ = rows(1);
    loss_of_t_ = rows(1);
}

template <class Real>
void RowSaves<Real>::begin() {
    std::fill_n(num_saved_, run_->most_lanes(), 0);
    if (problem_->events)
        std::fill_n(end_time_, run_->most_lanes(), std::numeric_limits<double>::quiet_NaN());
}
template <class Real>
bool RowSaves<Real>::save(std::ptrdiff_t lane, int place, std::int32_t k, const Real* state) {
    const auto of_run = static_cast<std::int32_t>(lane - run_->first());
    if (objective_.by_lane) {
        if (!objective_.by_lane->save(lane, place, k, state)) return false;
    } else {
        Real* const at = saved(run_->tile_of(of_run), k) + run_->place_in_tile(of_run);
        for (int c = 0; c < problem_->state_size; ++c) at[c * run_->width()] = state[c];
    }
    num_saved_[of_run] = k + 1;
    return true;
}
template <class Real>
Result RowSaves<Real>::not_finite() const {
    return objective_.by_lane ? objective_.by_lane->not_finite() : RowRecorder<Real>::not_finite();
}

/// Parameters, then a save point's data; lanes that have not come to it have those of numbers that some lane has.
template <class Real>
void RowSaves<Real>::load_loss(int tile, std::int32_t k) {
    const int width = run_->width();
    const EnsembleView<const Real> data = objective_.arrays.empty()
                                              ? EnsembleView<const Real>{}
                                              : objective_.arrays[static_cast<std::size_t>(k)];
    for (int place = 0; place < width; ++place) {
        const std::int32_t of_run = tile * width + place;
        const std::ptrdiff_t lane = run_->first() + std::min(of_run, run_->count() - 1);
        const std::ptrdiff_t of_p = problem_->row_of_p(lane);
        for (int i = 0; !problem_->sums_tile && i < problem_->parameter_size; ++i)
            loss_p_[i * width + place] = problem_->p(of_p, i);
        const int num_data = objective_.loss->num_parameters() - problem_->parameter_size;
        for (int i = 0; i < num_data; ++i)
            data_of_loss()[i * width + place] =
                data(data.num_lanes == 1 ? 0 : problem_->row_of(lane), i);
        const bool is_there = of_run < run_->count() && num_saved_[of_run] > k;
        loss_t_[place] =
            static_cast<Real>(is_there ? time_of(of_run, k) : problem_->times_of(lane).t0);
        if (!is_there)
            for (int c = 0; c < problem_->state_size; ++c)
                saved(tile, k)[c * width + place] = problem_->start(lane, c);
    }
}
template <class Real>
void RowSaves<Real>::measure(LaneOutcome* outcomes, CallLink& call) {
    if (!objective_.loss) return;
    FieldOnTileOf<Real>& loss = *objective_.loss;
    const std::int32_t num_saves = problem_->times.num_saves, width = run_->width();
    for (std::int32_t i = 0; i < (run_->tile_of(run_->count() - 1) + 1) * num_saves; ++i) {
        const std::int32_t tile = i / num_saves, k = i % num_saves;
        load_loss(tile, k);
        loss.forward(loss_t_, saved(tile, k), loss_p_, loss_value_, loss_kept_);
        const std::int32_t end = std::min(run_->count(), (tile + 1) * width);
        for (std::int32_t lane = tile * width; lane < end; ++lane) {
            if (num_saved_[lane] <= k || is_failure(outcomes[lane].result)) continue;
            Real& sum = objective_.of_lane(run_->first() + lane, 0);
            sum += loss_value_[run_->place_in_tile(lane)];
            if (std::isfinite(sum)) continue;
            outcomes[lane].result = Result::loss_not_finite;
            outcomes[lane].component = k;
            outcomes[lane].t = time_of(lane, k);
            step_->state_of(run_->place_in_tile(lane), saved(tile, k), column_);
            if (call.wants_states())
                call.keep_state(run_->first() + lane,
                                std::vector<double>(column_, column_ + problem_->own_size()));
        }
    }
}

// Back

template <class Real>
void RowSaves<Real>::seed(RowTimes<Real>& times, Real* of_p) {
    if (objective_.loss)
        seed_losses(times, of_p);
    else if (!objective_.by_lane)
        seed_cotangents();
}
template <class Real>
void RowSaves<Real>::seed_losses(RowTimes<Real>& times, Real* of_p) {
    const int width = run_->width(), num_saves = problem_->times.num_saves;
    // Of a loss with a tangent, that is what is pulled back.
    std::fill_n(loss_c_, problem_->num_tangents * width, Real(0));
    std::fill_n(loss_c_ + problem_->num_tangents * width, width, Real(1));
    const int num_points = (run_->tile_of(run_->count() - 1) + 1) * num_saves;
    for (std::int32_t i = 0; i < num_points; ++i) {
        const int tile = i / num_saves, k = i % num_saves;
        if (num_points > 1) {
            load_loss(tile, k);
            objective_.loss->forward(loss_t_, saved(tile, k), loss_p_, loss_value_, loss_kept_);
        }
        seed_losses_at(tile, k, times, of_p);
    }
}
template <class Real>
void RowSaves<Real>::seed_losses_at(int tile, std::int32_t k, RowTimes<Real>& times, Real* of_p) {
    FieldOnTileOf<Real>& loss = *objective_.loss;
    const int width = run_->width();
    run_->choose([&](int place) {
        const std::int32_t lane = tile * width + place;
        return lane < run_->count() && run_->is_lane_alive(lane) && num_saved_[lane] > k;
    });
    loss.sum_over(run_->taking_part(), run_->num_taking_part(), 1);
    if (!problem_->sums_tile)
        std::fill_n(loss_of_p_, std::int64_t{loss.num_parameters()} * width, Real(0));
    loss.pull(loss_t_, saved(tile, k), loss_p_, loss_kept_, loss_c_, seeds(tile, k),
              problem_->sums_tile ? of_p : loss_of_p_);
    if (times.are_asked()) {
        loss.pull_time(loss_t_, saved(tile, k), loss_p_, loss_c_, loss_of_t_);
        for (int i = 0; i < run_->num_taking_part(); ++i) {
            const int place = run_->taking_part()[i];
            const std::int32_t lane = tile * width + place;
            if (ends_at_event(lane))
                times.shift(lane) += loss_of_t_[place];
            else
                times.add_save_time(lane, k, loss_of_t_[place]);
        }
    }
    if (problem_->sums_tile) return;
    const int num_p = problem_->parameter_size;
    Real* const of_tile = of_p + std::int64_t{tile} * num_p * width;
    for (int i = 0; i < num_p; ++i)
        for (int place = 0; place < width; ++place)
            if (run_->takes_part(place))
                of_tile[i * width + place] += loss_of_p_[i * width + place];
}
template <class Real>
void RowSaves<Real>::seed_cotangents() {
    for (std::int32_t k = 0; k < problem_->times.num_saves; ++k) {
        const EnsembleView<const Real>& given = objective_.arrays[static_cast<std::size_t>(k)];
        for (std::int32_t lane = 0; lane < run_->count(); ++lane)
            for (int c = 0; c < problem_->state_size; ++c)
                seeds(run_->tile_of(lane), k)[c * run_->width() + run_->place_in_tile(lane)] =
                    given(given.num_lanes == 1 ? 0 : problem_->row_of(run_->first() + lane), c);
    }
}
template <class Real>
void RowSaves<Real>::seed_of(int place, std::int32_t k, Real* column,
                             const RowSums<Real>& of_p) const {
    const std::int32_t lane = run_->back(place);
    if (objective_.by_lane)
        objective_.by_lane->pull_save(run_->lane(place), k, column, of_p);
    else
        step_->state_of(run_->place_in_tile(lane), seeds(run_->tile_of(lane), k), column);
}
template <class Real>
void RowSaves<Real>::state_of(int place, std::int32_t k, Real* state) const {
    const std::int32_t lane = run_->back(place);
    if (objective_.by_lane)
        objective_.by_lane->state_at(run_->lane(place), k, state);
    else
        step_->state_of(run_->place_in_tile(lane), saved(run_->tile_of(lane), k), state);
}

template class RowSaves<double>;
template class RowSaves<float>;

}  // namespace eddy::inline v0::detail
