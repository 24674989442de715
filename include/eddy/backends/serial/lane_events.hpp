#pragma once
// Where one lane has an event: where one of the events' functions g passes zero at the end of a step. A step
// that passes some is tried again and again, with the sizes of a bracket, until that is as wide as time
// resolves. Below it none has passed zero, at its upper end one has: the first of those is the event. Functions of
// time and parameters only are not looked at in steps, which end where their events are due.
// Test: tests/solve/event_oracle.cpp

#include <algorithm>
#include <cmath>
#include <eddy/backends/serial/lane_step.hpp>
#include <eddy/solve/lane/event_times.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/steppers/root_bracket.hpp>
#include <limits>
#include <vector>

namespace eddy::inline v0::detail {

/// What an accepted attempt shows of events.
enum class EventSeen : std::uint8_t { none, within, here };

/// The events of a lane of an equation that has none.
struct NoEventsOfLane {
    LaneEvents told;
    template <class Lane>
    explicit NoEventsOfLane(const Lane&) {}
    [[nodiscard]] static std::int64_t evaluations() { return 0; }
    [[nodiscard]] static double due_after(double) {
        return std::numeric_limits<double>::infinity();
    }
};

template <class Spec>
class EventsOfLane {
    using State = typename Spec::State;
    using Number = typename Spec::Number;
    using Real = typename Spec::Primal;
    using Functions = EventFunctions<typename Spec::Field>;
    using Values = Vec<double, Spec::num_events>;
    static constexpr int num_events = Spec::num_events;

  public:
    LaneEvents told;

    explicit EventsOfLane(const LaneProblem<Spec>& lane) : lane_(lane) {}

    /// A side of zero is known by what g was last, but for zero; in a state where it is zero, or that an event
    /// leaves at zero, by where it moves to.
    void begin(const StepStart<Spec>& at) {
        know_sides(at);
        for_timed([&]<int i>(const auto& times) { due_[i] = times.template first<i>(); });
    }
    /// The same behind a tstop's impulses, where it has some: what they pass is no event.
    void go_on(const StepStart<Spec>& at) {
        if (!lane_.times().tstops[at.tstop - 1].impulses.is_empty()) know_sides(at);
    }
    /// The time until the next event that is due.
    [[nodiscard]] double due_after(double elapsed) const { return soonest() - elapsed; }
    /// An attempt to reach an event has been rejected: its step begins anew.
    void give_up() { bracket_ = {}; }

    /// At the end of a step from `from`, in elapsed time `end_of_step`, `uncut` being the size it was to have.
    [[nodiscard]] EventSeen look(const StepStart<Spec>& from, double size, double end_of_step,
                                 const State& end, double uncut) {
        size_back_ = 0;
        g_ = lane_.with_step(from, size,
                             [&](const auto& in) { return values(in.t.last, end, in.p); });
        for_timed([&]<int i>(const auto&) { g_[i] = side_[i] = 1; });
        for (int i = 0; i < num_events; ++i) {
            if (std::isfinite(g_[i]) && std::isfinite(side_[i]) && !std::isnan(due_[i])) continue;
            return lose();
        }
        const bool is_due = size == due_after(from.elapsed);
        // A step behind an event that is no longer than time was resolved there shows nothing of sides that are
        // only said.
        const double resolved = width_of(from.elapsed, uncut_);
        blurred_ = size <= 2 * resolved && !bracket_.is_open() ? least : -1;
        const std::vector<int> passed = functions_that_passed();
        if (passed.empty() && !bracket_.is_open()) {
            for (int i = 0; i < num_events; ++i)
                if (g_[i] != 0 && std::abs(side_[i]) > blurred_) side_[i] = g_[i];
            if (is_due) passed_ = due_now();
            if (!is_due || passed_.empty()) return go_on(end_of_step);
            uncut_ = uncut;
            width_ = width_of(from.elapsed, size);
            return meet(end_of_step);
        }
        take(size, passed, uncut);
        width_ = width_of(from.elapsed, bracket_.high);
        const bool at_zero = !passed.empty() && std::all_of(passed.begin(), passed.end(),
                                                            [&](int i) { return g_[i] == 0; });
        if (!at_zero && !bracket_.is_closed(width_)) return EventSeen::within;
        if (is_due) {
            const std::vector<int> due = due_now();
            passed_.insert(passed_.end(), due.begin(), due.end());
            std::sort(passed_.begin(), passed_.end());
        }
        if (steps_back_from(from, size, end_of_step)) return EventSeen::within;
        return meet(end_of_step);
    }
    [[nodiscard]] bool are_sought() const { return bracket_.is_open(); }
    [[nodiscard]] double next_size() const {
        if (size_back_ > 0) return size_back_;
        return bracket_.is_open() ? bracket_.next(width_) : uncut_;
    }
    /// The tangent of the size of a step that was accepted; where it ends with an event whose function has no
    /// slope there is none.
    [[nodiscard]] ClockTangent<Spec> tangent_of_size(const StepStart<Spec>& from, double size,
                                                     bool is_here) {
        if (!is_here || is_lost_) return lane_.tangent_of_size(from, size);
        const auto by = lane_.tangent_to_event(from, size, index());
        is_lost_ = !std::isfinite(by);
        return is_lost_ ? 0 : by;
    }
    /// The event that was found, and whether the lane ends there.
    [[nodiscard]] int index() const { return is_lost_ || passed_.empty() ? 0 : passed_.front(); }
    [[nodiscard]] bool ends_lane() const { return is_terminal_at<typename Spec::Field>(index()); }
    void tell(double t) {
        told = {told.count + 1, t, index()};
        if (!ends_lane()) ++num_jumps_;
    }
    /// Evaluations of f for the sides on which events leave g, and for steps that begin anew.
    [[nodiscard]] std::int64_t evaluations() const {
        return num_jumps_ * (1 + std::int64_t{Spec::Stepper::evaluations_at_start});
    }
    /// Is g no number?
    [[nodiscard]] bool is_lost() const {
        return is_lost_ || !std::all_of(side_.data, side_.data + num_events,
                                        [](double side) { return std::isfinite(side); });
    }

