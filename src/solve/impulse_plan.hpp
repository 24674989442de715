#pragma once
// What impulses do, checked, in the order in which lanes meet them. When they do it is planned with all times.

#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/impulses.hpp>
#include <eddy/solve/lane/impulse.hpp>
#include <limits>
#include <string>
#include <vector>

namespace eddy::inline v0::detail {

/// Impulses of lanes, checked, but for their times.
class ImpulsePlanner {
  public:
    ImpulsePlanner(const Impulses& impulses, const char* where)
        : impulses_(impulses), where_(where), count_(columns(impulses.times)) {
        require_argument(count_ <= std::numeric_limits<std::int32_t>::max() / 2,
                         "{}: impulses.times has {} times of each trajectory; give fewer", where,
                         count_);
        require_columns(impulses.components, "impulses.components", true);
        require_columns(impulses.amounts, "impulses.amounts", count_ > 0);
        const std::size_t kinds = impulses.kinds.values.size();
        require_argument(kinds == 1 || kinds == count_,
                         "{}: impulses.kinds has {} entries for {} impulses; give one for all, or "
                         "one for each",
                         where, kinds, count_);
    }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Puts other amounts into the rows of a plan.
    void renew(std::vector<PlannedImpulse>& rows) const {
        for (std::size_t at = 0; at < rows.size(); ++at) {
            const auto lane = static_cast<std::ptrdiff_t>(at / count_);
            const std::size_t k = at % count_;
            const SaveTimes& times = impulses_.times;
            if (times.is_own && std::isnan(times.own(lane, static_cast<std::ptrdiff_t>(k))))
                continue;  // filled up
            rows[at].amount = number(impulses_.amounts, lane, k);
            if (std::isfinite(rows[at].amount)) continue;
            require_argument(false, "{}: the amount of {} is {}; give a finite number", where_,
                             name(rows.size() == count_ ? -1 : lane, k), rows[at].amount);
        }
    }
    /// Appends a lane's row, of which so many are given.
    void add(std::size_t given, std::ptrdiff_t lane, std::vector<PlannedImpulse>& row) const {
        for (std::size_t k = 0; k < count_; ++k) {
            const double amount = number(impulses_.amounts, lane, k);
            if (k >= given) {
                require_argument(!impulses_.amounts.is_own || std::isnan(amount),
                                 "{}: impulses.amounts({}, {}) = {}, but trajectory {} has only {} "
                                 "impulses; fill its row up with NaN",
                                 where_, lane, k, amount, lane, given);
                row.push_back({});
                continue;
            }
            const double component = number(impulses_.components, lane, k);
            require_argument(std::isfinite(amount),
                             "{}: the amount of {} is {}; give a finite number", where_,
                             name(lane, k), amount);
            require_argument(
                component >= 0 && component <= 1e9 && component == std::floor(component),
                "{}: the component of {} is {}; give the number of a component of y, "
                "from 0 on",
                where_, name(lane, k), component);
            const auto& kinds = impulses_.kinds.values;
            row.push_back(
                {amount, static_cast<std::int32_t>(component), kinds[kinds.size() == 1 ? 0 : k]});
        }
    }

  private:
    [[nodiscard]] static std::size_t columns(const SaveTimes& list) {
        return list.is_own ? static_cast<std::size_t>(list.own.num_times) : list.values.size();
    }
    [[nodiscard]] static double number(const SaveTimes& list, std::ptrdiff_t lane, std::size_t k) {
        if (list.is_own) return list.own(lane, static_cast<std::ptrdiff_t>(k));
        return list.values[list.values.size() == 1 ? 0 : k];
    }
    [[nodiscard]] static std::string name(std::ptrdiff_t lane, std::size_t k) {
        return lane < 0 ? compose("impulse {}", k)
                        : compose("impulse {} of trajectory {}", k, lane);
    }
    void require_columns(const SaveTimes& list, const char* list_name, bool is_needed) const {
        const std::size_t given = columns(list);
        const bool fits = given == count_ || (given == 1 && !list.is_own) ||
                          (given == 0 && !list.is_own && !is_needed);
        require_argument(fits,
                         "{}: {} has {} numbers of each trajectory for {} impulses; give one for "
                         "all, or one for each time in impulses.times",
                         where_, list_name, given, count_);
    }

    const Impulses& impulses_;
    const char* where_;
    std::size_t count_;
};

}  // namespace eddy::inline v0::detail
