#include <algorithm>
#include <eddy/checkpoint/action.hpp>
#include <eddy/core/error.hpp>
#include <ostream>

namespace eddy::inline v0 {
namespace {

std::string tier_name(int tier) {
    if (tier == memory_tier) return "memory";
    if (tier == disk_tier) return "disk";
    return detail::compose("tier {}", tier);
}

std::int64_t& entry(std::vector<std::int64_t>& by_tier, int tier) {
    return by_tier[static_cast<std::size_t>(tier)];
}

}  // namespace

ActionCounts count_actions(std::span<const Action> actions) {
    int last_tier = 0;
    for (const Action& action : actions) last_tier = std::max(last_tier, action.tier);
    const std::vector<std::int64_t> zeros(static_cast<std::size_t>(last_tier) + 1, 0);

    ActionCounts counts{.writes = zeros, .reads = zeros, .peak = zeros};
    std::vector<std::int64_t> held = zeros;
    for (const Action& action : actions) {
        switch (action.kind) {
            case ActionKind::forward: counts.forward_steps += action.last - action.first; break;
            case ActionKind::write:
                ++entry(counts.writes, action.tier);
                entry(counts.peak, action.tier) =
                    std::max(entry(counts.peak, action.tier), ++entry(held, action.tier));
                break;
            case ActionKind::read: ++entry(counts.reads, action.tier); break;
            case ActionKind::discard: --entry(held, action.tier); break;
            case ActionKind::reverse: counts.reverse_steps += action.first - action.last; break;
        }
    }
    return counts;
}

double schedule_cost(std::span<const Action> actions, std::span<const StorageTier> tiers,
                     double step_cost) {
    const ActionCounts counts = count_actions(actions);
    double cost = step_cost * static_cast<double>(counts.forward_steps);
    for (std::size_t tier = 0; tier < counts.writes.size(); ++tier) {
        if (counts.writes[tier] == 0 && counts.reads[tier] == 0) continue;
        require_argument(tier < tiers.size(),
                         "schedule_cost: the schedule uses tier {}, but costs were given for {} "
                         "tiers; give one StorageTier for every tier of the schedule",
                         tier, tiers.size());
        cost += tiers[tier].write_cost * static_cast<double>(counts.writes[tier]) +
                tiers[tier].read_cost * static_cast<double>(counts.reads[tier]);
    }
    return cost;
}

std::string to_string(const Action& action) {
    using detail::compose;
    const std::string tier = tier_name(action.tier);
    switch (action.kind) {
        case ActionKind::forward: return compose("forward {} -> {}", action.first, action.last);
        case ActionKind::write: return compose("write {} to {}", action.first, tier);
        case ActionKind::read: return compose("read {} from {}", action.first, tier);
        case ActionKind::discard: return compose("discard {} from {}", action.first, tier);
        case ActionKind::reverse: return compose("reverse {} -> {}", action.first, action.last);
    }
    return "unknown action";
}

std::string to_string(std::span<const Action> actions) {
    std::string text;
    for (const Action& action : actions) text += to_string(action) + '\n';
    return text;
}

std::ostream& operator<<(std::ostream& out, const Action& action) {
    return out << to_string(action);
}

}  // namespace eddy::inline v0