    /// The state after an event at the end of a step.
    [[nodiscard]] State jump(const AcceptedStep<Spec>& step, const State& end) {
        return lane_.with_step(step.from, step.size, step.by, [&](const auto& in) {
            const int event = index();
            const State y = state_after(event, in.t.last, end, in.p);
            const Motion motion = motion_at(in.t.last, y, in.p);
            for (int i = 0; i < num_events; ++i) {
                if (is_timed_[i]) continue;
                const bool is_next =
                    i != event && std::find(passed_.begin(), passed_.end(), i) != passed_.end();
                const double off = i == event || is_next ? std::abs(g_[i]) : 0;
                const bool is_near =
                    std::abs(motion.g[i]) <= 2 * (off + std::abs(motion.along[i]) * width_);
                if (is_next && is_near)  // it remains to be found
                    side_[i] = std::copysign(2 * least, side_[i]);
                else if (is_near && (i == event || motion.g[i] != g_[i] || g_[i] == 0))
                    side_[i] = side_along(motion, i);
                else
                    side_[i] = motion.g[i];
            }
            return y;
        });
    }

  private:
    void know_sides(const StepStart<Spec>& at) {
        lane_.with_step(at, 0, [&](const auto& in) {
            const Motion motion = motion_at(in.t.first, at.y, in.p);
            for (int i = 0; i < num_events; ++i) {
                side_[i] = motion.g[i];
                if (side_[i] == 0) side_[i] = side_along(motion, i);
            }
        });
    }
    /// Calls visit<i>(times) for each function of time.
    template <class Visit>
    void for_timed(const Visit& visit) const {
        const LaneParameters<Spec> p{&lane_.problem, lane_.of_launch};
        const EventTimes<typename Spec::Field, LaneParameters<Spec>> times(lane_.times(), p);
        static_for<0, num_events>([&]<int i>() {
            if constexpr (is_timed_event<typename Spec::Field, i>)
                visit.template operator()<i>(times);
        });
    }
    [[nodiscard]] double soonest() const {
        double soonest = std::numeric_limits<double>::infinity();
        for (int i = 0; i < num_events; ++i)
            if (is_timed_[i]) soonest = std::min(soonest, std::abs(due_[i]));
        return soonest;
    }
    [[nodiscard]] std::vector<int> due_now() const {
        std::vector<int> due;
        for (int i = 0; i < num_events; ++i)
            if (is_timed_[i] && due_[i] == soonest()) due.push_back(i);
        return due;
    }
    EventSeen lose() {
        is_lost_ = true;
        bracket_ = {};
        return EventSeen::here;
    }
    /// A step ends, with an event or without: what is due comes later.
    EventSeen meet(double elapsed) {
        bracket_ = {};
        if (!ends_lane()) renew_due(elapsed, index());
        return EventSeen::here;
    }
    EventSeen go_on(double elapsed) {
        renew_due(elapsed, -1);
        const bool is_lost = std::any_of(due_.data, due_.data + num_events,
                                         [](double due) { return std::isnan(due); });
        return is_lost ? lose() : EventSeen::none;
    }
    void renew_due(double elapsed, int met) {
        if (!(elapsed < lane_.times().span)) return;
        for_timed([&]<int i>(const auto& times) {
            due_[i] = times.template renewed<i>(due_[i], elapsed, i == met);
        });
    }

    static constexpr double least = std::numeric_limits<double>::min();
    /// The functions in a state, and their derivatives along the solution from there, in elapsed time.
    struct Motion {
        Values g, along;
    };

