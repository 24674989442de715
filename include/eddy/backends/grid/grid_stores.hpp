#pragma once
// Which rounds of a gradient are kept on a device: a table made on the host, walked by each worker.
// Test: tests/solve/grid_backend.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/placement_view.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/host_device.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The stores of a gradient's placement, (worker): each walks a table of its own accord.
struct GridStores {
    std::int64_t checkpoints = 1;
    const Placed* table = nullptr;
    std::int64_t num_placed = 0;
    std::int64_t num_rounds = 0;  // that the table is for

    [[nodiscard]] EDDY_HD PlacementView operator()(std::ptrdiff_t) const {
        return PlacementView(checkpoints, table, num_placed);
    }
};

/// The stores of a loop of `rounds` rounds after the staircase, as many as a table should hold.
[[nodiscard]] EDDY_EXPORT std::vector<Placed> table_of_placement(std::int64_t checkpoints,
                                                                 std::int64_t rounds);

}  // namespace eddy::inline v0::detail
