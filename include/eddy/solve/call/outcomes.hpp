#pragma once
// How every trajectory ended, and what it has cost: common to solutions and gradients.
// Test: tests/solve/failures.cpp, tests/solve/asynchronous.cpp

#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/result.hpp>
#include <eddy/solve/call/unfinished.hpp>
#include <eddy/solve/lane/lost_states.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/steppers/attempt_cost.hpp>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

template <class Real>
struct SolutionRows;  // ranks/gathered.hpp

[[noreturn]] EDDY_EXPORT void throw_no_such_index(std::ptrdiff_t index, std::ptrdiff_t count,
                                                  const char* what);

/// `what` with its article: "solution: trajectory".
inline void require_index(std::ptrdiff_t index, std::ptrdiff_t count, const char* what) {
    if (index < 0 || index >= count) [[unlikely]]
        throw_no_such_index(index, count, what);
}

}  // namespace detail

/// What the steps of one trajectory cost.
struct LaneStats {
    std::int64_t accepted = 0;        ///< accepted steps
    std::int64_t rejected = 0;        ///< rejected attempts
    std::int64_t evaluations = 0;     ///< evaluations of f in the forward pass
    std::int64_t jacobians = 0;       ///< evaluated Jacobians of f, by methods with linear systems
    std::int64_t factorizations = 0;  ///< factorizations of their matrices
    /// Accepted steps of an explicit Runge–Kutta method whose size stability limited, not the
    /// error. This is an estimate from one attempt in 256, on the host. On a device only AutoSwitch
    /// estimates it.
    std::int64_t stiff_steps = 0;
    std::int64_t events = 0;  ///< roots of the event functions
};

/// Where and how a trajectory ended.
struct LaneFailure {
    Result result = Result::success;  ///< how it ended
    double t = 0;                     ///< the time where it ended
    std::int64_t step = 0;            ///< attempted steps so far
    /// The component that was not finite or had the largest error; −1 if there is none.
    int component = -1;
    /// The save point where the loss, or the value of `observe`, was not finite; else −1.
    int save_point = -1;
    /// The state at which the loss was not finite. It is kept for the first 64 such trajectories of
    /// a call on the host, if each has one path; else it is empty.
    std::vector<double> y{};
};

/// How each trajectory ended: common to solutions and the reports of gradients. After an
/// asynchronous call (`Cuda{.asynchronous = true}`) the first question waits for it. What a device
/// has of single trajectories is copied to the host at the first question that `success()` cannot
/// answer.
class EDDY_EXPORT Outcomes {
  public:
    Outcomes() = default;
    explicit Outcomes(std::size_t num_lanes) : lanes_(num_lanes) {}
    Outcomes(const Outcomes&);
    Outcomes(Outcomes&&) noexcept;
    Outcomes& operator=(const Outcomes&);
    Outcomes& operator=(Outcomes&&) noexcept;
    ~Outcomes();

    /// The number of trajectories.
    [[nodiscard]] std::ptrdiff_t num_lanes() const {
        return static_cast<std::ptrdiff_t>(lanes_.size());
    }
    /// How a trajectory ended.
    [[nodiscard]] Result result(std::ptrdiff_t lane) const { return at(lane).result; }
    /// What the steps of a trajectory cost.
    [[nodiscard]] LaneStats stats(std::ptrdiff_t lane) const {
        const LaneOutcome& outcome = at(lane);
        return stats_of(outcome, events_of(lane));
    }
    /// The time of its last event; NaN if there was none.
    [[nodiscard]] double event_t(std::ptrdiff_t lane) const {
        static_cast<void>(at(lane));  // there is such a trajectory, and its outcome has come
        const LaneEvents events = events_of(lane);
        return events.count > 0 ? events.t : std::numeric_limits<double>::quiet_NaN();
    }
    /// The number of the event function of its last event: the terminal one, if it ended at one. −1 if
    /// there was none.
    [[nodiscard]] int event_index(std::ptrdiff_t lane) const {
        static_cast<void>(at(lane));
        return events_of(lane).index;
    }
    /// One sentence that says what happened to a trajectory and what to do:
    /// `message(result(lane))`, or more where more is known. A text that is never freed.
    [[nodiscard]] const char* message(std::ptrdiff_t lane) const;
    /// Where and how a trajectory ended.
    [[nodiscard]] LaneFailure failure(std::ptrdiff_t lane) const {
        return failure_of(at(lane), lane);
    }
    /// Whether the second method of an `AutoSwitch` solved the trajectory. Its statistics are then
    /// those of that method only.
    /// For `steady_state`: whether integration found the state, because pseudo-transient continuation
    /// did not. The steps of both are then counted.
    [[nodiscard]] bool switched(std::ptrdiff_t lane) const { return at(lane).method != 0; }
    /// How many trajectories the second method solved.
    [[nodiscard]] std::ptrdiff_t num_switched() const;
    /// The paths of each trajectory: `SolveOptions::paths`.
    [[nodiscard]] std::int64_t num_paths() const { return num_paths_; }
    /// How many of them failed, and are left out of the means. The trajectory's result is that of the
    /// first path that failed; its statistics are sums over all paths.
    [[nodiscard]] std::int64_t failed_paths(std::ptrdiff_t lane) const {
        if (failed_paths_.empty()) return is_failure(at(lane).result) ? 1 : 0;
        detail::require_index(lane, num_lanes(), "solution: trajectory");
        need();
        return failed_paths_[static_cast<std::size_t>(lane)];
    }
    /// Waits for an asynchronous call, and copies to the host what its result has there; for a call
    /// that was captured in a graph, what the last run left.
    void wait() const { unfinished_.wait(); }

