#include <eddy/backends/grid/grid_stores.hpp>

namespace eddy::inline v0::detail {

std::vector<Placed> table_of_placement(std::int64_t checkpoints, std::int64_t rounds) {
    constexpr std::size_t most = std::size_t{1} << 20;  // 16 MiB
    std::vector<Placed> table;
    const std::int64_t first = Staircase(checkpoints).end();
    if (checkpoints < 2 || rounds < first) return table;
    PlacementSequence sequence(plan_placement({.checkpoints = checkpoints}, "value_and_gradient"));
    sequence.restart();
    for (Placed next = sequence.next(); next.step <= rounds && table.size() < most;
         next = sequence.next()) {
        if (next.step >= first) table.push_back(next);
    }
    return table;
}

}  // namespace eddy::inline v0::detail
