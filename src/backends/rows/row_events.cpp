#include "row_events.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <eddy/solve/lane/event_sides.hpp>
#include <limits>
#include "row_work.hpp"

namespace eddy::inline v0::detail {

template <class Real>
RowEvents<Real>::RowEvents(const RowProblem<Real>& problem, RowStep<Real>& step)
    : problem_(&problem), step_(&step), width_(step.width()), timed_(*problem.events) {
    const EventsOnRows& events = *problem.events;
    functions_ = tile_of(*events.functions, problem, width_);
    of_one_ = tile_of(*events.functions, problem, 1);
    for (const auto& jump : events.jumps)
        jumps_.push_back(jump ? tile_of(*jump, problem, 1) : nullptr);
    places_.resize(at(width_));
    side_.resize(at(count() * width_));
    sizes_.resize(at(width_));
    history_.resize(at(3 * width_));
    g_.resize(at(count() * width_));
    after_.resize(at(std::int64_t{width_} * problem.state_size));
    p_.resize(at(whole_lines(problem.parameter_size) + 1));
    by_p_.resize(p_.size());
    for (std::vector<Real>* column : {&state_, &slope_, &by_y_})
        column->resize(at(problem.state_size));
    values_.resize(at(count()));
    cotangent_.resize(at(count()));
    int most_kept = of_one_->num_residuals();
    for (const auto& jump : jumps_)
        if (jump) most_kept = std::max(most_kept, jump->num_residuals());
    kept_.resize(at(most_kept));
    motion_.g.resize(at(count()));
    motion_.along.resize(at(count()));
}

template <class Real>
bool RowEvents<Real>::passes(int i, double from, double now) const {
    const Crossing wanted = problem_->events->crossings[at(i)];
    return (wanted != Crossing::rising && from > 0 && now <= 0) ||
           (wanted != Crossing::falling && from < 0 && now >= 0);
}
template <class Real>
void RowEvents<Real>::load_p(std::ptrdiff_t lane) {
    const std::ptrdiff_t row = problem_->row_of_p(lane);
    for (int i = 0; i < problem_->parameter_size; ++i) p_[at(i)] = problem_->parameter(row, i);
}
template <class Real>
void RowEvents<Real>::pull_one(FieldOnTileOf<Real>& one, const Real& t, const Real* state,
                               const Real* c) {
    const int alone = 0;
    one.sum_over(&alone, 1, 1);
    std::fill(by_p_.begin(), by_p_.end(), Real(0));
    one.pull(&t, state, p_.data(), kept_.data(), c, by_y_.data(), by_p_.data());
}
/// Function i, which has just been walked forward.
template <class Real>
Real RowEvents<Real>::pull_function(int i, const Real& t, const Real* state) {
    std::fill(cotangent_.begin(), cotangent_.end(), Real(0));
    cotangent_[at(i)] = 1;
    Real by_t = 0;
    of_one_->pull_time(&t, state, p_.data(), cotangent_.data(), &by_t);
    pull_one(*of_one_, t, state, cotangent_.data());
    return by_t;
}
template <class Real>
Real RowEvents<Real>::derivatives(int event, std::ptrdiff_t lane, double t, const Real* state) {
    load_p(lane);
    const auto of_t = static_cast<Real>(t);
    of_one_->forward(&of_t, state, p_.data(), values_.data(), kept_.data());
    return pull_function(event, of_t, state);
}
template <class Real>
void RowEvents<Real>::state_after(int event, std::ptrdiff_t lane, double t, const Real* state,
                                  Real* after) {
    const auto of_t = static_cast<Real>(t);
    load_p(lane);
    if (jumps_[at(event)])
        jumps_[at(event)]->f(&of_t, state, p_.data(), after);
    else
        std::copy_n(state, problem_->state_size, after);
}
template <class Real>
Real RowEvents<Real>::pull_jump(int event, std::ptrdiff_t lane, double t, const Real* state,
                                Real* cotangent, const RowSums<Real>& of_p) {
    FieldOnTileOf<Real>* const jump = jumps_[at(event)].get();
    if (!jump) return 0;
    const auto of_t = static_cast<Real>(t);
    load_p(lane);
    jump->forward(&of_t, state, p_.data(), slope_.data(), kept_.data());
    Real by_t = 0;
    jump->pull_time(&of_t, state, p_.data(), cotangent, &by_t);
    pull_one(*jump, of_t, state, cotangent);
    for (int i = 0; i < problem_->parameter_size; ++i) of_p.add(i, by_p_[at(i)]);
    std::copy(by_y_.begin(), by_y_.end(), cotangent);
    return by_t;
}
template <class Real>
void RowEvents<Real>::copy_to(std::byte* to) const {
    const std::size_t size = places_.size() * sizeof(Place);
    std::memcpy(to, places_.data(), size);
    std::memcpy(to + size, side_.data(), side_.size() * sizeof(double));
}
template <class Real>
void RowEvents<Real>::restore(const std::byte* from) {
    const std::size_t size = places_.size() * sizeof(Place);
    std::memcpy(places_.data(), from, size);
    std::memcpy(side_.data(), from + size, side_.size() * sizeof(double));
}
template <class Real>
const typename RowEvents<Real>::Motion& RowEvents<Real>::motion_at(int place, std::int32_t tstop,
                                                                   double t, const Real* state) {
    const std::ptrdiff_t lane = places_[at(place)].lane;
    load_p(lane);
    step_->slope_of(place, lane, tstop, t, state, slope_.data());
    const auto of_t = static_cast<Real>(t);
    of_one_->forward(&of_t, state, p_.data(), values_.data(), kept_.data());
    for (int i = 0; i < count(); ++i) {
        motion_.g[at(i)] = static_cast<double>(values_[at(i)]);
        Real along = pull_function(i, of_t, state);
        for (int c = 0; c < problem_->state_size; ++c) along = along + by_y_[at(c)] * slope_[at(c)];
        motion_.along[at(i)] = static_cast<double>(along) * problem_->times.direction;
    }
    return motion_;
}
template <class Real>
void RowEvents<Real>::know_sides(int place, std::int32_t tstop, double t, const Real* state) {
    if (timed_.count() == count()) return;
    const Motion& motion = motion_at(place, tstop, t, state);
    for (int i = 0; i < count(); ++i)
        if (!is_timed(i)) side(i, place) = side_from(motion.g[at(i)], motion.along[at(i)], 0);
}
template <class Real>
void RowEvents<Real>::begin(int place, std::ptrdiff_t lane, const Real* state) {
    places_[at(place)] = {};
    places_[at(place)].lane = lane;
    const LaneTimes times = problem_->times_of(lane);
    know_sides(place, 0, times.tstops[0].confine(times.t0), state);
    if (timed_.count() == 0) return;
    load_p(lane);
    timed_.take_parameters(p_.data());
    for (int i = 0; i < count(); ++i)
        if (is_timed(i)) due(i, place) = timed_.first(i, times);
}
template <class Real>
void RowEvents<Real>::go_on(int place, std::int32_t tstop, const Real* state) {
    const LaneTimes times = problem_->times_of(places_[at(place)].lane);
    const double elapsed = times.tstops[tstop - 1].elapsed;
    know_sides(place, tstop,
               times.tstops[tstop].confine(mul_add(times.direction, elapsed, times.t0)), state);
}

template <class Real>
double RowEvents<Real>::soonest(int place) {
    double soonest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < count(); ++i)
        if (is_timed(i)) soonest = std::min(soonest, std::abs(due(i, place)));
    return soonest;
}
template <class Real>
std::uint32_t RowEvents<Real>::events_due(int place, double at) {
    std::uint32_t found = 0;
    for (int i = 0; i < count(); ++i)
        if (is_timed(i) && due(i, place) == at) found |= std::uint32_t{1} << i;
    return found;
}
/// A step that would go beyond what is due, or nearly there, ends there, as at a tstop.
template <class Real>
void RowEvents<Real>::end_by(int place, double soonest, RowClocks& clocks) const {
    const row_kernels::Clocks& rows = clocks.rows();
    const double size = rows.size[place], elapsed = rows.elapsed[place];
    const double wanted =
        problem_->method->estimates_error ? std::min(size, problem_->times.dt_max) : size;
    const double left = std::min(rows.tstop[place] - elapsed, soonest - elapsed);
    clocks.seek(place, wanted * 1.01 >= left ? left : wanted);
}
/// What is due comes later, where a step has not been taken back, nor ended its lane.
template <class Real>
void RowEvents<Real>::renew_due(int place, Seen seen, const RowClocks& clocks) {
    Place& here = places_[at(place)];
    const LaneTimes times = problem_->times_of(here.lane);
    const double elapsed = clocks.rows().elapsed[place];
    const int event = seen == Seen::here ? here.index() : -1;
    if (timed_.count() == 0 || seen == Seen::within || here.is_lost) return;
    if (!(elapsed < times.span) || (event >= 0 && is_terminal(event))) return;
    load_p(here.lane);
    timed_.take_parameters(p_.data());
    for (int i = 0; i < count(); ++i) {
        if (!is_timed(i)) continue;
        due(i, place) = timed_.renewed(i, times, due(i, place), elapsed, i == event);
        here.is_lost = here.is_lost || (event < 0 && std::isnan(due(i, place)));
    }
}
template <class Real>
void RowEvents<Real>::keep(RowClocks& clocks) {
    const row_kernels::Clocks& rows = clocks.rows();
    std::copy_n(rows.size, width_, sizes_.begin());
    std::copy_n(rows.previous_log2, width_, history_.begin());
    std::copy_n(rows.earlier_log2, width_, history_.begin() + width_);
    std::copy_n(rows.was_rejected, width_, history_.begin() + 2 * width_);
    if (timed_.count() == 0) return;
    for (int place = 0; place < width_; ++place) {
        if (places_[at(place)].lane < 0)
            clocks.seek(place, 0);
        else if (!places_[at(place)].bracket.is_open())
            end_by(place, soonest(place), clocks);
    }
}
template <class Real>
void RowEvents<Real>::restore_history(int place, const RowClocks& clocks) {
    const row_kernels::Clocks& rows = clocks.rows();
    rows.previous_log2[place] = history_[at(place)];
    rows.earlier_log2[place] = history_[at(width_ + place)];
    rows.was_rejected[place] = history_[at(2 * width_ + place)];
}
template <class Real>
bool RowEvents<Real>::look(RowClocks& clocks) {
    if (timed_.count() < count()) step_->evaluate_at_end(*functions_, clocks, g_.data());
    bool is_rare = false;
    for (int place = 0; place < width_; ++place) {
        Place& here = places_[at(place)];
        here.meets = false;
        if (here.lane < 0) continue;
        if (!clocks.was_accepted(place)) {  // what is sought will be met again
            here.bracket = {};
            clocks.seek(place, 0);
            is_rare = is_rare || clocks.is_due(place);
            continue;
        }
        const row_kernels::Clocks& rows = clocks.rows();
        // Steps of constant size are not counted: they begin anew behind an event.
        if (!problem_->method->estimates_error &&
            rows.tried[place] != rows.tstop[place] - rows.before[place])
            rows.elapsed[place] = rows.before[place] + rows.tried[place];
        const Seen seen = look_at(place, clocks);
        renew_due(place, seen, clocks);
        here.meets = seen == Seen::here || here.is_lost;
        is_rare = is_rare || here.meets || clocks.is_due(place);
        if (seen == Seen::none) continue;
        clocks.seek(place, 0);
        if (here.is_lost) continue;
        restore_history(place, clocks);
        if (seen == Seen::within) {
            take_back(place, clocks);
        } else {
            clocks.set_size(place, here.uncut);
            pass(place, clocks);
        }
    }
    return is_rare;
}
template <class Real>
void RowEvents<Real>::take_back(int place, RowClocks& clocks) {
    const double next_size = places_[at(place)].next_size;
    const row_kernels::Clocks& rows = clocks.rows();
    rows.used[place] = 0;
    rows.elapsed[place] = rows.before[place];
    rows.rejected[place] += 1;
    clocks.set_size(place, next_size);
    clocks.seek(place, next_size);
}
template <class Real>
typename RowEvents<Real>::Seen RowEvents<Real>::look_at(int place, const RowClocks& clocks) {
    Place& here = places_[at(place)];
    const row_kernels::Clocks& rows = clocks.rows();
    const double from = rows.before[place], size = rows.tried[place];
    for (int i = 0; i < count(); ++i) {
        const bool is_known = is_timed(i)
                                  ? !std::isnan(due(i, place))
                                  : std::isfinite(g(i, place)) && std::isfinite(side(i, place));
        here.is_lost = here.is_lost || !is_known;
    }
    if (here.is_lost) {
        here.bracket = {};
        return Seen::here;
    }
    // A step behind an event that is no longer than time was resolved there shows nothing of sides that are only said.
    const double resolved = event_width<Real>(from, here.uncut);
    const double blurred = size <= 2 * resolved && !here.bracket.is_open() ? said_side : -1;
    const Leading passed = functions_that_passed(place, blurred);
    const double next_due = soonest(place);
    const std::uint32_t are_due = size == next_due - from ? events_due(place, next_due) : 0;
    if (passed.met == 0 && !here.bracket.is_open()) {
        for (int i = 0; i < count(); ++i)
            if (!is_timed(i) && g(i, place) != 0 && std::abs(side(i, place)) > blurred)
                side(i, place) = g(i, place);
        if (are_due == 0) return Seen::none;
        here.passed.met = are_due;
        here.uncut = sizes_[at(place)];
        here.width = event_width<Real>(from, size);
        return Seen::here;
    }
    take(place, size, passed, sizes_[at(place)]);
    here.width = event_width<Real>(from, here.bracket.high);
    here.passed.at_zero = passed.met != 0 && passed.at_zero;
    const bool is_closed = here.passed.at_zero || here.bracket.is_closed(here.width);
    if (is_closed) here.passed.met |= are_due;
    here.next_size = is_closed ? size_back(place, clocks) : here.bracket.next(here.width);
    if (here.next_size > 0) return Seen::within;
    here.bracket = {};
    return Seen::here;
}
template <class Real>
typename RowEvents<Real>::Leading RowEvents<Real>::functions_that_passed(int place,
                                                                         double blurred) {
    const Place& here = places_[at(place)];
    Leading found;
    double earliest = 2;
    for (int i = 0; i < count(); ++i) {
        const double from = side(i, place), now = g(i, place);
        if (is_timed(i) || std::abs(from) <= blurred || !passes(i, from, now)) continue;
        found.met |= std::uint32_t{1} << i;
        found.at_zero = found.at_zero && now == 0;
        const double fraction = from / (from - now);
        if (fraction < earliest) {
            earliest = fraction;
            found.leader = i;
        }
    }
    if (here.bracket.is_open() && found.has(here.passed.leader)) found.leader = here.passed.leader;
    return found;
}
/// What was tried becomes an end of the bracket, which may begin.
template <class Real>
void RowEvents<Real>::take(int place, double size, const Leading& passed, double uncut) {
    Place& here = places_[at(place)];
    const int before = here.passed.leader;
    const bool was_open = here.bracket.is_open();
    if (passed.met == 0) return here.bracket.narrow(size, g(before, place), false);
    here.passed = passed;
    const int leader = passed.leader;
    if (!was_open) {
        here.bracket = RootBracket::begin(size, side(leader, place), g(leader, place));
        here.uncut = uncut;
    } else if (leader == before) {
        here.bracket.narrow(size, g(leader, place), true);
    } else {
        here.bracket.turn_to(size, side(leader, place), g(leader, place));
    }
}
/// An event that the lane goes on behind is not at a tstop nor at a save point, if time resolves what is before.
template <class Real>
double RowEvents<Real>::size_back(int place, const RowClocks& clocks) {
    Place& here = places_[at(place)];
    const row_kernels::Clocks& rows = clocks.rows();
    const double from = rows.before[place], end = rows.elapsed[place];
    const LaneTimes times = problem_->times_of(here.lane);
    if (is_terminal(here.index()) || end <= from || !is_told(times, rows.tstop[place], end))
        return 0;
    const double size = here.bracket.step_back(rows.tried[place], here.width);
    const double before = from + size;
    return before > from && before < end ? size : 0;
}
/// The state after an event at the end of a step, and the sides on which it leaves the functions of a lane that goes on.
template <class Real>
void RowEvents<Real>::pass(int place, const RowClocks& clocks) {
    Place& here = places_[at(place)];
    const int event = here.index();
    const double t = clocks.rows().last[place];
    Real* const after = after_.data() + std::int64_t{place} * problem_->state_size;
    step_->state_of(place, step_->next(), state_.data());
    state_after(event, here.lane, t, state_.data(), after);
    if (!jumps(place) || timed_.count() == count()) return;
    const Motion& motion = motion_at(place, clocks.tstop(place), t, after);
    for (int i = 0; i < count(); ++i) {
        if (is_timed(i)) continue;
        const bool is_next = i != event && here.passed.has(i);
        const double met = g(i, place), now = motion.g[at(i)], along = motion.along[at(i)];
        const double off = i == event || is_next ? std::abs(met) : 0;
        const double still = 2 * (off + std::abs(along) * here.width);
        double next = side_from(now, along, still);
        if (is_next && std::abs(now) <= still)  // it remains to be found
            next = std::copysign(2 * said_side, side(i, place));
        else if (i != event && now == met && now != 0)
            next = now;
        side(i, place) = next;
    }
}
template <class Real>
void RowEvents<Real>::tell(int place, double t) {
    Place& here = places_[at(place)];
    LaneEvents& told = problem_->told_events[here.lane];
    told = {told.count + 1, t, here.index()};
    if (!ends_lane(place)) ++here.num_jumps;
}

template class RowEvents<double>;
template class RowEvents<float>;

}  // namespace eddy::inline v0::detail
