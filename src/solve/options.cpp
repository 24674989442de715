// What makes, copies and frees the parts of options and the plan of times: compiled once, not in every program.

#include <eddy/solve/ask/input_plan.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/time_plan.hpp>

namespace eddy::inline v0 {

Times::Times(std::initializer_list<double> times) : values(times) {}
Times::Times(const Times&) = default;
Times::Times(Times&&) noexcept = default;
Times& Times::operator=(const Times&) = default;
Times& Times::operator=(Times&&) noexcept = default;
Times::~Times() = default;

SaveTimes::SaveTimes(const SaveTimes&) = default;
SaveTimes::SaveTimes(SaveTimes&&) noexcept = default;
SaveTimes& SaveTimes::operator=(const SaveTimes&) = default;
SaveTimes& SaveTimes::operator=(SaveTimes&&) noexcept = default;
SaveTimes::~SaveTimes() = default;

TimeOption::TimeOption(const TimeOption&) = default;
TimeOption::TimeOption(TimeOption&&) noexcept = default;
TimeOption& TimeOption::operator=(const TimeOption&) = default;
TimeOption& TimeOption::operator=(TimeOption&&) noexcept = default;
TimeOption::~TimeOption() = default;

Tolerance::Tolerance(double all) : values{all} {}
Tolerance::Tolerance(const Tolerance&) = default;
Tolerance::Tolerance(Tolerance&&) noexcept = default;
Tolerance& Tolerance::operator=(const Tolerance&) = default;
Tolerance& Tolerance::operator=(Tolerance&&) noexcept = default;
Tolerance::~Tolerance() = default;

ImpulseKinds::ImpulseKinds(Impulse of_all) : values{of_all} {}
ImpulseKinds::ImpulseKinds(const ImpulseKinds&) = default;
ImpulseKinds::ImpulseKinds(ImpulseKinds&&) noexcept = default;
ImpulseKinds& ImpulseKinds::operator=(const ImpulseKinds&) = default;
ImpulseKinds& ImpulseKinds::operator=(ImpulseKinds&&) noexcept = default;
ImpulseKinds::~ImpulseKinds() = default;

Watcher::Watcher(const Watcher&) = default;
Watcher::Watcher(Watcher&&) noexcept = default;
Watcher& Watcher::operator=(const Watcher&) = default;
Watcher& Watcher::operator=(Watcher&&) noexcept = default;
Watcher::~Watcher() = default;

TimePlan::TimePlan() = default;
TimePlan::TimePlan(const TimePlan&) = default;
TimePlan::TimePlan(TimePlan&&) noexcept = default;
TimePlan& TimePlan::operator=(const TimePlan&) = default;
TimePlan& TimePlan::operator=(TimePlan&&) noexcept = default;
TimePlan::~TimePlan() = default;

detail::CallTimes TimePlan::view() const {
    return {{.direction = direction,
             .dt0 = dt0,
             .dt_min = dt_min,
             .dt_max = dt_max,
             .max_steps = max_steps,
             .num_tstops = static_cast<std::int32_t>(num_tstops),
             .num_saves = static_cast<std::int32_t>(num_saves),
             .num_impulses = static_cast<std::int32_t>(num_impulses),
             .saves_the_end = saves_the_end,
             .saves_before_impulses = saves_before_impulses},
            {t0, span},
            rows_differ ? own.data() : nullptr,
            tstops.data(),
            saves.data(),
            save_time.data(),
            impulses.data(),
            {row_numbers.data(), static_cast<std::ptrdiff_t>(row_numbers.size()), 1, 1, 0}};
}

namespace detail {

KnotValues::KnotValues(const KnotValues&) = default;
KnotValues::KnotValues(KnotValues&&) noexcept = default;
KnotValues& KnotValues::operator=(const KnotValues&) = default;
KnotValues& KnotValues::operator=(KnotValues&&) noexcept = default;
KnotValues::~KnotValues() = default;

InputRoom::InputRoom() = default;
InputRoom::InputRoom(const InputRoom&) = default;
InputRoom::InputRoom(InputRoom&&) noexcept = default;
InputRoom& InputRoom::operator=(const InputRoom&) = default;
InputRoom& InputRoom::operator=(InputRoom&&) noexcept = default;
InputRoom::~InputRoom() = default;

template <class Real>
InputPlan<Real>::InputPlan() = default;
template <class Real>
InputPlan<Real>::InputPlan(const InputPlan&) = default;
template <class Real>
InputPlan<Real>::InputPlan(InputPlan&&) noexcept = default;
template <class Real>
InputPlan<Real>& InputPlan<Real>::operator=(const InputPlan&) = default;
template <class Real>
InputPlan<Real>& InputPlan<Real>::operator=(InputPlan&&) noexcept = default;
template <class Real>
InputPlan<Real>::~InputPlan() = default;
template struct InputPlan<float>;
template struct InputPlan<double>;

}  // namespace detail

}  // namespace eddy::inline v0
