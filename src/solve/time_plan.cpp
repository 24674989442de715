#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <limits>
#include <string>

namespace eddy::inline v0 {

namespace {

void require_end(const SolveOptions& options, const char* where) {
    require_argument(!std::isnan(options.t1),
                     "{}: t1 is missing or NaN; give the time to end at, .t1 = ...", where);
}

class TimePlanner {
  public:
    TimePlanner(const SolveOptions& options, TimeUse use, const char* where)
        : options_(options), use_(use), where_(where) {}

    TimePlan plan() {
        check_ends();
        check_sizes();
        check_list(options_.save_at.values, "save_at");
        check_list(options_.step_to.values, "step_to");
        check_list(options_.jump_times.values, "jump_times");
        TimePlan plan;
        plan.t0 = options_.t0;
        plan.direction = options_.t1 < options_.t0 ? -1 : 1;
        plan.span = elapsed(options_.t1);
        plan.save_time = options_.save_at.values;
        plan.saves_the_end = plan.save_time.empty();
        if (plan.saves_the_end) plan.save_time.push_back(options_.t1);
        for (const double t : plan.save_time) plan.saves.push_back(elapsed(t));
        plan.tstops = tstops(plan.span);
        plan.dt0 = std::fabs(options_.dt0);
        plan.dt_min = options_.dt_min;
        plan.dt_max = options_.dt_max;
        // Rounds are counted beyond it: half of what a number holds is no limit either.
        plan.max_steps = std::min(options_.max_steps, std::numeric_limits<std::int64_t>::max() / 2);
        return plan;
    }

  private:
    template <class... Values>
    void require(bool valid,
                 std::type_identity_t<detail::MessageText<sizeof...(Values)>> what_and_what_to_do,
                 const Values&... values) const {
        if (!valid)
            require_argument(false, "{}: {}", where_,
                             detail::compose(what_and_what_to_do, values...));
    }
    void require_finite(double value, const char* name, const char* what_to_do) const {
        require(std::isfinite(value), "{} = {}; {}", name, value, what_to_do);
    }

    void check_ends() const {
        require_finite(options_.t0, "t0", "give a finite time to begin at");
        require_end(options_, where_);
        require_finite(options_.t1, "t1", "give a finite time to end at");
        require(std::isfinite(options_.t1 - options_.t0),
                "a span of {}; give times whose difference is a number", options_.t1 - options_.t0);
    }

    void check_sizes() const {
        require_finite(options_.dt0, "dt0",
                       use_.is_adaptive ? "give the size of the first step, or 0 to have it chosen"
                                        : "give the size of all steps");
        require(options_.dt0 == 0 || (options_.dt0 > 0) == (options_.t1 >= options_.t0) ||
                    options_.t1 == options_.t0,
                "dt0 = {} points away from t1; give it the sign of t1 - t0", options_.dt0);
        require(use_.is_adaptive || options_.dt0 != 0 || options_.t0 == options_.t1,
                "a constant step size, but dt0 = 0; give the step size, .dt0 = ..., or a method "
                "and a controller that choose it");
        require(use_.is_adaptive || options_.dt0 == 0 || std::isfinite(1 / options_.dt0),
                "a constant step size of dt0 = {}; give a larger one: steps are counted in units "
                "of it",
                options_.dt0);
        require(options_.dt_min >= 0 && std::isfinite(options_.dt_min),
                "dt_min = {}; give a finite size of at least 0", options_.dt_min);
        require(options_.dt_max > 0 && options_.dt_max >= options_.dt_min,
                "dt_max = {} with dt_min = {}; give a positive size that is not below dt_min",
                options_.dt_max, options_.dt_min);
        require(options_.max_steps >= 1, "max_steps = {}; give at least 1", options_.max_steps);
        require(options_.checkpoints >= 0 && options_.checkpoints <= most_slots,
                "checkpoints = {}; give 1 to 2147483646, or 0 to have them chosen",
                options_.checkpoints);
    }

    void check_list(const std::vector<double>& times, const char* name) const {
        const double low = std::min(options_.t0, options_.t1);
        const double high = std::max(options_.t0, options_.t1);
        const bool backward = options_.t1 < options_.t0;
        for (std::size_t k = 0; k < times.size(); ++k) {
            require(times[k] >= low && times[k] <= high,
                    "{}[{}] = {} is not between t0 = {} and t1 = {}; give times within the "
                    "interval",
                    name, k, times[k], options_.t0, options_.t1);
            if (k == 0) continue;
            require(
                backward ? times[k] <= times[k - 1] : times[k] >= times[k - 1],
                "{}[{}] = {} comes after {}; sort the times in the direction of integration, {}",
                name, k, times[k], times[k - 1], backward ? "descending" : "ascending");
        }
    }

