#pragma once
// What a solve returns. Arrays are (lane, component), each component contiguous over the lanes;
// there is one per save point, however many steps were taken.

#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/result.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/call/unfinished.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

[[noreturn]] EDDY_EXPORT void throw_no_such_index(std::ptrdiff_t index, std::ptrdiff_t count,
                                                  const char* what);

/// `what` with its article: "solution: lane".
inline void require_index(std::ptrdiff_t index, std::ptrdiff_t count, const char* what) {
    if (index < 0 || index >= count) [[unlikely]]
        throw_no_such_index(index, count, what);
}

}  // namespace detail

/// What the steps of one lane cost.
struct LaneStats {
    std::int64_t accepted = 0;
    std::int64_t rejected = 0;
    std::int64_t evaluations = 0;     ///< of f alone, on the way forward
    std::int64_t jacobians = 0;       ///< of f, by methods that solve linear systems
    std::int64_t factorizations = 0;  ///< of their matrices
    /// Accepted steps of an explicit Runge–Kutta method that stability has bounded, not their error:
    /// estimated from one attempt in 256, on the host.
    std::int64_t stiff_steps = 0;
};

/// Where and how a lane ended. `component` is that of the state which was not finite or whose error
/// was the largest; −1 where none is to blame.
struct LaneFailure {
    Result result = Result::success;
    double t = 0;
    std::int64_t step = 0;  ///< attempted steps so far
    int component = -1;
};

/// What an attempted step takes beside evaluations of f.
struct AttemptCost {
    std::int32_t jacobians = 0, factorizations = 0;
    bool jacobian_comes_with_f = false;  // one with each evaluation
};
namespace detail {

template <class Stepper>
inline constexpr AttemptCost attempt_cost = [] {
    AttemptCost cost;
    if constexpr (requires { Stepper::jacobians_per_attempt; })
        cost = {Stepper::jacobians_per_attempt, Stepper::factorizations_per_attempt};
    if constexpr (requires { Stepper::jacobian_comes_with_f; })
        cost.jacobian_comes_with_f = Stepper::jacobian_comes_with_f;
    return cost;
}();

}  // namespace detail

/// What became of every lane: common to solutions and gradients. After an asynchronous call
/// (`Cuda{.asynchronous = true}`) whoever asks first waits for it; and what became of lanes on a device is
/// brought when somebody asks for more than success().
class EDDY_EXPORT Outcomes {
  public:
    Outcomes() = default;
    explicit Outcomes(std::size_t num_lanes) : lanes_(num_lanes) {}

    [[nodiscard]] std::ptrdiff_t num_lanes() const {
        return static_cast<std::ptrdiff_t>(lanes_.size());
    }
    [[nodiscard]] Result result(std::ptrdiff_t lane) const { return at(lane).result; }
    [[nodiscard]] LaneStats stats(std::ptrdiff_t lane) const { return stats_of(at(lane)); }
    /// One sentence that says what happened to a lane and what to do: message(result(lane)), or more
    /// where more is known.
    [[nodiscard]] const char* message(std::ptrdiff_t lane) const;
    [[nodiscard]] LaneFailure failure(std::ptrdiff_t lane) const {
        const LaneOutcome& outcome = at(lane);
        return {outcome.result, outcome.t, outcome.accepted + outcome.rejected, outcome.component};
    }
    /// Did the second method of an AutoSwitch finish the lane? What is said of the lane is then said of
    /// that method's steps alone.
    [[nodiscard]] bool switched(std::ptrdiff_t lane) const { return at(lane).method != 0; }
    /// How many lanes it finished.
    [[nodiscard]] std::ptrdiff_t num_switched() const;
    /// Paths that a lane has: see SolveOptions::paths.
    [[nodiscard]] std::int64_t num_paths() const { return num_paths_; }
    /// How many of them failed, and are left out of the means. The lane's result is that of the first
    /// which did; its statistics are sums over all.
    [[nodiscard]] std::int64_t failed_paths(std::ptrdiff_t lane) const {
        if (failed_paths_.empty()) return is_failure(at(lane).result) ? 1 : 0;
        detail::require_index(lane, num_lanes(), "solution: lane");
        return failed_paths_[static_cast<std::size_t>(lane)];
    }
    /// Returns when the call is done, and has brought what its result has on the host; for a call that was
    /// captured in a graph, what the last run left. At once where nothing is at work.
    void wait() const { unfinished_.wait(); }

