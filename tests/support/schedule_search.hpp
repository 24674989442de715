#pragma once
// The cheapest schedule of a short run by exhaustive search: Dijkstra over every (model, adjoint,
// stored set) with every legal action. It knows no theorem about checkpointing, which is the point.

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace support {

struct SearchTier {
    std::int64_t capacity;  // in units of `sizes`
    double write_cost = 0, read_cost = 0;
};

struct SearchProblem {
    std::vector<double> step_costs;   // one per step; at most 8 steps
    std::vector<std::int64_t> sizes;  // of x_i, one per step; empty: all 1
    std::vector<SearchTier> tiers;
    bool output_first = true;
    bool persistent = false;  // a checkpoint stays until its step has been reversed
};

class ScheduleSearch {
  public:
    explicit ScheduleSearch(SearchProblem problem)
        : problem_(std::move(problem)), length_(static_cast<unsigned>(problem_.step_costs.size())) {
        if (problem_.sizes.empty()) problem_.sizes.assign(length_, 1);
        stored_bits_ = length_ * static_cast<unsigned>(problem_.tiers.size());
    }

    /// The least cost without the pullbacks, or a negative number when there is no schedule.
    double least_cost() {
        distance_.assign(std::size_t{1} << (stored_bits_ + 9), -1);
        push(0, encode({0, length_, false, 0}));
        while (!queue_.empty()) {
            const auto [cost, code] = queue_.top();
            queue_.pop();
            if (distance_[code] >= 0) continue;
            distance_[code] = cost;
            const Node node = decode(code);
            if (node.adjoint == 0) return cost;
            expand(cost, node);
        }
        return -1;
    }

  private:
    struct Node {
        unsigned model, adjoint;
        bool reached_end;
        std::size_t stored;  // bit tier * length + step
    };

    std::size_t encode(const Node& node) const {
        return (((node.stored * 2 + node.reached_end) * 16 + node.model) * 16 + node.adjoint);
    }
    Node decode(std::size_t code) const {
        return {unsigned(code / 16 % 16), unsigned(code % 16), code / 256 % 2 == 1, code / 512};
    }
    void push(double cost, std::size_t code) {
        if (distance_[code] < 0) queue_.emplace(cost, code);
    }
    std::size_t bit(unsigned tier, unsigned step) const {
        return std::size_t{1} << (tier * length_ + step);
    }

    void expand(double cost, const Node& node) {
        Node next = node;
        if (node.model < node.adjoint) {
            next.model = node.model + 1;
            next.reached_end = node.reached_end || next.model == length_;
            push(cost + problem_.step_costs[node.model], encode(next));
        }
        const bool may_reverse = node.reached_end || !problem_.output_first;
        if (may_reverse && node.model + 1 == node.adjoint) {
            next = node;
            next.adjoint = node.model;
            push(cost, encode(next));
        }
        for (unsigned tier = 0; tier < problem_.tiers.size(); ++tier) expand_tier(cost, node, tier);
    }

    void expand_tier(double cost, const Node& node, unsigned tier) {
        std::int64_t used = 0;
        for (unsigned step = 0; step < length_; ++step)
            if (node.stored & bit(tier, step)) used += problem_.sizes[step];

        Node next = node;
        for (unsigned step = 0; step < length_; ++step) {
            if (!(node.stored & bit(tier, step))) continue;
            next = node;
            next.model = step;
            push(cost + problem_.tiers[tier].read_cost, encode(next));
            if (problem_.persistent && step < node.adjoint) continue;
            next = node;
            next.stored &= ~bit(tier, step);
            push(cost, encode(next));
        }
        if (node.model < length_ && !(node.stored & bit(tier, node.model)) &&
            used + problem_.sizes[node.model] <= problem_.tiers[tier].capacity) {
            next = node;
            next.stored |= bit(tier, node.model);
            push(cost + problem_.tiers[tier].write_cost, encode(next));
        }
    }

    using Entry = std::pair<double, std::size_t>;
    SearchProblem problem_;
    unsigned length_, stored_bits_ = 0;
    std::vector<double> distance_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

inline double least_cost(SearchProblem problem) {
    return ScheduleSearch(std::move(problem)).least_cost();
}

}  // namespace support
