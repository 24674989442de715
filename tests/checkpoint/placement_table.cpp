#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/checkpoint/placement_table.hpp>
#include <eddy/core/online_treeverse.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/online_cost.hpp"

using eddy::CostGreedy;
using eddy::PlacementTable;

// Run by the thread sanitizer as well (preset tsan).
TEST_CASE("placement_table: threads that grow and read one table see what its generator yields") {
    constexpr int stores = 20'000;
    PlacementTable<CostGreedy> table(16);
    std::atomic<int> wrong{0};

    std::vector<std::jthread> readers;
    for (int thread = 0; thread < 3; ++thread) {
        readers.emplace_back([&] {
            support::Owned<CostGreedy> expected(16);
            for (eddy::Staircase first(16); first.next() != eddy::nothing_more();)
                (void)expected.next();
            for (std::int64_t index = 0; index < stores;) {
                for (const eddy::Placed& placed : table.from(index)) {
                    wrong += placed != expected.next();
                    ++index;
                }
            }
        });
    }
    readers.clear();  // joins

    CHECK(wrong == 0);
}

TEST_CASE("placement_table: one table per number of checkpoints for the whole process") {
    const auto table = PlacementTable<CostGreedy>::shared(5);

    CHECK(table == PlacementTable<CostGreedy>::shared(5));
    CHECK(table != PlacementTable<CostGreedy>::shared(6));
}