    template <class Parameters>
    [[nodiscard]] static Values values(const auto& t, const State& y, const Parameters& p) {
        const auto of_state = Functions::values(t, y, p);
        Values g;
        for (int i = 0; i < num_events; ++i) g[i] = static_cast<double>(primal(of_state[i]));
        return g;
    }
    template <class Parameters>
    [[nodiscard]] Motion motion_at(const auto& t, const State& y, const Parameters& p) const {
        State slope = Spec::Term::derivative(t, y, p);
        if constexpr (has_mass<typename Spec::Field>)
            slope = MassMatrix<typename Spec::Field>::slope(slope);
        Motion motion{values(t, y, p), {}};
        static_for<0, num_events>([&]<int i>() {
            State by_y{};
            Number along =
                Functions::template derivatives<i>(t, y, p, by_y, [](int, const Number&) {});
            for (int k = 0; k < Spec::state_size; ++k) along = along + by_y[k] * slope[k];
            motion.along[i] = static_cast<double>(primal(along)) * lane_.times().direction;
        });
        return motion;
    }
    [[nodiscard]] static double width_of(double elapsed, double size) {
        return 4 * std::numeric_limits<double>::epsilon() * (elapsed + size) +
               static_cast<double>(std::numeric_limits<Real>::epsilon()) * size;
    }
    [[nodiscard]] static double side_along(const Motion& motion, int i) {
        return motion.along[i] > 0 ? least : motion.along[i] < 0 ? -least : 0;
    }
    template <class Parameters>
    [[nodiscard]] static State state_after(int event, const auto& t, const State& y,
                                           const Parameters& p) {
        State after = y;
        static_for<0, num_events>([&]<int i>() {
            if constexpr (!Functions::template is_terminal<i>) {
                if (event == i) after = Functions::template jump<i>(t, y, p);
            }
        });
        return after;
    }

    /// An event that the lane goes on behind is not at a tstop nor at a save point, if time resolves what is before.
    [[nodiscard]] bool steps_back_from(const StepStart<Spec>& from, double size,
                                       double end_of_step) {
        const LaneTimes& times = lane_.times();
        const double tstop = times.tstops[from.tstop].elapsed;
        const bool is_save = std::find(times.saves, times.saves + times.num_saves, end_of_step) !=
                             times.saves + times.num_saves;
        if (ends_lane() || end_of_step <= from.elapsed || !(end_of_step == tstop || is_save))
            return false;
        const double back = bracket_.step_back(size, width_);
        const double before = from.elapsed + back;
        if (!(before > from.elapsed && before < end_of_step)) return false;
        size_back_ = back;
        return true;
    }
    [[nodiscard]] std::vector<int> functions_that_passed() const {
        std::vector<int> passed;
        for (int i = 0; i < num_events; ++i) {
            const Crossing wanted = wanted_[i];
            const bool falls = wanted != Crossing::rising && side_[i] > 0 && g_[i] <= 0;
            const bool rises = wanted != Crossing::falling && side_[i] < 0 && g_[i] >= 0;
            if (std::abs(side_[i]) > blurred_ && (falls || rises)) passed.push_back(i);
        }
        return passed;
    }
    /// What was tried becomes an end of the bracket, which follows one of the functions beyond their roots at
    /// its upper end.
    void take(double size, const std::vector<int>& passed, double uncut) {
        if (passed.empty()) return bracket_.narrow(size, g_[leader_], false);
        passed_ = passed;
        const bool still_leads =
            bracket_.is_open() && std::find(passed.begin(), passed.end(), leader_) != passed.end();
        if (still_leads) return bracket_.narrow(size, g_[leader_], true);
        leader_ = passed.front();
        const auto fraction = [&](int i) { return side_[i] / (side_[i] - g_[i]); };
        for (const int i : passed)
            if (fraction(i) < fraction(leader_)) leader_ = i;
        if (bracket_.is_open()) return bracket_.turn_to(size, side_[leader_], g_[leader_]);
        bracket_ = RootBracket::begin(size, side_[leader_], g_[leader_]);
        uncut_ = uncut;
    }

    static constexpr auto wanted_ = [] {
        Vec<Crossing, num_events> wanted{};
        for (int i = 0; i < num_events; ++i) wanted[i] = crossing_of<typename Spec::Field>(i);
        return wanted;
    }();

    static constexpr auto is_timed_ = [] {
        Vec<bool, num_events> is{};
        static_for<0, num_events>(
            [&]<int i>() { is[i] = is_timed_event<typename Spec::Field, i>; });
        return is;
    }();

    const LaneProblem<Spec>& lane_;
    Values side_{};            // g where it was not zero last
    Values due_{};             // of functions of time: DueTime
    Values g_{};               // at the last attempt
    RootBracket bracket_;      // of the size of a step to an event
    std::vector<int> passed_;  // the functions beyond their roots at its upper end
    int leader_ = 0;           // of them, the one that it follows
    double uncut_ = 0;         // the size that was tried before it was sought
    double width_ = 0;         // at the last attempt to reach it
    double blurred_ = -1;      // sides this far from zero are not looked at
    double size_back_ = 0;     // to be tried next, before a time at which it may not be; 0: any
    std::int64_t num_jumps_ = 0;
    bool is_lost_ = false;
};

}  // namespace eddy::inline v0::detail