    /// True if no trajectory failed. One that ended at a terminal event has not failed.
    [[nodiscard]] bool success() const;
    /// The sums over all trajectories.
    [[nodiscard]] LaneStats total_stats() const;

    /// All outcomes in their layout in memory: for callers from other languages.
    [[nodiscard]] std::span<const LaneOutcome> outcomes() const { return known_lanes(); }

    /// The outcomes, for the call that fills them in.
    [[nodiscard]] std::span<LaneOutcome> lanes() { return lanes_; }
    /// Sets the cost of the attempts of the first method, 0, or of the second, which is that of the
    /// first unless it is given.
    void set_attempt_cost(const AttemptCost& cost, int method = 0) {
        for (int of = method; of < 2; ++of) attempt_cost_[of] = cost;
    }
    void reset(std::size_t num_lanes, std::int64_t paths = 1);
    /// Room for outcomes that come when the call is done: they are not touched until then.
    void reset_later(std::size_t num_lanes, std::int64_t paths = 1);
    /// The failed paths of each lane, (lane), where each has several paths.
    [[nodiscard]] std::span<std::int64_t> failed_paths_of_lanes() { return failed_paths_; }
    /// The states at which losses were not finite.
    [[nodiscard]] detail::LostStates& lost_states() { return lost_states_; }
    /// The outcomes come when the rest is finished.
    void follow(const detail::Unfinished& rest) { unfinished_.follow(rest); }
    /// Waits for the outcomes now: other trajectories will take their places.
    void wait() {
        need();
        unfinished_.forget();
    }
    void clear() { reset(0); }
    /// Room for the events of each trajectory, if the equation has events.
    [[nodiscard]] LaneEvents* keep_events();

  protected:
    /// What is still to come has come.
    void need() const { unfinished_.need(); }

  private:
    template <class Real>
    friend struct detail::SolutionRows;
    [[nodiscard]] const LaneOutcome& at(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "solution: trajectory");
        return known_lanes()[static_cast<std::size_t>(lane)];
    }
    [[nodiscard]] const std::vector<LaneOutcome>& known_lanes() const {
        unfinished_.need();
        return lanes_;
    }
    [[nodiscard]] LaneFailure failure_of(const LaneOutcome& outcome, std::ptrdiff_t lane) const;
    [[nodiscard]] LaneStats stats_of(const LaneOutcome& lane, const LaneEvents& events) const;
    /// The events of a trajectory; none if the equation has none.
    [[nodiscard]] LaneEvents events_of(std::ptrdiff_t lane) const {
        return events_.empty() ? LaneEvents{} : events_[static_cast<std::size_t>(lane)];
    }

    detail::Unfinished unfinished_;  // first: a copy waits before it takes the lanes
    std::vector<LaneOutcome> lanes_;
    AttemptCost attempt_cost_[2];             // (method)
    std::vector<std::int64_t> failed_paths_;  // (lane); empty: one path to a lane
    std::int64_t num_paths_ = 1;
    std::vector<LaneEvents> events_;  // (lane); empty: the equation knows none
    detail::LostStates lost_states_;
};

/// Throws SolveFailed unless every trajectory succeeded. The message names the first eight
/// failures, each with its time, step and component, or with its save point and state.
EDDY_EXPORT void require_success(const Outcomes& outcomes);

}  // namespace eddy::inline v0
