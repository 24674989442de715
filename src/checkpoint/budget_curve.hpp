#pragma once
// Costs against bytes, as step functions: what planners of chains and of scans add up, shift and take the
// least of. No size is rounded; where a curve would have too many points, some of its plans are left out,
// and those that stay are as they were.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

struct CurvePoint {
    std::int64_t bytes;
    double cost;
    std::int32_t choice;  // what comes first
};
using BudgetCurve = std::vector<CurvePoint>;  // bytes increase, costs decrease

/// Costs are sums, which round differently.
[[nodiscard]] inline bool is_below(double cost, double other) {
    constexpr double tolerance = 1e-12;
    return cost < other - tolerance * std::abs(other);
}

/// The last point at or below `bytes`; null where there is none.
[[nodiscard]] inline const CurvePoint* at(const BudgetCurve& curve, std::int64_t bytes) {
    const auto above = std::ranges::upper_bound(curve, bytes, {}, &CurvePoint::bytes);
    return above == curve.begin() ? nullptr : &*(above - 1);
}

/// Operations on curves, none of which goes beyond the budget.
class BudgetCurves {
  public:
    /// At most so many points a curve; 0: all.
    BudgetCurves(std::int64_t budget, std::int64_t most_points)
        : budget_(budget), most_points_(static_cast<std::size_t>(most_points)) {}

    /// best becomes the lower envelope of both.
    void take(const BudgetCurve& other, BudgetCurve& best) {
        if (other.empty() || other.front().bytes > budget_) return;
        merged_.clear();
        double least = std::numeric_limits<double>::infinity();
        auto x = best.begin();
        auto y = other.begin();
        while (x != best.end() || y != other.end()) {
            const bool first = y == other.end() || (x != best.end() && x->bytes <= y->bytes);
            const CurvePoint& point = first ? *x++ : *y++;
            if (least != std::numeric_limits<double>::infinity() && !is_below(point.cost, least))
                continue;
            if (!merged_.empty() && merged_.back().bytes == point.bytes) merged_.pop_back();
            merged_.push_back(point);
            least = point.cost;
        }
        std::swap(best, merged_);
    }

    /// Takes into best what goes on with `rest` while `held` bytes are held, and needs at least `need`;
    /// `cost` is added.
    void take_shifted(const BudgetCurve& rest, std::int64_t held, std::int64_t need, double cost,
                      std::int32_t choice, BudgetCurve& best) {
        summed_.clear();
        for (const CurvePoint& point : rest) {
            const std::int64_t bytes = std::max(point.bytes + held, need);
            if (bytes > budget_) break;
            if (!summed_.empty() && summed_.back().bytes == bytes) summed_.pop_back();
            summed_.push_back({bytes, point.cost + cost, choice});
        }
        take(summed_, best);
    }

    /// Takes into best the sum of both, of which the first has `own` bytes fewer.
    void take_sum(const BudgetCurve& later, std::int64_t own, const BudgetCurve& earlier,
                  std::int64_t need, double cost, std::int32_t choice, BudgetCurve& best) {
        if (later.empty() || earlier.empty()) return;
        const std::int64_t least =
            std::max({need, later.front().bytes + own, earlier.front().bytes});
        if (least > budget_) return;
        const CurvePoint* known = at(best, least);
        if (known != nullptr &&
            !is_below(later.back().cost + earlier.back().cost + cost, known->cost))
            return;
        auto x = later.data() + (at(later, least - own) - later.data());
        auto y = earlier.data() + (at(earlier, least) - earlier.data());
        const CurvePoint *x_end = later.data() + later.size(),
                         *y_end = earlier.data() + earlier.size();
        constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
        summed_.clear();
        for (std::int64_t bytes = least; bytes <= budget_;) {
            summed_.push_back({bytes, x->cost + y->cost + cost, choice});
            const std::int64_t next_x = x + 1 != x_end ? x[1].bytes + own : never;
            const std::int64_t next_y = y + 1 != y_end ? y[1].bytes : never;
            bytes = std::min(next_x, next_y);
            if (bytes == never) break;
            if (next_x == bytes) ++x;
            if (next_y == bytes) ++y;
        }
        take(summed_, best);
    }

    /// Leaves at most so many points, the first and the last among them, their costs about a constant
    /// factor apart. Each is a plan.
    void thin(BudgetCurve& curve) const {
        if (most_points_ != 0 && curve.size() > most_points_) {
            const double ratio = std::log(curve.front().cost / std::max(curve.back().cost, 1e-300));
            const double factor = std::exp(-ratio / static_cast<double>(most_points_ - 1));
            std::size_t kept = 1;
            double next = curve.front().cost * factor;
            for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
                if (curve[i].cost > next || kept + 1 >= most_points_) continue;
                curve[kept++] = curve[i];
                next = curve[i].cost * factor;
            }
            curve[kept++] = curve.back();
            curve.resize(kept);
        }
        curve.shrink_to_fit();
    }

  private:
    std::int64_t budget_;
    std::size_t most_points_;
    BudgetCurve summed_, merged_;  // work
};

}  // namespace eddy::inline v0::detail
