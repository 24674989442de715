#pragma once
// Which values of a program to keep within a budget of bytes, so that the least is computed again. With K
// kept, what is computed again is the least set with every read value and every operand of a member that
// are not in K, each once. For a price of a byte one minimum cut finds the best K of all: two nodes a value,
// available and computed, and a cut between them keeps it. The cuts are the corners of the lower hull of
// cost against bytes; the hull at the budget is a bound, its corner below the budget a start. Filling, or
// dropping from all that is read, improves on it, and branch and bound closes the gap.
// Test: tests/ad/value_plan.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/core/list.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// A value of the forward pass, as a plan sees it. Costs and bytes are at most 2^30 in sum.
struct ValueCost {
    std::int64_t cost = 1;   ///< of computing it
    std::int64_t bytes = 0;  ///< of keeping it
    List<int> operands{};
    bool read = false;         ///< by the backward pass
    bool recomputable = true;  ///< may it be computed again?
    bool keepable = true;
};

/// What a plan keeps.
struct KeptValues {
    List<char> kept{};  ///< (value)
    std::int64_t bytes = 0;
    std::int64_t cost = 0;        ///< of what is computed again
    std::int64_t least_cost = 0;  ///< no plan within the budget costs less
    bool fits = false;
};

namespace detail {

/// A minimum cut by blocking flows (Dinic 1970).
class MinimumCut {
  public:
    constexpr explicit MinimumCut(int nodes) : edges_of_(static_cast<std::size_t>(nodes)) {}

    constexpr void connect(int from, int to, std::int64_t capacity) {
        edges_of_[index(from)].push_back(static_cast<int>(edges_.size()));
        edges_.push_back({to, capacity});
        edges_of_[index(to)].push_back(static_cast<int>(edges_.size()));
        edges_.push_back({from, 0});
    }
    /// (node) Is it on the side of `source` of the cut nearest to it?
    constexpr List<char> source_side(int source, int sink) {
        while (find_levels(source, sink)) {
            next_.assign(edges_of_.size(), 0);
            while (push(source, sink)) {
            }
        }
        List<char> side(edges_of_.size(), 0);
        for (std::size_t i = 0; i < side.size(); ++i) side[i] = level_[i] >= 0 ? 1 : 0;
        return side;
    }

  private:
    struct Edge {
        int to;
        std::int64_t rest;
    };
    static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

    constexpr bool find_levels(int source, int sink) {
        level_.assign(edges_of_.size(), -1);
        level_[index(source)] = 0;
        List<int> reached{source};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            for (int e : edges_of_[index(reached[i])]) {
                const Edge& edge = edges_[index(e)];
                if (edge.rest == 0 || level_[index(edge.to)] >= 0) continue;
                level_[index(edge.to)] = level_[index(reached[i])] + 1;
                reached.push_back(edge.to);
            }
        }
        return level_[index(sink)] >= 0;
    }
    /// Pushes along one shortest path; false where there is none left.
    constexpr bool push(int source, int sink) {
        List<int> path;  // edges
        for (int at = source; at != sink;) {
            std::size_t& k = next_[index(at)];
            const List<int>& out = edges_of_[index(at)];
            while (k < out.size() && !leads_on(at, out[k])) ++k;
            if (k < out.size()) {
                path.push_back(out[k]);
                at = edges_[index(out[k])].to;
            } else if (path.empty()) {
                return false;
            } else {
                at = edges_[index(path.back() ^ 1)].to;
                path.pop_back();
                ++next_[index(at)];
            }
        }
        std::int64_t least = edges_[index(path[0])].rest;
        for (int e : path) least = std::min(least, edges_[index(e)].rest);
        for (int e : path) {
            edges_[index(e)].rest -= least;
            edges_[index(e ^ 1)].rest += least;
        }
        return true;
    }
    [[nodiscard]] constexpr bool leads_on(int from, int e) const {
        const Edge& edge = edges_[index(e)];
        return edge.rest > 0 && level_[index(edge.to)] == level_[index(from)] + 1;
    }

    List<List<int>> edges_of_;  // (node)
    List<Edge> edges_;          // each beside its reverse
    List<int> level_;
    List<std::size_t> next_;
};

/// Plans for one program.
class ValuePlanner {
  public:
    constexpr explicit ValuePlanner(List<ValueCost> values) : values_(std::move(values)) {
        for (const ValueCost& value : values_) {
            all_bytes_ += value.bytes;
            all_cost_ += value.cost;
        }
    }

