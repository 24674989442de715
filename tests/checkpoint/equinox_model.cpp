#include "support/equinox_model.hpp"

#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/published_orders.hpp"

using std::int64_t;

TEST_CASE("equinox_model: reproduces the 17 evaluation orders that its tests publish") {
    for (const auto& published : support::published_orders) {
        INFO(published.checkpoints << " checkpoints, " << published.steps << " steps");
        CHECK(support::equinox_backward_order(published.checkpoints, published.steps) ==
              support::parse_order(published.order));
    }
}
