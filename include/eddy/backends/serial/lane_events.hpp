#pragma once
// Where one lane has an event: where g, the event's function, passes zero at the end of a step. A step that
// passes one is tried again and again, with the sizes of a bracket, until that is as wide as time resolves.

#include <cmath>
#include <eddy/backends/serial/lane_step.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/steppers/root_bracket.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// What an accepted attempt shows of events.
enum class EventSeen : std::uint8_t { none, within, here };

/// Of an equation without events.
struct NoEventsOfLane {
    LaneEvents told;
    template <class Lane>
    explicit NoEventsOfLane(const Lane&) {}
    [[nodiscard]] static std::int64_t evaluations() { return 0; }
};

template <class Spec>
class EventsOfLane {
    using State = typename Spec::State;
    using Real = typename Spec::Primal;
    using Functions = EventFunctions<typename Spec::Field>;

  public:
    LaneEvents told;

    explicit EventsOfLane(const LaneProblem<Spec>& lane) : lane_(lane) {}

    /// A side of zero is known by what g was last, but for zero; in a state where it is zero, or that an event
    /// leaves at zero, by where it moves to.
    void begin(const StepStart<Spec>& at) {
        lane_.with_step(at, 0, [&](const auto& in) { take_side(in.t.first, at.y, in.p, 0, 0); });
    }
    /// An attempt to reach an event has been rejected: its step begins anew.
    void give_up() { bracket_ = {}; }

    /// At the end of a step from `from`, `uncut` being the size it was to have.
    [[nodiscard]] EventSeen look(const StepStart<Spec>& from, double size, const State& end,
                                 double uncut) {
        const double g = lane_.with_step(from, size, [&](const auto& in) {
            return static_cast<double>(Functions::value(in.t.last, end, in.p));
        });
        if (!std::isfinite(g) || is_lost()) {
            side_ = std::numeric_limits<double>::quiet_NaN();
            bracket_ = {};
            return EventSeen::here;
        }
        if (!has_passed(g) && !bracket_.is_open()) {
            if (g != 0) side_ = g;
            return EventSeen::none;
        }
        if (bracket_.is_open()) {
            bracket_.narrow(size, g, has_passed(g));
        } else {
            bracket_ = RootBracket::begin(size, side_, g);
            uncut_ = uncut;
        }
        g_ = g;
        width_ = 4 * std::numeric_limits<double>::epsilon() * (from.elapsed + bracket_.high) +
                 static_cast<double>(std::numeric_limits<Real>::epsilon()) * bracket_.high;
        if (g != 0 && !bracket_.is_closed(width_)) return EventSeen::within;
        bracket_ = {};
        return EventSeen::here;
    }
    [[nodiscard]] bool are_sought() const { return bracket_.is_open(); }
    [[nodiscard]] double next_size() const {
        return bracket_.is_open() ? bracket_.next(width_) : uncut_;
    }
    /// Of f, for the sides on which events leave g, and for steps that begin anew.
    [[nodiscard]] std::int64_t evaluations() const {
        return Spec::has_jump ? told.count * (1 + std::int64_t{Spec::Stepper::evaluations_at_start})
                              : 0;
    }
    /// Is g no number?
    [[nodiscard]] bool is_lost() const { return !std::isfinite(side_); }

    /// The state after an event at the end of a step.
    [[nodiscard]] State jump(const StepStart<Spec>& from, double size, const State& end) {
        return lane_.with_step(from, size, [&](const auto& in) {
            const State y = Functions::jump(in.t.last, end, in.p);
            take_side(in.t.last, y, in.p, std::abs(g_), width_);
            return y;
        });
    }

  private:
    [[nodiscard]] bool has_passed(double g) const {
        constexpr Crossing wanted = crossing_of<typename Spec::Field>;
        const bool falls = wanted != Crossing::rising && side_ > 0 && g <= 0;
        const bool rises = wanted != Crossing::falling && side_ < 0 && g >= 0;
        return falls || rises;
    }
    /// From y on; g counts as zero where it is no further from it than it was at an event, nor than it moves
    /// while a bracket is as wide as this.
    template <class Parameters>
    void take_side(double t, const State& y, const Parameters& p, double g_at_event, double width) {
        side_ = static_cast<double>(Functions::value(t, y, p));
        State by_y{}, slope = Spec::Term::derivative(t, y, p);
        if constexpr (has_mass<typename Spec::Field>)
            slope = MassMatrix<typename Spec::Field>::slope(slope);
        Real along = Functions::derivatives(t, y, p, by_y, [](int, const Real&) {});
        for (int i = 0; i < Spec::state_size; ++i) along = along + by_y[i] * slope[i];
        const double ahead = static_cast<double>(along) * lane_.times().direction;
        if (!(std::abs(side_) <= 2 * (g_at_event + std::abs(ahead) * width))) return;
        constexpr double least = std::numeric_limits<double>::min();
        side_ = ahead > 0 ? least : ahead < 0 ? -least : 0;
    }

    const LaneProblem<Spec>& lane_;
    double side_ = 0;           // g where it was not zero last
    RootBracket bracket_;       // of the size of a step to an event
    double uncut_ = 0;          // the size that was tried before it was sought
    double g_ = 0, width_ = 0;  // at the last attempt to reach it
};

}  // namespace eddy::inline v0::detail