    [[nodiscard]] double elapsed(double t) const { return std::fabs(t - options_.t0); }

    [[nodiscard]] bool is_backward() const { return options_.t1 < options_.t0; }

    /// The neighbour of t among the times that f can see.
    [[nodiscard]] double next_time(double t, bool upward) const {
        const double far = upward ? infinity : -infinity;
        return use_.is_float ? static_cast<double>(
                                   std::nextafter(static_cast<float>(t), static_cast<float>(far)))
                             : std::nextafter(t, far);
    }

    /// Jumps may lie on both ends: f is asked within.
    [[nodiscard]] std::vector<Tstop> tstops(double span) const {
        std::vector<Tstop> all;
        for (const double t : options_.step_to.values) all.push_back({elapsed(t), t});
        if (use_.steps_to_save_points) {
            for (const double t : options_.save_at.values) all.push_back({elapsed(t), t});
        }
        std::erase_if(all, [span](const Tstop& tstop) {
            return tstop.elapsed <= 0 || tstop.elapsed >= span;
        });
        for (const double t : options_.jump_times.values) {
            all.push_back({elapsed(t), t});
            all.back().is_jump = true;
        }
        all.push_back({span, options_.t1});
        // Stable: of those at one place the end comes last.
        std::stable_sort(all.begin(), all.end(),
                         [](const Tstop& a, const Tstop& b) { return a.elapsed < b.elapsed; });
        confine_between_jumps(all);
        std::vector<Tstop> distinct;
        for (const Tstop& tstop : all) {
            if (tstop.elapsed == 0 && span > 0) continue;  // the start itself
            if (!distinct.empty() && distinct.back().elapsed == tstop.elapsed) {
                distinct.back().t = tstop.elapsed == span ? options_.t1 : tstop.t;
                distinct.back().is_jump = distinct.back().is_jump || tstop.is_jump;
            } else {
                distinct.push_back(tstop);
            }
        }
        return distinct;
    }

    /// Sets the bounds of all tstops, which are in order.
    void confine_between_jumps(std::vector<Tstop>& all) const {
        const bool backward = is_backward();
        double bound = backward ? infinity : -infinity;
        for (std::size_t k = 0; k < all.size();) {
            const double here =
                all[k].elapsed;  // steps to all that lie here come from the jumps before
            double next = bound;
            for (; k < all.size() && all[k].elapsed == here; ++k) {
                (backward ? all[k].highest : all[k].lowest) = bound;
                if (all[k].is_jump) next = next_time(all[k].t, !backward);
            }
            bound = next;
        }
        bound = backward ? -infinity : infinity;
        for (std::size_t k = all.size(); k > 0; --k) {
            Tstop& tstop = all[k - 1];
            if (tstop.is_jump) bound = next_time(tstop.t, backward);
            (backward ? tstop.lowest : tstop.highest) = bound;
        }
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    const SolveOptions& options_;
    TimeUse use_;
    const char* where_;
};

}  // namespace

SolveOptions detail::with_end(const SolveOptions& options, const char* where) {
    require_end(options, where);
    return options;
}

TimePlan plan_times(const SolveOptions& options, TimeUse use, const char* where) {
    return TimePlanner(options, use, where).plan();
}

void require_within_floats(const TimePlan& plan, const char* where) {
    constexpr double largest = std::numeric_limits<float>::max();
    constexpr double smallest = std::numeric_limits<float>::min();
    const double t1 = plan.t0 + plan.direction * plan.span;
    for (const double t : {plan.t0, t1, plan.span})
        require_argument(std::abs(t) <= largest,
                         "{}: times from {} to {} are kept as sums of two floats; give times of at "
                         "most {}, or take Cuda",
                         where, plan.t0, t1, largest);
    for (const double size : {plan.dt0, plan.dt_max, plan.dt_min})
        require_argument(size == 0 || size >= smallest,
                         "{}: a step of size {} where times are sums of two floats; give dt0, "
                         "dt_min and dt_max of at least {}, or take Cuda",
                         where, size, smallest);
}

}  // namespace eddy::inline v0
