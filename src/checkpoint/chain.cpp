#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/chain.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/schedule.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace eddy::inline v0 {
namespace {

using std::int64_t;

constexpr int64_t most_entries = int64_t{1} << 27;  // of the table: 12 bytes each

int64_t divide_up(int64_t number, int64_t by) { return number / by + (number % by != 0); }

// Sizes and budget in whole units, never smaller than they are.
struct Units {
    std::vector<int64_t> sizes;
    int64_t budget = 0;

    Units(std::span<const ChainStep> steps, const ChainOptions& options) {
        int64_t unit = 0;
        for (const ChainStep& step : steps) unit = std::gcd(unit, step.state_bytes);
        if (unit == 0) unit = 1;
        if (options.memory_bytes / unit > options.memory_units)
            unit = divide_up(options.memory_bytes, options.memory_units);
        int64_t all = 0;
        for (const ChainStep& step : steps) {
            sizes.push_back(divide_up(step.state_bytes, unit));
            all = schedule::add(all, sizes.back());
        }
        budget = std::min(options.memory_bytes / unit, all);  // more than everything is of no use
    }
};

class ChainSolver {
  public:
    ChainSolver(std::span<const ChainStep> steps, const ChainOptions& options)
        : length_(static_cast<int64_t>(steps.size())), units_(steps, options), start_times_{0} {
        require_argument(size(0) <= units_.budget,
                         "chain: x_0 has {} bytes, the budget is {}; raise memory_bytes",
                         steps[0].state_bytes, options.memory_bytes);
        levels_ = units_.budget - size(0) + 1;
        require_argument(length_ * (length_ + 1) / 2 <= most_entries / levels_,
                         "chain: {} steps with {} units of memory need too large a table; lower "
                         "memory_units or join steps",
                         length_, levels_);
        for (const ChainStep& step : steps) start_times_.push_back(start_times_.back() + step.time);
        fill_later();
        fill_first();
    }

    double cost() const { return first_[first_at(0, levels_ - 1)].cost; }

    ActionList actions() && {
        actions_.push_back(Action::write(0));
        emit_first(0, levels_ - 1);
        return std::move(actions_);
    }

  private:
    struct Entry {
        double cost;
        int64_t split;  // length_: the rest of the chain at once
    };

    int64_t size(int64_t step) const { return units_.sizes[static_cast<std::size_t>(step)]; }
    double time(int64_t first, int64_t last) const {
        return start_times_[static_cast<std::size_t>(last)] -
               start_times_[static_cast<std::size_t>(first)];
    }
    // (begin, end, free units) with begin < end
    std::size_t later_at(int64_t begin, int64_t end, int64_t free) const {
        return static_cast<std::size_t>(((end - 1) * end / 2 + begin) * levels_ + free);
    }
    std::size_t first_at(int64_t begin, int64_t free) const {
        return static_cast<std::size_t>(begin * levels_ + free);
    }

    void fill_later() {
        const auto entries = static_cast<std::size_t>(length_ * (length_ + 1) / 2 * levels_);
        later_.assign(entries, 0);
        split_.assign(entries, 0);
        for (int64_t gap = 2; gap <= length_; ++gap) {
            for (int64_t begin = 0; begin + gap <= length_; ++begin) {
                for (int64_t free = 0; free < levels_; ++free) fill_later(begin, begin + gap, free);
            }
        }
    }

    // Ties go to the latest split: the fewest stores.
    void fill_later(int64_t begin, int64_t end, int64_t free) {
        double best = time(begin, end - 1) + later_[later_at(begin, end - 1, free)];
        int64_t best_split = end - 1;
        for (int64_t split = end - 2; split > begin; --split) {
            if (size(split) > free) continue;
            const double cost = time(begin, split) +
                                later_[later_at(split, end, free - size(split))] +
                                later_[later_at(begin, split, free)];
            if (cost < best) {
                best = cost;
                best_split = split;
            }
        }
        later_[later_at(begin, end, free)] = best;
        split_[later_at(begin, end, free)] = static_cast<std::int32_t>(best_split);
    }

    void fill_first() {
        first_.resize(static_cast<std::size_t>(length_ * levels_));
        for (int64_t begin = length_ - 1; begin >= 0; --begin) {
            for (int64_t free = 0; free < levels_; ++free) {
                Entry best{time(begin, length_) + later_[later_at(begin, length_, free)], length_};
                for (int64_t split = length_ - 1; split > begin; --split) {
                    if (size(split) > free) continue;
                    const double cost = time(begin, split) +
                                        first_[first_at(split, free - size(split))].cost +
                                        later_[later_at(begin, split, free)];
                    if (cost < best.cost) best = {cost, split};
                }
                first_[first_at(begin, free)] = best;
            }
        }
    }

    // x_begin is stored and in hand; reverses what lies after it and discards it.
    void emit_first(int64_t begin, int64_t free) {
        const int64_t split = first_[first_at(begin, free)].split;
        actions_.push_back(Action::forward(begin, split));
        if (split < length_) {
            actions_.push_back(Action::write(split));
            emit_first(split, free - size(split));
        }
        actions_.push_back(Action::read(begin));
        emit_later(begin, split, free);
    }

    void emit_later(int64_t begin, int64_t end, int64_t free) {
        while (end - begin > 1) {
            const int64_t split = split_[later_at(begin, end, free)];
            actions_.push_back(Action::forward(begin, split));
            if (split == end - 1) {
                actions_.push_back(Action::reverse(split));
            } else {
                actions_.push_back(Action::write(split));
                emit_later(split, end, free - size(split));
            }
            actions_.push_back(Action::read(begin));
            end = split;
        }
        actions_.push_back(Action::reverse(begin));
        actions_.push_back(Action::discard(begin));
    }

    int64_t length_;
    Units units_;
    int64_t levels_ = 0;               // free units 0 … levels_ - 1, x_0 stored
    std::vector<double> start_times_;  // (step)
    std::vector<double> later_;        // (end, begin, free)
    std::vector<std::int32_t> split_;  // the same
    std::vector<Entry> first_;         // (begin, free)
    ActionList actions_;
};

void check(std::span<const ChainStep> steps, const ChainOptions& options) {
    const bool valid = std::ranges::all_of(
        steps, [](const ChainStep& step) { return step.time >= 0 && step.state_bytes >= 0; });
    require_argument(valid, "chain: a step has a negative time or size; give values of at least 0");
    double time = 0;
    for (const ChainStep& step : steps) time += step.time;
    const auto advances = static_cast<double>(steps.size());
    require_argument(
        std::isfinite(time * advances),
        "chain: the times of the steps add up to infinity; give finite times of moderate size");
    require_argument(options.memory_bytes >= 0 && options.memory_units >= 1,
                     "chain: memory_bytes = {}, memory_units = {}; give at least 0 and 1",
                     options.memory_bytes, options.memory_units);
}

}  // namespace

ActionList chain_actions(std::span<const ChainStep> steps, const ChainOptions& options) {
    check(steps, options);
    if (steps.empty()) return {};
    return ChainSolver(steps, options).actions();
}

double chain_cost(std::span<const ChainStep> steps, const ChainOptions& options) {
    check(steps, options);
    if (steps.empty()) return 0;
    return ChainSolver(steps, options).cost();
}

double chain_time(std::span<const Action> actions, std::span<const ChainStep> steps) {
    double time = 0;
    for (const Action& action : actions) {
        if (action.kind != ActionKind::forward) continue;
        for (int64_t step = action.first; step < action.last; ++step)
            time += steps[static_cast<std::size_t>(step)].time;
    }
    return time;
}

}  // namespace eddy::inline v0
