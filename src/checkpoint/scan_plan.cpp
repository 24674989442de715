#include <algorithm>
#include <array>
#include <eddy/checkpoint/scan_plan.hpp>
#include <eddy/core/error.hpp>
#include <vector>

#include "budget_curve.hpp"

namespace eddy::inline v0 {
namespace {

using detail::at;
using detail::BudgetCurve;
using std::int64_t;

constexpr int64_t most_work = int64_t{1} << 28;  // points of curves that are added up, about
constexpr int64_t most_steps = 4096;

/// Starts of the segments with which each step is evaluated again at most once, as few carries as can
/// be; empty where there are none.
std::vector<int64_t> segments_once_again(const ScanCosts& costs, int64_t memory_bytes) {
    const int64_t s = costs.state_bytes, r = costs.residual_bytes;
    std::vector<int64_t> lengths{memory_bytes / r, memory_bytes / r};
    int64_t all = 2 * (memory_bytes / r);
    for (int64_t carries = 1; all < costs.steps; ++carries) {
        const int64_t last = (memory_bytes - carries * s) / r;
        if (memory_bytes < carries * s || last < 1) return {};
        lengths.push_back(last);
        all += last;
    }
    std::vector<int64_t> starts;
    int64_t start = costs.steps - all;  // the first ones are shortened
    for (int64_t length : lengths) {
        if (start + length > 0) starts.push_back(std::max<int64_t>(start, 0));
        start += length;
    }
    return starts;
}

/// The fewest evaluations of so many steps, with the start in hand, kept within the budget, or the
/// caller's, as curves over the budget. With s and r the bytes of a carry and of residuals the least of
///   record the first step:  1 + in hand(l - 1, m - r)
///   advance by j:           j + in hand(l - j, m - s or m) + kept or caller's(j, m)
/// and in hand the less of recording and keeping it.
class ScanPlanner {
  public:
    ScanPlanner(const ScanCosts& costs, int64_t memory_bytes)
        : costs_(costs), budget_(memory_bytes), algebra_(memory_bytes, most_points(costs.steps)) {
        for (auto& curves : curves_) {
            curves.resize(static_cast<std::size_t>(costs.steps + 1));
            curves[0] = {{0, 0, record}};
        }
        for (int64_t length = 1; length <= costs.steps; ++length) fill(length);
    }
    [[nodiscard]] bool fits() const { return !curve(callers, costs_.steps).empty(); }

    [[nodiscard]] ScanPlan plan() {
        act(ScanActionKind::keep, 0, 0);
        plan_.evaluations = static_cast<int64_t>(at(curve(callers, costs_.steps), budget_)->cost);
        emit(callers, 0, costs_.steps, budget_);
        return std::move(plan_);
    }

  private:
    enum Start { in_hand, kept, callers };
    enum Choice : std::int32_t { keep = -1, record = 0 };  // or the step that is advanced to

    /// Long scans have fewer points a curve, as many as there is time for.
    [[nodiscard]] static int64_t most_points(int64_t steps) {
        return std::max<int64_t>(most_work / (steps * steps), 16);
    }
    [[nodiscard]] const BudgetCurve& curve(Start start, int64_t length) const {
        return curves_[start][static_cast<std::size_t>(length)];
    }

    void fill(int64_t length) {
        for (Start start : {in_hand, kept, callers}) {
            BudgetCurve best;
            algebra_.take_shifted(curve(in_hand, length - 1), costs_.residual_bytes, 0, 1, record,
                                  best);
            if (start == in_hand) {
                curves_[in_hand][static_cast<std::size_t>(length)] = std::move(best);
                continue;
            }
            const int64_t own = start == kept ? costs_.state_bytes : 0;
            for (int64_t j = 1; j < length; ++j)
                algebra_.take_sum(curve(in_hand, length - j), own, curve(start, j), 0,
                                  static_cast<double>(j), static_cast<std::int32_t>(j), best);
            algebra_.thin(best);
            if (start == kept) {
                BudgetCurve& either = curves_[in_hand][static_cast<std::size_t>(length)];
                algebra_.take_shifted(best, 0, 0, 0, keep, either);
                algebra_.thin(either);
            }
            curves_[start][static_cast<std::size_t>(length)] = std::move(best);
        }
    }

