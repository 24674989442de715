#pragma once
// Which rows of the caller's arrays the lanes of a launch are given: all rows of a call, or a range of them (a chunk
// of a device); those of a list (lanes that another method takes over, lanes that are solved once more); or a row for
// several lanes (paths of noise). What lanes leave is not told apart so: results, outcomes and marks of a launch are
// counted by its lanes, and whoever launches some of many puts back what counts.
// Test: tests/solve/auto_switch_calls.cpp, tests/solve/paths.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Rows of a call, ascending.
using RowList = std::vector<std::ptrdiff_t>;

/// Lanes [first, first + count) of a launch.
struct LaneRange {
    std::ptrdiff_t first = 0, count = 0;
};

/// A lane of a launch, counted over all of its groups. One of a group is an std::int32_t, counted from the first of the group.
enum class LaunchLane : std::ptrdiff_t {};
/// A row of the caller's arrays.
enum class Row : std::ptrdiff_t {};
/// The number of either, for arrays.
template <class Number>
[[nodiscard]] EDDY_HD constexpr std::ptrdiff_t to_index(Number number) {
    return static_cast<std::ptrdiff_t>(number);
}

/// The row that a lane of a launch is given: rows(lane).
struct Rows {
    std::ptrdiff_t first = 0, lanes_per_row = 1;
    const std::ptrdiff_t* list = nullptr;  // (lane); null: in their order

    [[nodiscard]] EDDY_HD Row operator()(LaunchLane lane) const {
        const std::ptrdiff_t k = to_index(lane);
        if (list) return Row{list[k]};
        return Row{lanes_per_row == 1 ? first + k : (first + k) / lanes_per_row};
    }
    /// The rows of a list that lives longer.
    [[nodiscard]] static Rows of(const RowList& list) { return {0, 1, list.data()}; }
    /// Is each lane a row, one after another?
    [[nodiscard]] EDDY_HD bool are_a_range() const { return list == nullptr && lanes_per_row == 1; }
    /// The rows of the lanes from `lane` on.
    [[nodiscard]] Rows from(std::ptrdiff_t lane) const {
        return list ? Rows{0, 1, list + lane} : Rows{first + lane, lanes_per_row};
    }
};

}  // namespace eddy::inline v0::detail
