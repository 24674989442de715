#include <algorithm>
#include <array>
#include <eddy/checkpoint/scan_plan.hpp>
#include <eddy/core/error.hpp>
#include <limits>
#include <numeric>
#include <string>

namespace eddy::inline v0 {
namespace {

using std::int64_t;
using Kind = ScanActionKind;

constexpr int64_t most_work = int64_t{1} << 28;  // of the table
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

/// The fewest evaluations by a table: (l, m), with the start in hand, kept within m, or the caller's.
class ScanTable {
  public:
    ScanTable(const ScanCosts& costs, int64_t memory_bytes) : steps_(costs.steps) {
        int64_t unit = std::max<int64_t>(std::gcd(costs.state_bytes, costs.residual_bytes), 1);
        const int64_t most = std::max<int64_t>(most_work / (steps_ * steps_), 1);
        if (memory_bytes / unit > most) unit = (memory_bytes + most - 1) / most;
        state_ = (costs.state_bytes + unit - 1) / unit;
        residual_ = (costs.residual_bytes + unit - 1) / unit;
        budget_ = memory_bytes / unit;
        for (auto& table : entries_)
            table.assign(static_cast<std::size_t>((steps_ + 1) * (budget_ + 1)), {});
        for (int64_t m = 0; m <= budget_; ++m)
            for (Start start : {in_hand, kept, callers}) entry(start, 0, m).cost = 0;
        for (int64_t length = 1; length <= steps_; ++length)
            for (int64_t m = residual_; m <= budget_; ++m) fill(length, m);
    }
    [[nodiscard]] bool fits() const { return entry(callers, steps_, budget_).cost < never; }

    [[nodiscard]] ScanPlan plan() {
        act(Kind::keep, 0, 0);
        emit(callers, 0, steps_, budget_);
        plan_.evaluations = entry(callers, steps_, budget_).cost;
        return std::move(plan_);
    }

  private:
    enum Start { in_hand, kept, callers };
    static constexpr int64_t never = std::numeric_limits<int64_t>::max() / 4;
    struct Entry {
        int64_t cost = never;
        int64_t split = 0;  // 0: record the first step; -1: keep the start
    };

    Entry& entry(Start start, int64_t length, int64_t m) {
        return entries_[start][static_cast<std::size_t>(length * (budget_ + 1) + m)];
    }
    [[nodiscard]] const Entry& entry(Start start, int64_t length, int64_t m) const {
        return entries_[start][static_cast<std::size_t>(length * (budget_ + 1) + m)];
    }

    void fill(int64_t length, int64_t m) {
        const int64_t record = 1 + entry(in_hand, length - 1, m - residual_).cost;
        for (Start start : {kept, callers}) {
            const int64_t rest = start == kept ? m - state_ : m;
            Entry best{std::min(record, never), 0};
            for (int64_t j = 1; j < length && rest >= 0; ++j) {
                const int64_t cost =
                    j + entry(in_hand, length - j, rest).cost + entry(start, j, m).cost;
                if (cost < best.cost) best = {cost, j};
            }
            entry(start, length, m) = best;
        }
        const Entry& keep = entry(kept, length, m);
        entry(in_hand, length, m) = keep.cost < record ? Entry{keep.cost, -1} : Entry{record, 0};
    }

    void act(Kind kind, int64_t first, int64_t last) {
        auto& actions = plan_.actions;
        if (!actions.empty() && actions.back().kind == kind) {
            if (kind == Kind::record && actions.back().last == first) {
                actions.back().last = last;
                return;
            }
            if (kind == Kind::pullback && actions.back().first == last) {
                actions.back().first = first;
                return;
            }
        }
        actions.push_back({kind, first, last});
    }

    /// `after`: the carry in hand is another one, and the start must be fetched first.
    void emit(Start start, int64_t first, int64_t length, int64_t m, bool after = false) {
        if (length == 0) return;
        const int64_t split = entry(start, length, m).split;
        if (split == -1) {
            act(Kind::keep, first, first);
            emit(kept, first, length, m);
        } else if (split == 0) {
            if (start != in_hand) act(Kind::take, first, first);
            act(Kind::record, first, first + 1);
            emit(in_hand, first + 1, length - 1, m - residual_);
            act(Kind::pullback, first, first + 1);
        } else {
            if (after) act(Kind::restart, first, first);
            act(Kind::advance, first, first + split);
            emit(in_hand, first + split, length - split, start == kept ? m - state_ : m);
            emit(start, first, split, m, true);
        }
    }

    int64_t steps_, state_ = 0, residual_ = 0, budget_ = 0;
    std::array<std::vector<Entry>, 3> entries_;  // (start)[length, m]
    ScanPlan plan_;
};

}  // namespace

ScanPlan detail::plan_segments(const std::vector<int64_t>& starts, int64_t steps) {
    ScanPlan plan;
    if (steps == 0) return plan;
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        plan.actions.push_back({Kind::keep, starts[k], starts[k]});
        plan.actions.push_back({Kind::advance, starts[k], starts[k + 1]});
    }
    for (std::size_t k = starts.size(); k-- > 0;) {
        const int64_t end = k + 1 < starts.size() ? starts[k + 1] : steps;
        if (k + 1 < starts.size()) plan.actions.push_back({Kind::take, starts[k], starts[k]});
        plan.actions.push_back({Kind::record, starts[k], end});
        plan.actions.push_back({Kind::pullback, starts[k], end});
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
    ScanTable table(costs, memory_bytes);
    require_argument(table.fits(), "{}: memory_bytes = {} is too little to be planned; raise it",
                     where, memory_bytes);
    return table.plan();
}

}  // namespace eddy::inline v0
