#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/hrevolve.hpp>
#include <eddy/core/error.hpp>
#include <limits>
#include <string>

namespace eddy::inline v0 {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// One function of the recursion at one tier: cost and choice for every (free slots, length).
struct Table {
    std::int64_t lengths = 0;          // lengths 0 … lengths - 1
    std::vector<double> cost;          // (free, length)
    std::vector<std::int64_t> choice;  // (free, length): first split, or lower_tier

    Table(std::int64_t free_counts, std::int64_t length)
        : lengths(length + 1),
          cost(static_cast<std::size_t>(free_counts * lengths), infinite),
          choice(cost.size(), 0) {}

    std::size_t at(std::int64_t free, std::int64_t length) const {
        return static_cast<std::size_t>(free * lengths + length);
    }
};

constexpr std::int64_t lower_tier =
    0;  // the choice "leave it to the faster tiers"; splits are positive

// `first` is the sweep that must reach the end of the segment, `later` the one that need not.
struct Tier {
    StorageTier costs;
    Table later, first;
};

class Solver {
  public:
    Solver(std::int64_t length, const HRevolveOptions& options) : step_cost_(options.step_cost) {
        tiers_.reserve(options.tiers.size());
        for (StorageTier costs : options.tiers) {
            costs.slots = std::min(costs.slots, length);
            tiers_.push_back({costs, Table(costs.slots, length), Table(costs.slots, length)});
            for (std::int64_t free = 0; free < costs.slots; ++free) {
                fill_later(free);
                if (!options.joint) fill_first(free);
            }
        }
    }

    double cost(std::int64_t length, bool joint) const {
        return any(joint ? &Tier::later : &Tier::first, top(), length, top_slots());
    }

    ActionList actions(std::int64_t length, bool joint) {
        if (joint)
            emit_any(0, length, top(), top_slots());
        else
            emit_first_any(0, length, top(), top_slots());
        return std::move(actions_);
    }

  private:
    using Sweep = Table Tier::*;

    int top() const { return static_cast<int>(tiers_.size()) - 1; }
    std::int64_t top_slots() const { return slots(top()); }
    const Tier& tier(int k) const { return tiers_[static_cast<std::size_t>(k)]; }
    std::int64_t slots(int k) const { return k < 0 ? 0 : tier(k).costs.slots; }

    // any_k(length, free): the state in hand may be stored. A later sweep needs no store for its
    // last step.
    double any(Sweep sweep, int k, std::int64_t length, std::int64_t free) const {
        if (length == 1 && sweep == &Tier::later) return 0;
        if (k < 0) return infinite;
        return std::min(any(sweep, k - 1, length, slots(k - 1)),
                        store_here(sweep, k, length, free));
    }

    double store_here(Sweep sweep, int k, std::int64_t length, std::int64_t free) const {
        if (free == 0) return infinite;
        const Table& table = tier(k).*sweep;
        return tier(k).costs.write_cost + table.cost[table.at(free - 1, length)];
    }

    std::vector<double> any_of_all_lengths(Sweep sweep, int k, std::int64_t free) const {
        const std::int64_t lengths = tier(k).later.lengths;
        std::vector<double> costs(static_cast<std::size_t>(lengths), infinite);
        for (std::int64_t length = 1; length < lengths; ++length)
            costs[static_cast<std::size_t>(length)] = any(sweep, k, length, free);
        return costs;
    }

    // Both tables of the tier on top, which is being filled, for one count of free slots. Ties go
    // to the longest split: the fewest stores.
    void fill_later(std::int64_t free) {
        const int k = top();
        const std::vector<double> right = any_of_all_lengths(&Tier::later, k, free);
        Table& table = tiers_.back().later;
        double* cost = &table.cost[table.at(free, 0)];
        std::int64_t* choice = &table.choice[table.at(free, 0)];

        cost[1] = 0;
        for (std::int64_t length = 2; length < table.lengths; ++length) {
            cost[length] = any(&Tier::later, k - 1, length, slots(k - 1));
            choice[length] = lower_tier;
            for (std::int64_t split = length - 1; split > 0; --split) {
                const double candidate = step_cost_ * static_cast<double>(split) +
                                         right[static_cast<std::size_t>(length - split)] +
                                         tier(k).costs.read_cost + cost[split];
                if (candidate < cost[length]) {
                    cost[length] = candidate;
                    choice[length] = split;
                }
            }
        }
    }

