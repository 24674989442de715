// The stores of a loop that may not allocate are those of PlacementSequence, as far as the table goes.

#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/placement_view.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

/// All that a view gives, in one piece.
std::vector<eddy::Placed> all_of(eddy::PlacementView& view) {
    view.restart();
    std::vector<eddy::Placed> stores;
    const auto piece = view.next_piece();
    for (auto next = piece.begin(); next != piece.end(); ++next)
        stores.push_back({next->step, next->slot});
    const auto rest = view.next_piece();
    CHECK(rest.begin() == rest.end());
    return stores;
}

}  // namespace

TEST_CASE("placement_view: the staircase, the table, then no more; and the same after a restart") {
    for (const std::int64_t checkpoints : {2, 3, 5, 12, 40}) {
        CAPTURE(checkpoints);
        const std::int64_t end = eddy::Staircase(checkpoints).end();
        std::vector<eddy::Placed> expected, table;
        eddy::PlacementSequence sequence(
            eddy::plan_placement({.checkpoints = checkpoints}, "placement_view"));
        sequence.restart();
        for (int i = 0; i < 2000; ++i) {
            expected.push_back(sequence.next());
            if (expected.back().step >= end) table.push_back(expected.back());
        }

        eddy::PlacementView view(checkpoints, table.data(),
                                 static_cast<std::int64_t>(table.size()));

        CHECK(all_of(view) == expected);
        CHECK(all_of(view) == expected);
    }
}

TEST_CASE("placement_view: without a table it ends with the staircase") {
    eddy::PlacementView view(7);

    const std::vector<eddy::Placed> stores = all_of(view);

    CHECK(stores.front() == eddy::Placed{0, 0});
    CHECK(stores.back().step < eddy::Staircase(7).end());
}
