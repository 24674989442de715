#pragma once
// When the events of a lane are due that depend on time and parameters only (lane/due_time.hpp): functions that are
// traced when the program runs, in numbers by their list and in intervals by a walk of it.

#include <eddy/ad/interval.hpp>
#include <eddy/backends/rows/row_events.hpp>
#include <eddy/solve/lane/due_time.hpp>
#include "../../trace/rows/scalar_list.hpp"

namespace eddy::inline v0::detail {

/// One of them; and its slope, a program (t, y, p, direction of time).
struct TimedFunction {
    std::shared_ptr<const FieldMaker> values;
    ScalarList bounds, slopes;
};

/// Those of an equation, for a worker.
class RowEventTimes {
  public:
    explicit RowEventTimes(const EventsOnRows& events);

    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] bool has(int i) const {
        return functions_[static_cast<std::size_t>(i)].of != nullptr;
    }
    /// The parameters of the lane that is asked for next.
    template <class Real>
    void take_parameters(const Real* p) {
        p_.assign(p, p + p_.size());
    }
    /// The first event of function i.
    [[nodiscard]] DueTime first(int i, const LaneTimes& times);
    /// What becomes of one that is due, where the lane has gone on to `elapsed`.
    [[nodiscard]] DueTime renewed(int i, const LaneTimes& times, DueTime due, double elapsed,
                                  bool is_met);

  private:
    struct Bound {
        Interval is;
        IntervalMask holds;
    };
    struct Function {
        const TimedFunction* of = nullptr;
        std::unique_ptr<FieldOnTile> values;
    };
    class OfLane;
    template <Op op>
    static void set_bound(const ScalarValue& value, Bound& to, const Bound* all);
    [[nodiscard]] Interval bound(const ScalarList& list, const Interval& t, double direction);
    auto with_search(int i, const LaneTimes& times, const auto& use);

    const EventsOnRows* events_;
    std::vector<Function> functions_;
    std::vector<Bound> bounds_;
    std::vector<double> p_, state_;  // no state is read
    int count_ = 0;
};

}  // namespace eddy::inline v0::detail
