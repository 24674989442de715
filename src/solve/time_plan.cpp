#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <limits>
#include <string>

#include "impulse_plan.hpp"

namespace eddy::inline v0 {

namespace {

/// The times of one lane, or of all.
struct LaneRow {
    double t0, t1;
    std::vector<double> saves{};     // in t
    std::vector<double> impulses{};  // in t
    std::ptrdiff_t lane = -1;        // −1: of all

    [[nodiscard]] double elapsed(double t) const { return std::fabs(t - t0); }
};

/// Calls use(times, name) for all times of which each trajectory has its own.
void for_own_times(const SolveOptions& options, const auto& use) {
    if (options.t0.is_own()) use(options.t0.own(), "t0");
    if (options.t1.is_own()) use(options.t1.own(), "t1");
    const auto list = [&](const SaveTimes& times, const char* name) {
        if (times.is_own) use(times.own, name);
    };
    list(options.save_at, "save_at");
    list(options.impulses.times, "impulses.times");
    list(options.impulses.components, "impulses.components");
    list(options.impulses.amounts, "impulses.amounts");
    list(options.inputs.knots, "inputs");
}

void require_end(const SolveOptions& options, const char* where) {
    require_argument(options.t1.is_own() || !std::isnan(static_cast<double>(options.t1)),
                     "{}: t1 is missing or NaN; give the time to end at, .t1 = ...", where);
}

class TimePlanner {
  public:
    TimePlanner(const SolveOptions& options, TimeUse use, const char* where)
        : options_(options), use_(use), where_(where), impulses_(options.impulses, where) {}