    /// Did every lane reach its end?
    [[nodiscard]] bool success() const;
    /// The sums over all lanes.
    [[nodiscard]] LaneStats total_stats() const;

    /// What became of every lane, as it lies in memory: for callers from other languages.
    [[nodiscard]] std::span<const LaneOutcome> outcomes() const { return known_lanes(); }

    /// For the caller that fills it in.
    [[nodiscard]] std::span<LaneOutcome> lanes() { return lanes_; }
    /// Of the first method, 0, or of the second.
    void set_attempt_cost(const AttemptCost& cost, int method = 0) { attempt_cost_[method] = cost; }
    void reset(std::size_t num_lanes, std::int64_t paths = 1) {
        lanes_.assign(num_lanes, {});
        failed_paths_.assign(paths > 1 ? num_lanes : 0, 0);
        num_paths_ = paths;
        unfinished_.forget();
    }
    /// The same for outcomes that come when the call is done: they are not touched until then.
    void reset_later(std::size_t num_lanes) {
        unfinished_.forget();
        lanes_.resize(num_lanes);
        failed_paths_.clear();
        num_paths_ = 1;
    }
    /// They come when the rest is finished.
    void follow(const detail::Unfinished& rest) { unfinished_.follow(rest); }
    void clear() { reset(0); }
    /// The next path of a lane, or so many of the same outcome.
    void add_path(std::ptrdiff_t lane, const LaneOutcome& path, std::int64_t count = 1);

  protected:
    /// What is still to come has come.
    void need() const { unfinished_.need(); }

  private:
    [[nodiscard]] const LaneOutcome& at(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "solution: lane");
        return known_lanes()[static_cast<std::size_t>(lane)];
    }
    [[nodiscard]] const std::vector<LaneOutcome>& known_lanes() const {
        unfinished_.need();
        return lanes_;
    }
    [[nodiscard]] LaneStats stats_of(const LaneOutcome& lane) const;

    detail::Unfinished unfinished_;  // first: a copy waits before it takes the lanes
    std::vector<LaneOutcome> lanes_;
    AttemptCost attempt_cost_[2];             // (method)
    std::vector<std::int64_t> failed_paths_;  // (lane); empty: one path to a lane
    std::int64_t num_paths_ = 1;
};

/// Throws std::runtime_error unless every lane succeeded; it names the first eight that did not,
/// with their time, step and component.
EDDY_EXPORT void require_success(const Outcomes& outcomes);

namespace detail {

/// What a solution keeps itself: not what the caller gave arrays for.
struct SolutionParts {
    bool y = true;
    bool has_tangents = false, tangent = false;
    bool steps = false;
    std::int64_t paths = 1;    // more: means in place of states, and variances
    bool comes_later = false;  // what becomes of the lanes
    double noise_cell = 0;     // of stochastic equations
};

/// The accepted steps of one lane.
template <class Real>
struct StepsOfLane {
    std::vector<double> t;  // (step), the start first
    std::vector<Real> y;    // (step, component)
};

}  // namespace detail