    /// The best of all choices at these prices of a byte and of a unit of cost.
    [[nodiscard]] constexpr KeptValues cut(std::int64_t per_byte, std::int64_t per_cost) const {
        const auto n = static_cast<int>(values_.size());
        const int source = 2 * n, sink = 2 * n + 1;
        const std::int64_t never = per_byte * all_bytes_ + per_cost * all_cost_ + 1;
        MinimumCut graph(2 * n + 2);
        for (int v = 0; v < n; ++v) {  // available: v, computed: n + v
            const ValueCost& value = values_[index(v)];
            if (value.read) graph.connect(source, v, never);
            graph.connect(v, n + v, value.keepable ? per_byte * value.bytes : never);
            graph.connect(n + v, sink, value.recomputable ? per_cost * value.cost : never);
            for (int operand : value.operands) graph.connect(n + v, operand, never);
        }
        const List<char> side = graph.source_side(source, sink);
        List<char> kept(values_.size(), 0);
        for (int v = 0; v < n; ++v) kept[index(v)] = side[index(v)] != 0 && side[index(n + v)] == 0;
        return counted(std::move(kept));
    }

    /// The fewest bytes, and among those the least cost; `fits` is false where nothing does.
    [[nodiscard]] constexpr KeptValues fewest_bytes() const { return cut(all_cost_ + 1, 1); }
    /// The least cost, and among those the fewest bytes.
    [[nodiscard]] constexpr KeptValues least_cost() const { return cut(1, all_bytes_ + 1); }

    /// The corner of the hull below the budget, with the hull at the budget as a bound.
    [[nodiscard]] constexpr KeptValues corner(std::int64_t budget,
                                              KeptValues* above = nullptr) const {
        KeptValues low = fewest_bytes(), high = least_cost();
        if (high.bytes <= budget) low = high;
        low.fits = low.fits && low.bytes <= budget;
        low.least_cost = low.cost;
        if (!low.fits || high.bytes <= budget) {
            if (above != nullptr) *above = high;
            return low;
        }
        for (;;) {
            const std::int64_t per_byte = low.cost - high.cost, per_cost = high.bytes - low.bytes;
            const std::int64_t line = per_byte * low.bytes + per_cost * low.cost;
            const KeptValues found = cut(per_byte, per_cost);
            if (per_byte * found.bytes + per_cost * found.cost >= line) {
                const std::int64_t over = line - per_byte * budget;  // per_cost times the bound
                low.least_cost = over <= 0 ? 0 : (over + per_cost - 1) / per_cost;
                break;
            }
            (found.bytes <= budget ? low : high) = found;
        }
        if (above != nullptr) *above = high;
        return low;
    }

    /// The best within the budget. At most `most_branches` nodes of branch and bound close the gap;
    /// with none it is a corner that is filled, or what is left of all that is read.
    [[nodiscard]] constexpr KeptValues plan(std::int64_t budget, int most_branches) {
        KeptValues high;
        KeptValues best = corner(budget, &high);
        if (!best.fits || best.cost == best.least_cost) return best;
        const std::int64_t bound = best.least_cost;
        if (values_.size() <= most_filled) {
            best = filled(std::move(best), budget);
            KeptValues other = filled(dropped(budget), budget);
            if (other.fits && other.cost < best.cost) best = std::move(other);
        }
        best.least_cost = bound;
        if (best.cost > bound && most_branches > 0) branch(best, budget, most_branches);
        return best;
    }

    /// Bytes and cost of keeping these values.
    [[nodiscard]] constexpr KeptValues counted(List<char> kept) const {
        KeptValues result{.kept = std::move(kept), .fits = true};
        List<char> seen(values_.size(), 0);
        List<int> wanted;
        const auto want = [&](int v) {
            if (seen[index(v)] != 0) return;
            seen[index(v)] = 1;
            if (result.kept[index(v)] == 0) wanted.push_back(v);
        };
        for (std::size_t v = 0; v < values_.size(); ++v)
            if (values_[v].read) want(static_cast<int>(v));
        while (!wanted.empty()) {
            const ValueCost& value = values_[index(wanted.back())];
            wanted.pop_back();
            result.cost += value.cost;
            result.fits = result.fits && value.recomputable;
            for (int operand : value.operands) want(operand);
        }
        for (std::size_t v = 0; v < values_.size(); ++v) {
            if (seen[v] == 0) result.kept[v] = 0;  // nobody reads it
            if (result.kept[v] != 0) result.bytes += values_[v].bytes;
        }
        return result;
    }

  private:
    static constexpr std::size_t most_filled = 256;
    static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

    /// Adds the value with the most cost saved for a byte, until none fits.
    [[nodiscard]] constexpr KeptValues filled(KeptValues now, std::int64_t budget) const {
        for (bool better = now.fits; better;) {
            better = false;
            KeptValues next;
            std::int64_t next_saved = 0, next_bytes = 1;
            for (std::size_t v = 0; v < values_.size(); ++v) {
                if (now.kept[v] != 0 || !values_[v].keepable) continue;
                List<char> more = now.kept;
                more[v] = 1;
                KeptValues found = counted(std::move(more));
                const std::int64_t saved = now.cost - found.cost;
                const std::int64_t bytes = std::max<std::int64_t>(found.bytes - now.bytes, 1);
                if (found.bytes > budget || saved <= 0 || saved * next_bytes <= next_saved * bytes)
                    continue;
                next = std::move(found);
                next_saved = saved;
                next_bytes = bytes;
                better = true;
            }
            if (better) now = std::move(next);
        }
        return now;
    }

