#include <algorithm>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <eddy/steppers/stiffness.hpp>
#include <limits>
#include <utility>

namespace eddy::inline v0 {

void detail::throw_no_such_index(std::ptrdiff_t index, std::ptrdiff_t count, const char* what) {
    const std::string known =
        count > 0 ? compose("give a number from 0 to {}", count - 1) : "there is none";
    throw InvalidArgument(compose("{} {} is out of range; {}", what, index, known));
}

Outcomes::Outcomes(const Outcomes&) = default;
Outcomes::Outcomes(Outcomes&&) noexcept = default;
Outcomes& Outcomes::operator=(const Outcomes&) = default;
Outcomes& Outcomes::operator=(Outcomes&&) noexcept = default;
Outcomes::~Outcomes() = default;

void Outcomes::reset(std::size_t num_lanes, std::int64_t paths) {
    lanes_.assign(num_lanes, {});
    failed_paths_.assign(paths > 1 ? num_lanes : 0, 0);
    num_paths_ = paths;
    events_.clear();
    lost_states_.clear();
    unfinished_.forget();
}

void Outcomes::reset_later(std::size_t num_lanes, std::int64_t paths) {
    unfinished_.forget();
    lost_states_.clear();
    lanes_.resize(num_lanes);
    failed_paths_.resize(paths > 1 ? num_lanes : 0);
    num_paths_ = paths;
}

LaneEvents* Outcomes::keep_events() {
    events_.assign(lanes_.size(), {});
    return events_.data();
}

bool Outcomes::success() const {
    if (unfinished_.all_succeeded()) return true;
    const auto& lanes = known_lanes();
    return std::none_of(lanes.begin(), lanes.end(),
                        [](const LaneOutcome& lane) { return is_failure(lane.result); });
}

std::ptrdiff_t Outcomes::num_switched() const {
    const auto& lanes = known_lanes();
    return std::count_if(lanes.begin(), lanes.end(),
                         [](const LaneOutcome& lane) { return lane.method != 0; });
}

LaneStats Outcomes::stats_of(const LaneOutcome& lane, const LaneEvents& events) const {
    const std::int64_t attempts = lane.accepted + lane.rejected;
    const AttemptCost& cost = attempt_cost_[lane.method];
    return {.accepted = lane.accepted,
            .rejected = lane.rejected,
            .evaluations = lane.evaluations,
            .jacobians =
                attempts * cost.jacobians + (cost.jacobian_comes_with_f ? lane.evaluations : 0),
            .factorizations = attempts * cost.factorizations,
            .stiff_steps = std::min(lane.accepted, lane.stiff_looks * attempts_per_look),
            .events = events.count};
}

LaneFailure Outcomes::failure_of(const LaneOutcome& outcome, std::ptrdiff_t lane) const {
    LaneFailure failure{outcome.result, outcome.t, outcome.accepted + outcome.rejected,
                        outcome.component};
    if (outcome.result != Result::loss_not_finite && outcome.result != Result::observed_not_finite)
        return failure;
    failure.y = lost_states_.of(lane);
    std::swap(failure.save_point, failure.component);
    return failure;
}

const char* Outcomes::message(std::ptrdiff_t lane) const {
    const LaneStats of_lane = stats(lane);
    if (attempt_cost_[at(lane).method].seeks_rest) {
        if (result(lane) == Result::max_steps_reached)
            return "no steady state within max_steps: raise max_steps, or give a start closer to "
                   "it; an oscillator does not come to rest";
        if (result(lane) == Result::singular_matrix)
            return "the steady state is not isolated: components are conserved, such as the sum of "
                   "what turns into each other, or their rates are zero; replace one of their "
                   "equations by the conserved sum minus its value, which is a parameter, and give "
                   "it a row of zeros in `mass`";
        if (result(lane) == Result::dt_underflow)
            return "no steady state was found: from this start the state runs away, or meets a "
                   "singularity; give another start, or check that f(y, p) = 0 has a solution";
    }
    if (result(lane) == Result::max_steps_reached && 2 * of_lane.stiff_steps > of_lane.accepted)
        return "max_steps reached before the end: stability, not accuracy, kept most steps small: "
               "use "
               "a stiff method, such as Rodas5P";
    if (result(lane) == Result::max_steps_reached && 2 * of_lane.events > of_lane.accepted)
        return "max_steps reached before the end: most steps ended at events, which may follow "
               "each other ever faster: make the event terminal, or raise max_steps";
    return eddy::message(result(lane));
}

LaneStats Outcomes::total_stats() const {
    LaneStats total;
    for (std::ptrdiff_t number = 0; number < num_lanes(); ++number) {
        const LaneStats lane = stats(number);
        total.accepted += lane.accepted;
        total.rejected += lane.rejected;
        total.evaluations += lane.evaluations;
        total.jacobians += lane.jacobians;
        total.factorizations += lane.factorizations;
        total.stiff_steps += lane.stiff_steps;
        total.events += lane.events;
    }
    return total;
}

template <class Real>
Solution<Real>::Solution(const Solution&) = default;
template <class Real>
Solution<Real>::Solution(Solution&&) noexcept = default;
template <class Real>
Solution<Real>& Solution<Real>::operator=(const Solution&) = default;
template <class Real>
Solution<Real>& Solution<Real>::operator=(Solution&&) noexcept = default;
template <class Real>
Solution<Real>::~Solution() = default;

template <class Real>
void Solution<Real>::reset(std::ptrdiff_t lanes, const detail::PlannedSaves& save_times,
                           std::ptrdiff_t columns, std::ptrdiff_t state_size,
                           const detail::SolutionParts& parts) {
    clear_parts();
    parts_ = parts;
    const auto size = save_times.num_saves * static_cast<std::size_t>(columns * lanes);
    y_.assign(parts.y ? size : 0, std::numeric_limits<Real>::quiet_NaN());
    tangent_.assign(parts.tangent ? size : 0, std::numeric_limits<Real>::quiet_NaN());
    variance_.assign(parts.variance && parts.paths > 1 ? size : 0,
                     std::numeric_limits<Real>::quiet_NaN());
    steps_.assign(parts.steps ? static_cast<std::size_t>(lanes) : 0, {});
    saved_.t.assign(save_times.t.begin(), save_times.t.end());
    saved_.num_saves = save_times.num_saves;
    saved_.is_own = save_times.is_own;
    num_columns_ = columns;
    num_state_ = state_size;
    if (parts.comes_later)
        Outcomes::reset_later(static_cast<std::size_t>(lanes), parts.paths);
    else
        Outcomes::reset(static_cast<std::size_t>(lanes), parts.paths);
}

template <class Real>
void Solution<Real>::clear() {
    Outcomes::clear();
    clear_parts();
}

template <class Real>
void Solution<Real>::clear_parts() {
    saved_.t.clear();
    saved_.num_saves = 0;
    saved_.is_own = false;
    y_.clear();
    tangent_.clear();
    variance_.clear();
    for (auto& steps : steps_) steps.t.clear(), steps.y.clear();
    marks_.clear();
    ranks_ = nullptr;
    num_columns_ = 0;
    parts_ = {};
}

template <class Real>
TangentMark* Solution<Real>::watch_tangents() {
    marks_.assign(static_cast<std::size_t>(num_lanes()), {});
    return marks_.data();
}

template <class Real>
void Solution<Real>::take_steps(std::ptrdiff_t lane, Solution& other, std::ptrdiff_t row) {
    const auto to = static_cast<std::size_t>(lane), from = static_cast<std::size_t>(row);
    if (!steps_.empty()) std::swap(steps_[to], other.steps_[from]);
    if (!marks_.empty()) marks_[to] = other.unreliable(row);
}

template <class Real>
void Solution<Real>::append_step(std::ptrdiff_t lane, double t, const Real* y) {
    auto& steps = steps_[static_cast<std::size_t>(lane)];
    steps.y.insert(steps.y.end(), y, y + num_state_);
    steps.t.push_back(t);
}

template class Solution<float>;
template class Solution<double>;

namespace {

std::string list_of(const std::vector<double>& numbers) {
    constexpr std::size_t most = 8;
    std::string list;
    for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i)
        list += detail::compose("{}{}", i == 0 ? "" : ", ", numbers[i]);
    return list + (numbers.size() > most ? ", …" : "");
}

}  // namespace

void require_success(const Outcomes& outcomes) {
    if (outcomes.success()) return;
    constexpr int listed = 8;
    std::ptrdiff_t failures = 0;
    std::string text;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        const LaneFailure failure = outcomes.failure(lane);
        if (!is_failure(failure.result)) continue;
        if (++failures > listed) continue;
        text +=
            detail::compose("\n  trajectory {} at t = {}, step {}", lane, failure.t, failure.step);
        if (failure.component >= 0) text += detail::compose(", component {}", failure.component);
        if (failure.save_point >= 0) text += detail::compose(", save point {}", failure.save_point);
        if (!failure.y.empty()) text += detail::compose(", y = ({})", list_of(failure.y));
        text += std::string(": ") + outcomes.message(lane);
    }
    if (failures == 0) return;
    throw SolveFailed(
        detail::compose("{} of {} trajectories failed{}", failures, outcomes.num_lanes(), text));
}

}  // namespace eddy::inline v0