/// The states at the save points, and what became of every lane. A save point that a lane did not
/// reach is NaN there.
template <class Real>
class [[nodiscard]] Solution : public Outcomes {
  public:
    /// Save points; one, the end, where none were asked for.
    [[nodiscard]] std::ptrdiff_t num_saves() const {
        return static_cast<std::ptrdiff_t>(t_.size());
    }
    [[nodiscard]] double t(std::ptrdiff_t k) const {
        require_save_point(k);
        return t_[static_cast<std::size_t>(k)];
    }
    /// The state at save point k: (lane, component), or what `observe` makes of it. A view of this
    /// solution's memory; of a solution that is about to go, as in `solve(…).y()`, an array.
    [[nodiscard]] EnsembleView<const Real> y(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_kept(parts_.y);
        require_one_path();
        return block(y_, k);
    }
    [[nodiscard]] EnsembleArray<Real> y(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(y(k));
    }
    /// With `.paths`: the mean over the paths of each lane that reached the end, and their variance, the
    /// squared distances from it over their number less one; NaN of too few.
    [[nodiscard]] EnsembleView<const Real> mean(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_paths();
        return block(y_, k);
    }
    [[nodiscard]] EnsembleArray<Real> mean(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(mean(k));
    }
    [[nodiscard]] EnsembleView<const Real> variance(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_paths();
        return block(variance_, k);
    }
    [[nodiscard]] EnsembleArray<Real> variance(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(variance(k));
    }
    /// Its tangent, after `pushforward`; that of the mean, where a lane has several paths.
    [[nodiscard]] EnsembleView<const Real> tangent(std::ptrdiff_t k = 0) const& {
        require_save_point(k);
        require_argument(parts_.has_tangents,
                         "solution: a tangent was asked for, but there are none; call pushforward "
                         "instead of solve");
        require_kept(parts_.tangent);
        return block(tangent_, k);
    }
    [[nodiscard]] EnsembleArray<Real> tangent(std::ptrdiff_t k = 0) const&& {
        return EnsembleArray<Real>(tangent(k));
    }