    /// From all that is read, drops the least cost for a byte until it fits.
    [[nodiscard]] constexpr KeptValues dropped(std::int64_t budget) const {
        List<char> all(values_.size(), 0);
        for (std::size_t v = 0; v < values_.size(); ++v)
            all[v] = values_[v].read && values_[v].keepable ? 1 : 0;
        KeptValues now = counted(std::move(all));
        while (now.fits && now.bytes > budget) {
            KeptValues next;
            std::int64_t next_cost = 0, next_bytes = 0;
            for (std::size_t v = 0; v < values_.size(); ++v) {
                if (now.kept[v] == 0) continue;
                List<char> less = now.kept;
                less[v] = 0;
                KeptValues found = counted(std::move(less));
                const std::int64_t bytes = now.bytes - found.bytes, cost = found.cost - now.cost;
                if (!found.fits || bytes <= 0) continue;
                if (next.fits && cost * next_bytes >= next_cost * bytes) continue;
                next = std::move(found);
                next_cost = cost;
                next_bytes = bytes;
            }
            now = std::move(next);
        }
        return now;
    }

    struct Branch {
        List<char> decided;  // (value) 1: kept, 2: not kept
        std::int64_t bound;
    };

    /// Best first, on the largest value in which the corners around the budget differ.
    constexpr void branch(KeptValues& best, std::int64_t budget, int most_branches) {
        const List<ValueCost> original = values_;
        List<Branch> open{{List<char>(values_.size(), 0), best.least_cost}};
        const auto is_worse = [](const Branch& a, const Branch& b) { return a.bound > b.bound; };
        for (int count = 0; !open.empty() && count < most_branches; ++count) {
            std::pop_heap(open.begin(), open.end(), is_worse);
            const Branch now = std::move(open.back());
            open.pop_back();
            best.least_cost = std::min(now.bound, best.cost);
            if (now.bound >= best.cost) break;
            const std::int64_t rest = budget - decide(now.decided, original);
            KeptValues high;
            KeptValues low = rest < 0 ? KeptValues{} : corner(rest, &high);
            values_ = original;
            if (!low.fits || low.least_cost >= best.cost) continue;
            for (std::size_t v = 0; v < values_.size(); ++v)
                if (now.decided[v] == 1) low.kept[v] = high.kept[v] = 1;
            const int v = largest_difference(low.kept, high.kept, now.decided);
            const std::int64_t bound = low.least_cost;
            if (KeptValues found = counted(std::move(low.kept));
                found.fits && found.bytes <= budget && found.cost < best.cost) {
                found.least_cost = best.least_cost;
                best = std::move(found);
            }
            if (v < 0) continue;
            for (char choice : {char{1}, char{2}}) {
                open.push_back({now.decided, bound});
                open.back().decided[index(v)] = choice;
                std::push_heap(open.begin(), open.end(), is_worse);
            }
        }
        if (open.empty()) best.least_cost = best.cost;
    }
    /// Settles the values, and returns the bytes of those that are kept.
    constexpr std::int64_t decide(const List<char>& decided, const List<ValueCost>& original) {
        std::int64_t bytes = 0;
        for (std::size_t v = 0; v < values_.size(); ++v) {
            if (decided[v] == 1) {
                bytes += original[v].bytes;
                values_[v].bytes = 0;
            } else if (decided[v] == 2) {
                values_[v].keepable = false;
            }
        }
        return bytes;
    }
    [[nodiscard]] constexpr int largest_difference(const List<char>& low, const List<char>& high,
                                                   const List<char>& decided) const {
        int largest = -1;
        for (std::size_t v = 0; v < values_.size(); ++v) {
            if (low[v] == high[v] || decided[v] != 0) continue;
            if (largest < 0 || values_[v].bytes > values_[index(largest)].bytes)
                largest = static_cast<int>(v);
        }
        return largest;
    }

    List<ValueCost> values_;
    std::int64_t all_bytes_ = 0;
    std::int64_t all_cost_ = 0;
};

/// Nodes of branch and bound that are tried: enough to close the gap of some 60 values.
inline constexpr int default_branches = 2000;

}  // namespace detail

/// The values to keep within a budget: the optimum up to some 60 values, beyond that nearly so, with the
/// bound beside it. `fits` is false where more bytes are needed.
[[nodiscard]] constexpr KeptValues plan_values(List<ValueCost> values, std::int64_t budget,
                                               int most_branches = detail::default_branches) {
    return detail::ValuePlanner(std::move(values)).plan(budget, most_branches);
}

}  // namespace eddy::inline v0
