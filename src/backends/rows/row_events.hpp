#pragma once
// The events of the lanes of a tile. Each accepted attempt shows on which side of zero their functions are; one that
// passes some is taken back and tried again with the sizes of a bracket, as in lane/event_search.hpp, until that is as
// wide as time resolves. A lane at a time: roots are rare. Those of time are due, and steps end there.

#include <cstdint>
#include <eddy/backends/rows/row_events.hpp>
#include <eddy/backends/rows/row_recorder.hpp>
#include <eddy/solve/lane/event_bracket.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/steppers/root_bracket.hpp>
#include <memory>
#include <vector>
#include "row_event_times.hpp"
#include "row_log.hpp"
#include "row_step.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowEvents {
  public:
    RowEvents(const RowProblem<Real>& problem, RowStep<Real>& step);

    /// A lane begins in a place, in this state, on its way to its first tstop; or goes on behind impulses.
    void begin(int place, std::ptrdiff_t lane, const Real* state);
    void go_on(int place, std::int32_t tstop, const Real* state);
    /// The lane there has ended.
    void leave(int place) { places_[at(place)].lane = -1; }

    /// Before an attempt: what is taken back has this size again, and none goes beyond an event that is due.
    void keep(RowClocks& clocks);
    /// After the verdicts on it: finds the lanes that meet an event at its end, and takes back what goes beyond one. True
    /// where a lane meets one, or has a function that is no number.
    [[nodiscard]] bool look(RowClocks& clocks);

    /// Does a lane meet an event at the end of the last attempt?
    [[nodiscard]] bool meets(int place) const { return places_[at(place)].meets; }
    /// Is one of its functions no number?
    [[nodiscard]] bool is_lost(int place) const { return places_[at(place)].is_lost; }
    [[nodiscard]] bool ends_lane(int place) const {
        return meets(place) && !is_lost(place) && is_terminal(places_[at(place)].index());
    }
    /// Does it go on, in the state `after`?
    [[nodiscard]] bool jumps(int place) const {
        return meets(place) && !is_lost(place) && !ends_lane(place);
    }
    /// The state in which an event that is met leaves it: of one that ends it, what its tangents make of the time of its end.
    [[nodiscard]] const Real* after(int place) const {
        return after_.data() + std::int64_t{place} * problem_->state_size;
    }
    /// The function that it met there; none where that is no number.
    [[nodiscard]] std::int8_t met(int place) const {
        return meets(place) && !is_lost(place)
                   ? static_cast<std::int8_t>(places_[at(place)].index())
                   : LoggedStep::no_event;
    }
    /// Tells of it, at the time t.
    void tell(int place, double t);
    /// Evaluations of f for the sides on which events leave functions, and for steps that begin anew.
    [[nodiscard]] std::int64_t evaluations(int place) const {
        return places_[at(place)].num_jumps * (1 + problem_->method->evaluations_at_start());
    }

    // The way back.

    /// What of the search goes from round to round.
    [[nodiscard]] static std::size_t num_bytes(int num_events, int width) {
        return at(width) * (sizeof(Place) + at(num_events) * sizeof(double));
    }
    void copy_to(std::byte* to) const;
    void restore(const std::byte* from);
    /// The state of a lane after an event, from that at its end: columns.
    void state_after(int event, std::ptrdiff_t lane, double t, const Real* state, Real* after);
    /// The cotangent of the state after it becomes that of the state before it; that of its time is returned.
    [[nodiscard]] Real pull_jump(int event, std::ptrdiff_t lane, double t, const Real* state,
                                 Real* cotangent, const RowSums<Real>& of_p);
    /// The derivatives of its function by t, which is returned, and by y and p: valid until the next call.
    [[nodiscard]] Real derivatives(int event, std::ptrdiff_t lane, double t, const Real* state);
    [[nodiscard]] const Real* by_y() const { return by_y_.data(); }
    [[nodiscard]] const Real* by_p() const { return by_p_.data(); }

  private:
    using Leading = LeadingEvent<EventsOnRows::most>;
    struct Place {
        std::ptrdiff_t lane = -1;
        RootBracket bracket;
        Leading
            passed;  // which functions are beyond their roots at its upper end, and which of them it follows
        double uncut = 0, width = 0, next_size = 0;
        std::int64_t num_jumps = 0;
        bool meets = false, is_lost = false;

        [[nodiscard]] int index() const { return is_lost || passed.met == 0 ? 0 : passed.first(); }
    };
    enum class Seen : std::uint8_t { none, within, here };
    /// The functions in a state, and how they move from there, in elapsed time.
    struct Motion {
        std::vector<double> g, along;
    };

    [[nodiscard]] static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] int count() const { return problem_->events->count(); }
    [[nodiscard]] bool is_terminal(int i) const {
        return problem_->events->are_terminal[at(i)] != 0;
    }
    [[nodiscard]] bool passes(int i, double from, double now) const;
    [[nodiscard]] double& side(int i, int place) { return side_[at(i * width_ + place)]; }
    /// Of a function of time, in the place of the side.
    [[nodiscard]] DueTime& due(int i, int place) { return side(i, place); }
    [[nodiscard]] bool is_timed(int i) const { return timed_.has(i); }
    [[nodiscard]] double soonest(int place);
    [[nodiscard]] std::uint32_t events_due(int place, double at);
    void end_by(int place, double soonest, RowClocks& clocks) const;
    void renew_due(int place, Seen seen, const RowClocks& clocks);
    [[nodiscard]] double g(int i, int place) const {
        return static_cast<double>(g_[at(i * width_ + place)]);
    }
    void know_sides(int place, std::int32_t tstop, double t, const Real* state);
    const Motion& motion_at(int place, std::int32_t tstop, double t, const Real* state);
    void load_p(std::ptrdiff_t lane);
    void pull_one(FieldOnTileOf<Real>& one, const Real& t, const Real* state, const Real* c);
    [[nodiscard]] Real pull_function(int i, const Real& t, const Real* state);
    [[nodiscard]] Seen look_at(int place, const RowClocks& clocks);
    [[nodiscard]] Leading functions_that_passed(int place, double blurred);
    void take(int place, double size, const Leading& passed, double uncut);
    [[nodiscard]] double size_back(int place, const RowClocks& clocks);
    void take_back(int place, RowClocks& clocks);
    void restore_history(int place, const RowClocks& clocks);
    void pass(int place, const RowClocks& clocks);

    const RowProblem<Real>* problem_;
    RowStep<Real>* step_;
    int width_;
    std::unique_ptr<FieldOnTileOf<Real>> functions_, of_one_;  // of all lanes; of one
    std::vector<std::unique_ptr<FieldOnTileOf<Real>>> jumps_;  // (function), of one lane
    std::vector<Place> places_;
    RowEventTimes timed_;
    std::vector<double> side_, sizes_;  // (function, place), (place)
    std::vector<float> history_;        // (row of the history, place)
    std::vector<Real> g_, after_;       // (function, place), (place, component)
    std::vector<Real> p_, state_, slope_, values_, by_y_, by_p_, kept_, cotangent_;  // of one lane
    Motion motion_;
};

}  // namespace eddy::inline v0::detail