    /// Where the steps of a lane, chosen for its state, did not carry its tangent, after `pushforward`:
    /// tells true then, and to_text(solution.unreliable(lane)) says what helps.
    [[nodiscard]] TangentMark unreliable(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "solution: lane");
        return marks_.empty() ? TangentMark{} : marks_[static_cast<std::size_t>(lane)];
    }

    /// Of stochastic equations: the stretches of time with normals of their own that the paths are made
    /// of, options.noise_cell or, where that is 0, dt0. What has the same seed, number and cell follows the
    /// same path. 0 of equations without noise.
    [[nodiscard]] double noise_cell() const { return parts_.noise_cell; }

    /// Accepted steps of a lane, kept where options.save_steps asked for them; the start is the
    /// first.
    [[nodiscard]] std::ptrdiff_t num_steps(std::ptrdiff_t lane) const {
        detail::require_index(lane, num_lanes(), "solution: lane");
        return steps_.empty() ? 0 : static_cast<std::ptrdiff_t>(of(lane).t.size());
    }
    [[nodiscard]] double step_t(std::ptrdiff_t lane, std::ptrdiff_t k) const {
        require_step(lane, k);
        return of(lane).t[static_cast<std::size_t>(k)];
    }
    [[nodiscard]] Real step_y(std::ptrdiff_t lane, std::ptrdiff_t k, std::ptrdiff_t i) const {
        require_step(lane, k);
        detail::require_index(i, num_state_, "solution: component");
        return of(lane).y[static_cast<std::size_t>(k * num_state_ + i)];
    }

    /// For the caller that fills it in: allocates for these save points, everything NaN.
    void reset(std::ptrdiff_t lanes, const std::vector<double>& save_times, std::ptrdiff_t columns,
               std::ptrdiff_t state_size, const detail::SolutionParts& parts);
    /// No lanes and no save points; the memory is kept.
    void clear();
    TangentMark* watch_tangents() {
        marks_.assign(static_cast<std::size_t>(num_lanes()), {});
        return marks_.data();
    }
    [[nodiscard]] EnsembleView<Real> y_of(std::ptrdiff_t k) { return block(y_, k); }
    [[nodiscard]] EnsembleView<Real> tangent_of(std::ptrdiff_t k) { return block(tangent_, k); }
    [[nodiscard]] EnsembleView<Real> variance_of(std::ptrdiff_t k) { return block(variance_, k); }
    [[nodiscard]] std::ptrdiff_t num_columns() const { return num_columns_; }
    /// Of a path of the lane: the largest stays.
    void add_mark(std::ptrdiff_t lane, const TangentMark& mark) {
        if (!mark) return;
        if (marks_.empty()) watch_tangents();
        TangentMark& largest = marks_[static_cast<std::size_t>(lane)];
        if (mark.ratio > largest.ratio) largest = mark;
    }
    /// The accepted steps of a row of another solution, and the mark of its tangent.
    void take_steps(std::ptrdiff_t lane, Solution& other, std::ptrdiff_t row) {
        const auto to = static_cast<std::size_t>(lane), from = static_cast<std::size_t>(row);
        if (!steps_.empty()) std::swap(steps_[to], other.steps_[from]);
        if (!marks_.empty()) marks_[to] = other.unreliable(row);
    }
    void append_step(std::ptrdiff_t lane, double t, const Real* y) {
        auto& steps = steps_[static_cast<std::size_t>(lane)];
        steps.y.insert(steps.y.end(), y, y + num_state_);
        steps.t.push_back(t);
    }

  private:
    void clear_parts();
    void require_save_point(std::ptrdiff_t k) const {
        detail::require_index(k, num_saves(), "solution: save point");
    }
    static void require_kept(bool is_kept) {
        require_argument(is_kept,
                         "solution: these states are in the arrays that the call was given to "
                         "write into; read them there");
    }
    void require_one_path() const {
        require_argument(
            num_paths() == 1,
            "solution: a state was asked for, but each lane is {} paths, which are not "
            "kept; ask for mean(k) and variance(k), or give each path a lane",
            num_paths());
    }
    void require_paths() const {
        require_argument(
            num_paths() > 1,
            "solution: a mean over paths was asked for, but each lane is one path; set "
            ".paths, or ask for y(k)");
    }
    void require_step(std::ptrdiff_t lane, std::ptrdiff_t k) const {
        detail::require_index(lane, num_lanes(), "solution: lane");
        require_argument(
            !steps_.empty() || num_lanes() == 0,
            "solution: a step was asked for, but none were kept; set .save_steps = true");
        detail::require_index(k, num_steps(lane), "solution: step");
    }
    [[nodiscard]] const detail::StepsOfLane<Real>& of(std::ptrdiff_t lane) const {
        return steps_[static_cast<std::size_t>(lane)];
    }
    template <class Values>
    [[nodiscard]] auto block(Values& values, std::ptrdiff_t k) const {
        using Element = std::remove_pointer_t<decltype(values.data())>;
        return EnsembleView<Element>{values.data() + k * num_lanes() * num_columns_, num_lanes(),
                                     num_columns_, 1, num_lanes()};
    }

    detail::SolutionParts parts_;
    std::vector<double> t_;
    std::vector<Real> y_, tangent_, variance_;  // (save point, component, lane)
    std::ptrdiff_t num_columns_ = 0;
    std::ptrdiff_t num_state_ = 0;
    std::vector<detail::StepsOfLane<Real>> steps_;  // (lane)
    std::vector<TangentMark> marks_;                // (lane) of tangents; empty: none watched
};

template <class Real>
void Solution<Real>::reset(std::ptrdiff_t lanes, const std::vector<double>& save_times,
                           std::ptrdiff_t columns, std::ptrdiff_t state_size,
                           const detail::SolutionParts& parts) {
    clear_parts();
    parts_ = parts;
    const auto size = save_times.size() * static_cast<std::size_t>(columns * lanes);
    y_.assign(parts.y ? size : 0, std::numeric_limits<Real>::quiet_NaN());
    tangent_.assign(parts.tangent ? size : 0, std::numeric_limits<Real>::quiet_NaN());
    variance_.assign(parts.paths > 1 ? size : 0, std::numeric_limits<Real>::quiet_NaN());
    steps_.assign(parts.steps ? static_cast<std::size_t>(lanes) : 0, {});
    t_ = save_times;
    num_columns_ = columns;
    num_state_ = state_size;
    if (parts.comes_later)
        Outcomes::reset_later(static_cast<std::size_t>(lanes));
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
    t_.clear();
    y_.clear();
    tangent_.clear();
    variance_.clear();
    for (auto& steps : steps_) steps.t.clear(), steps.y.clear();
    marks_.clear();
    num_columns_ = 0;
    parts_ = {};
}

}  // namespace eddy::inline v0