    void act(ScanActionKind kind, int64_t first, int64_t last) {
        auto& actions = plan_.actions;
        if (!actions.empty() && actions.back().kind == kind) {
            if (kind == ScanActionKind::record && actions.back().last == first) {
                actions.back().last = last;
                return;
            }
            if (kind == ScanActionKind::pullback && actions.back().first == last) {
                actions.back().first = first;
                return;
            }
        }
        actions.push_back({kind, first, last});
    }

    /// `after`: the carry in hand is another one, and the start must be fetched first.
    void emit(Start start, int64_t first, int64_t length, int64_t m, bool after = false) {
        if (length == 0) return;
        const auto [bytes, cost, choice] = *at(curve(start, length), m);
        if (choice == keep) {
            act(ScanActionKind::keep, first, first);
            emit(kept, first, length, bytes);
        } else if (choice == record) {
            if (start != in_hand) act(ScanActionKind::take, first, first);
            act(ScanActionKind::record, first, first + 1);
            emit(in_hand, first + 1, length - 1, bytes - costs_.residual_bytes);
            act(ScanActionKind::pullback, first, first + 1);
        } else {
            if (after) act(ScanActionKind::restart, first, first);
            act(ScanActionKind::advance, first, first + choice);
            emit(in_hand, first + choice, length - choice,
                 start == kept ? bytes - costs_.state_bytes : bytes);
            emit(start, first, choice, bytes, true);
        }
    }

    ScanCosts costs_;
    int64_t budget_;
    detail::BudgetCurves algebra_;
    std::array<std::vector<BudgetCurve>, 3> curves_;  // (start)[length]
    ScanPlan plan_;
};

}  // namespace

ScanPlan detail::plan_segments(const std::vector<int64_t>& starts, int64_t steps) {
    ScanPlan plan;
    if (steps == 0) return plan;
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        plan.actions.push_back({ScanActionKind::keep, starts[k], starts[k]});
        plan.actions.push_back({ScanActionKind::advance, starts[k], starts[k + 1]});
    }
    for (std::size_t k = starts.size(); k-- > 0;) {
        const int64_t end = k + 1 < starts.size() ? starts[k + 1] : steps;
        if (k + 1 < starts.size())
            plan.actions.push_back({ScanActionKind::take, starts[k], starts[k]});
        plan.actions.push_back({ScanActionKind::record, starts[k], end});
        plan.actions.push_back({ScanActionKind::pullback, starts[k], end});
    }
    plan.evaluations = steps + starts.back();
    return plan;
}

ScanPlan plan_scan(const ScanCosts& costs, int64_t memory_bytes, const char* where) {
    require_argument(costs.steps >= 0 && costs.state_bytes >= 0 && costs.residual_bytes >= 0,
                     "{}: a negative number of steps or bytes; give at least 0", where);
    require_argument(memory_bytes >= costs.residual_bytes,
                     "{}: memory_bytes = {}, but the residuals of one step take {}; raise it",
                     where, memory_bytes, costs.residual_bytes);
    const int64_t r = costs.residual_bytes;
    if (r == 0 || costs.steps <= memory_bytes / r) return detail::plan_segments({0}, costs.steps);
    std::vector<int64_t> starts = segments_once_again(costs, memory_bytes);
    if (!starts.empty() && (r >= costs.state_bytes || costs.steps > most_steps))
        return detail::plan_segments(starts, costs.steps);
    require_argument(
        costs.steps <= most_steps,
        "{}: memory_bytes = {} for {} steps of which some would be evaluated again more "
        "than once; raise it, or keep carries only",
        where, memory_bytes, costs.steps);
    ScanPlanner planner(costs, memory_bytes);
    require_argument(planner.fits(), "{}: memory_bytes = {} is too little to be planned; raise it",
                     where, memory_bytes);
    return planner.plan();
}

}  // namespace eddy::inline v0