    void fill_first(std::int64_t free) {
        const int k = top();
        const std::vector<double> right = any_of_all_lengths(&Tier::first, k, free);
        const Table& later = tiers_.back().later;
        const double* later_cost = &later.cost[later.at(free, 0)];
        Table& table = tiers_.back().first;

        for (std::int64_t length = 1; length < table.lengths; ++length) {
            double& cost = table.cost[table.at(free, length)];
            std::int64_t& choice = table.choice[table.at(free, length)];
            cost = any(&Tier::first, k - 1, length, slots(k - 1));
            choice = lower_tier;
            for (std::int64_t split = length; split > 0; --split) {
                const double rest =
                    split == length ? 0 : right[static_cast<std::size_t>(length - split)];
                const double candidate = step_cost_ * static_cast<double>(split) + rest +
                                         tier(k).costs.read_cost + later_cost[split];
                if (candidate < cost) {
                    cost = candidate;
                    choice = split;
                }
            }
        }
    }

    bool stores_here(Sweep sweep, int k, std::int64_t length, std::int64_t free) const {
        return store_here(sweep, k, length, free) < any(sweep, k - 1, length, slots(k - 1));
    }

    // Reverses [begin, begin + length) with x_begin in hand, stored nowhere.
    void emit_any(std::int64_t begin, std::int64_t length, int k, std::int64_t free) {
        if (length == 1) {
            actions_.push_back(Action::reverse(begin));
        } else if (stores_here(&Tier::later, k, length, free)) {
            actions_.push_back(Action::write(begin, k));
            emit_stored(begin, length, k, free - 1);
            actions_.push_back(Action::discard(begin, k));
        } else {
            emit_any(begin, length, k - 1, slots(k - 1));
        }
    }

    // The same with x_begin stored at tier k.
    void emit_stored(std::int64_t begin, std::int64_t length, int k, std::int64_t free) {
        while (length > 1) {
            const Table& table = tier(k).later;
            const std::int64_t split = table.choice[table.at(free, length)];
            if (split == lower_tier) return emit_any(begin, length, k - 1, slots(k - 1));
            actions_.push_back(Action::forward(begin, begin + split));
            emit_any(begin + split, length - split, k, free);
            actions_.push_back(Action::read(begin, k));
            length = split;
        }
        actions_.push_back(Action::reverse(begin));
    }

    // Advances to the end of [begin, begin + length), then reverses it; x_begin in hand, stored
    // nowhere.
    void emit_first_any(std::int64_t begin, std::int64_t length, int k, std::int64_t free) {
        if (!stores_here(&Tier::first, k, length, free)) {
            return emit_first_any(begin, length, k - 1, slots(k - 1));
        }
        actions_.push_back(Action::write(begin, k));
        emit_first_stored(begin, length, k, free - 1);
        actions_.push_back(Action::discard(begin, k));
    }

    void emit_first_stored(std::int64_t begin, std::int64_t length, int k, std::int64_t free) {
        const Table& table = tier(k).first;
        const std::int64_t split = table.choice[table.at(free, length)];
        if (split == lower_tier) return emit_first_any(begin, length, k - 1, slots(k - 1));
        actions_.push_back(Action::forward(begin, begin + split));
        if (split < length) emit_first_any(begin + split, length - split, k, free);
        actions_.push_back(Action::read(begin, k));
        emit_stored(begin, split, k, free);
    }

    double step_cost_;
    std::vector<Tier> tiers_;
    ActionList actions_;
};

void check(std::int64_t length, const HRevolveOptions& options) {
    require_argument(length >= 0, "hrevolve: the length is {}; give a length of at least 0",
                     length);
    constexpr std::size_t most_tiers = 100;  // the recursion goes through them
    require_argument(options.tiers.size() <= most_tiers, "hrevolve: {} tiers; give at most {}",
                     options.tiers.size(), most_tiers);
    bool has_slots = false;
    bool non_negative = options.step_cost >= 0;
    for (const StorageTier& tier : options.tiers) {
        has_slots = has_slots || tier.slots > 0;
        non_negative =
            non_negative && tier.slots >= 0 && tier.write_cost >= 0 && tier.read_cost >= 0;
    }
    require_argument(
        non_negative,
        "hrevolve: a cost or a number of slots is negative or NaN; give values of at least 0");
    require_argument(has_slots || length == 0,
                     "hrevolve: the tiers have no slot for x_0 of a run of {} steps; give at least "
                     "one slot",
                     length);
}

// Where every schedule costs infinity there is none to choose.
void require_finite(double cost) {
    require_argument(std::isfinite(cost),
                     "hrevolve: the cost of every schedule is infinite; give finite costs that can "
                     "be added up");
}

}  // namespace

ActionList hrevolve_actions(std::int64_t length, const HRevolveOptions& options) {
    check(length, options);
    if (length == 0) return {};
    Solver solver(length, options);
    require_finite(solver.cost(length, options.joint));
    return solver.actions(length, options.joint);
}

double hrevolve_cost(std::int64_t length, const HRevolveOptions& options) {
    check(length, options);
    if (length == 0) return 0;
    const double cost = Solver(length, options).cost(length, options.joint);
    require_finite(cost);
    return cost;
}

}  // namespace eddy::inline v0