    TimePlan plan() {
        require_end(options_, where_);
        require(use_.reads_inputs || !options_.inputs,
                "inputs, but the equation reads none; give the field a member `static constexpr "
                "int input_size`, and f(t, y, p, u)");
        TimePlan plan;
        plan.is_own = count_lanes();
        const std::ptrdiff_t rows = plan.is_own ? num_lanes_ : 1;
        std::vector<LaneRow> lanes;
        for (std::ptrdiff_t lane = 0; lane < rows; ++lane)
            lanes.push_back(row_of(plan.is_own ? lane : -1));
        for (const LaneRow& row : lanes) take_direction(row);
        check_sizes(lanes);
        for (const LaneRow& row : lanes) check(row);
        plan.saves_the_end = !options_.save_at.is_own && options_.save_at.values.empty();
        plan.direction = is_backward_ ? -1 : 1;
        plan.t0 = lanes.empty() ? 0 : lanes.front().t0;
        plan.rows_differ = plan.is_own && rows_differ(lanes);
        fill(plan, lanes);
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
    /// The same of a time that may be a lane's own.
    void require_finite(double value, const char* name, const TimeOption& time, const LaneRow& row,
                        const char* what_to_do) const {
        if (!time.is_own()) return require_finite(value, name, what_to_do);
        require(std::isfinite(value), "{}({}) = {}; {}", name, row.lane, value, what_to_do);
    }

    /// Has each lane times of its own? Then says how many there are.
    [[nodiscard]] bool count_lanes() {
        bool is_own = false;
        for_own_times(options_, [&](const OwnTimes& times, const char* name) {
            const bool is_one = &times == &options_.t0.own() || &times == &options_.t1.own();
            require(!is_one || times.num_times == 1,
                    "{} is {} x {} (trajectory, time); give each(...) one time for each trajectory",
                    name, times.num_lanes, times.num_times);
            require(!is_own || times.num_lanes == num_lanes_,
                    "{} has a row for each of {} trajectories, other times have {}; give each(...) "
                    "a row for each trajectory",
                    name, times.num_lanes, num_lanes_);
            num_lanes_ = times.num_lanes;
            is_own = true;
        });
        return is_own;
    }
    /// Impulses and knots of lanes are not compared: amounts may be given anew.
    [[nodiscard]] bool rows_differ(const std::vector<LaneRow>& lanes) const {
        const Impulses& impulses = options_.impulses;
        return impulses.times.is_own || impulses.components.is_own || impulses.amounts.is_own ||
               options_.inputs.knots.is_own ||
               std::any_of(lanes.begin(), lanes.end(), [&](const LaneRow& row) {
                   const LaneRow& first = lanes.front();
                   return row.t0 != first.t0 || row.t1 != first.t1 || row.saves != first.saves;
               });
    }
    [[nodiscard]] LaneRow row_of(std::ptrdiff_t lane) const {
        const auto time_of = [&](const TimeOption& time) {
            return time.is_own() ? time.own()(lane, 0) : static_cast<double>(time);
        };
        return {time_of(options_.t0), time_of(options_.t1), times_of(options_.save_at, lane),
                times_of(options_.impulses.times, lane), lane};
    }
    /// A lane's times of a list, without what fills it up.
    [[nodiscard]] static std::vector<double> times_of(const SaveTimes& list, std::ptrdiff_t lane) {
        if (!list.is_own) return list.values;
        std::ptrdiff_t count = list.own.num_times;
        while (count > 0 && std::isnan(list.own(lane, count - 1))) --count;
        std::vector<double> times;
        for (std::ptrdiff_t k = 0; k < count; ++k) times.push_back(list.own(lane, k));
        return times;
    }
    /// All go the same way.
    void take_direction(const LaneRow& row) {
        require_finite(row.t0, "t0", options_.t0, row, "give a finite time to begin at");
        require_finite(row.t1, "t1", options_.t1, row, "give a finite time to end at");
        require(std::isfinite(row.t1 - row.t0),
                "a span of {}; give times whose difference is a number", row.t1 - row.t0);
        if (row.t0 == row.t1) return;
        const bool backward = row.t1 < row.t0;
        require(!has_direction_ || backward == is_backward_,
                "trajectory {} goes {} in time, from t0 = {} to t1 = {}, and those before it do "
                "not; solve trajectories that go forward and backward in two calls",
                row.lane, backward ? "backward" : "forward", row.t0, row.t1);
        is_backward_ = backward;
        has_direction_ = true;
    }
    void check(const LaneRow& row) const {
        check_list(row, row.saves, "save_at", options_.save_at.is_own, true);
        check_list(row, row.impulses, "impulses.times", options_.impulses.times.is_own, true);
        // Of those outside its own interval a lane knows nothing.
        const bool within = row.lane < 0;
        check_list(row, options_.step_to.values, "step_to", false, within);
        check_list(row, options_.jump_times.values, "jump_times", false, within);
    }

    void check_sizes(const std::vector<LaneRow>& lanes) const {
        const bool moves = std::any_of(lanes.begin(), lanes.end(),
                                       [](const LaneRow& row) { return row.t0 != row.t1; });
        require_finite(options_.dt0, "dt0",
                       use_.is_adaptive ? "give the size of the first step, or 0 to have it chosen"
                                        : "give the size of all steps");
        require(options_.dt0 == 0 || (options_.dt0 > 0) != is_backward_ || !moves,
                "dt0 = {} points away from t1; give it the sign of t1 - t0", options_.dt0);
        require(use_.is_adaptive || options_.dt0 != 0 || !moves,
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

    void check_list(const LaneRow& row, const std::vector<double>& times, const char* name,
                    bool is_own, bool within) const {
        const double low = std::min(row.t0, row.t1), high = std::max(row.t0, row.t1);
        const auto entry = [&](std::size_t k) {
            if (is_own) return detail::compose("{}({}, {})", name, row.lane, k);
            return detail::compose("{}[{}]", name, k);
        };
        const std::string whose =
            row.lane < 0 ? std::string() : detail::compose(" of trajectory {}", row.lane);
        for (std::size_t k = 0; k < times.size(); ++k) {
            const bool is_time =
                within ? times[k] >= low && times[k] <= high : std::isfinite(times[k]);
            if (!is_time) {
                require(!is_own || !std::isnan(times[k]),
                        "{} is NaN, and a time follows; fill rows up with NaN at the end only",
                        entry(k));
                require(!within,
                        "{} = {} is not between t0 = {} and t1 = {}{}; give times within the "
                        "interval",
                        entry(k), times[k], row.t0, row.t1, whose);
                require(false, "{} = {}; give finite times", entry(k), times[k]);
            }
            if (k == 0) continue;
            const bool in_order =
                is_backward_ ? times[k] <= times[k - 1] : times[k] >= times[k - 1];
            if (in_order) continue;
            require(false,
                    "{} = {} comes after {}; sort the times in the direction of integration, {}",
                    entry(k), times[k], times[k - 1], is_backward_ ? "descending" : "ascending");
        }
    }

    /// Fills the tables.
    void fill(TimePlan& plan, const std::vector<LaneRow>& lanes) const {
        std::vector<std::vector<Tstop>> tstops_of;
        plan.num_saves = plan.saves_the_end ? 1 : options_.save_at.values.size();
        if (options_.save_at.is_own)
            plan.num_saves = static_cast<std::size_t>(options_.save_at.own.num_times);
        plan.num_impulses = impulses_.count();
        plan.saves_before_impulses = options_.impulses.saved_before && plan.num_impulses > 0;
        for (const LaneRow& row : lanes) {
            impulses_.add(row.impulses.size(), row.lane, plan.impulses);
            const double span = row.elapsed(row.t1);
            plan.span = std::max(plan.span, span);
            if (plan.is_own) {
                plan.row_numbers.push_back(static_cast<double>(plan.own.size()));
                plan.own.push_back({row.t0, span});
            }
            tstops_of.push_back(tstops(row, span));
            plan.num_tstops = std::max(plan.num_tstops, tstops_of.back().size());
            plan.save_time.insert(plan.save_time.end(), row.saves.begin(), row.saves.end());
            if (plan.saves_the_end) plan.save_time.push_back(row.t1);
            plan.save_time.resize(plan.num_saves * (tstops_of.size()),
                                  std::numeric_limits<double>::quiet_NaN());
            for (std::size_t k = plan.saves.size(); k < plan.save_time.size(); ++k) {
                const double t = plan.save_time[k];
                plan.saves.push_back(std::isnan(t) ? infinity : row.elapsed(t));
            }
        }
        for (std::vector<Tstop>& of_lane : tstops_of) {
            plan.tstops.insert(plan.tstops.end(), of_lane.begin(), of_lane.end());
            plan.tstops.insert(plan.tstops.end(), plan.num_tstops - of_lane.size(), of_lane.back());
        }
    }

    /// The neighbour of t among the times that f can see.
    [[nodiscard]] double next_time(double t, bool upward) const {
        const double far = upward ? infinity : -infinity;
        return use_.is_float ? static_cast<double>(
                                   std::nextafter(static_cast<float>(t), static_cast<float>(far)))
                             : std::nextafter(t, far);
    }

    /// Jumps may lie on both ends: f is asked within.
    [[nodiscard]] std::vector<Tstop> tstops(const LaneRow& row, double span) const {
        std::vector<Tstop> all;
        const double low = std::min(row.t0, row.t1), high = std::max(row.t0, row.t1);
        const auto add = [&](double t) {
            if (t >= low && t <= high) all.push_back({row.elapsed(t), t});
        };
        for (const double t : options_.step_to.values) add(t);
        for (const double t : row.impulses) add(t);
        if (use_.steps_to_save_points) {
            for (const double t : row.saves) add(t);
        }
        std::erase_if(all, [span](const Tstop& tstop) {
            return tstop.elapsed <= 0 || tstop.elapsed >= span;
        });
        const auto add_jump = [&](double t) {
            const std::size_t count = all.size();
            add(t);
            if (all.size() > count) all.back().is_jump = true;
        };
        for (const double t : options_.jump_times.values) add_jump(t);
        const SaveTimes& knots = options_.inputs.knots;
        const bool stops = !use_.passes_knots;
        for (std::size_t k = 0; stops && k < knots.values.size(); ++k) add_jump(knots.values[k]);
        for (std::ptrdiff_t k = 0; stops && knots.is_own && k < knots.own.num_times; ++k)
            add_jump(knots.own(row.lane, k));
        all.push_back({span, row.t1});
        // Stable: of those at one place the end comes last.
        std::stable_sort(all.begin(), all.end(),
                         [](const Tstop& a, const Tstop& b) { return a.elapsed < b.elapsed; });
        confine_between_jumps(all);
        std::vector<Tstop> distinct;
        for (const Tstop& tstop : all) {
            if (tstop.elapsed == 0 && span > 0) continue;  // the start itself
            if (!distinct.empty() && distinct.back().elapsed == tstop.elapsed) {
                distinct.back().t = tstop.elapsed == span ? row.t1 : tstop.t;
                distinct.back().is_jump = distinct.back().is_jump || tstop.is_jump;
            } else {
                distinct.push_back(tstop);
            }
        }
        take_impulses(row, distinct);
        return distinct;
    }
    /// Says which impulses lie at each tstop; those before all of them are at the start.
    static void take_impulses(const LaneRow& row, std::vector<Tstop>& tstops) {
        const auto elapsed = [&](std::int32_t k) {
            return row.elapsed(row.impulses[static_cast<std::size_t>(k)]);
        };
        const auto count = static_cast<std::int32_t>(row.impulses.size());
        std::int32_t next = 0;
        while (next < count && elapsed(next) == 0) ++next;
        for (Tstop& tstop : tstops) {
            tstop.impulses.first = next;
            while (next < count && elapsed(next) <= tstop.elapsed) ++next;
            tstop.impulses.end = next;
        }
    }

    /// Sets the bounds of all tstops, which are in order.
    void confine_between_jumps(std::vector<Tstop>& all) const {
        const bool backward = is_backward_;
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
    detail::ImpulsePlanner impulses_;
    std::ptrdiff_t num_lanes_ = 0;  // with times of their own
    bool is_backward_ = false, has_direction_ = false;
};

}  // namespace

SolveOptions detail::with_end(const SolveOptions& options, const char* where) {
    require_end(options, where);
    return options;
}

SolveOptions detail::copy_of(const SolveOptions& options) { return options; }

TimePlan plan_times(const SolveOptions& options, TimeUse use, const char* where) {
    return TimePlanner(options, use, where).plan();
}

void detail::renew_amounts(const Impulses& impulses, std::vector<PlannedImpulse>& planned,
                           const char* where) {
    if (!planned.empty()) ImpulsePlanner(impulses, where).renew(planned);
}

std::ptrdiff_t detail::lanes_of_start(const TimeOption& t0, std::ptrdiff_t said,
                                      std::ptrdiff_t asked, const char* where) {
    require_argument(
        asked == 0 || said == 0 || asked == said,
        "{}: start_from for {} trajectories, but the parameters are of {}; leave the number out",
        where, asked, said);
    const std::ptrdiff_t lanes = said > 0 ? said : asked > 0 ? asked : 1;
    const std::size_t num_times = t0.own().values.size();
    require_argument(!t0.is_own() || num_times == static_cast<std::size_t>(lanes),
                     "{}: t0 has {} times of their own for {} trajectories; give one for each",
                     where, num_times, lanes);
    return lanes;
}

void require_times_of(const SolveOptions& options, std::ptrdiff_t num_lanes, const char* where) {
    std::ptrdiff_t rows = num_lanes;
    bool is_given = false, agree = true;
    for_own_times(options, [&](const OwnTimes& times, const char*) {
        agree = agree && (!is_given || times.num_lanes == rows);
        rows = times.num_lanes;
        is_given = true;
    });
    require_argument(
        rows == num_lanes || !agree,  // plan_times says which differ from each other
        "{}: times of {} trajectories, but there are {}; give each(...) a row for each "
        "trajectory",
        where, rows, num_lanes);
}

TimeOption::operator double() const {
    require_argument(!is_own_,
                     "TimeOption: each trajectory has a time of its own; read them from own()");
    return of_all_;
}

void require_within_floats(const TimePlan& plan, const char* where) {
    constexpr double largest = std::numeric_limits<float>::max();
    constexpr double smallest = std::numeric_limits<float>::min();
    double latest = plan.span;
    const auto see = [&](const detail::LaneSpan& lane) {
        latest =
            std::max({latest, std::abs(lane.t0), std::abs(lane.t0 + plan.direction * lane.span)});
    };
    for (const detail::LaneSpan& lane : plan.own) see(lane);
    const double t1 = plan.t0 + plan.direction * plan.span;
    for (const double t : {plan.t0, t1, latest})
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
