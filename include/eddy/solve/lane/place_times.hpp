#pragma once
// Where the times of the lanes in the places of a pack lie: they are asked for far more often than lanes come.
// Test: tests/solve/own_times.cpp

#include <cstddef>
#include <eddy/solve/lane/problem.hpp>

namespace eddy::inline v0::detail {

/// Which row of the table of times belongs to the lane in each place.
template <class Spec, bool is_kept = (Spec::num_places > 1)>
class PlaceTimes {
  public:
    EDDY_HD void assign(const Problem<Spec>& problem, int place, LaunchLane lane) {
        table_row_[place] = problem.times.table_row(problem.row_of(lane));
    }
    [[nodiscard]] EDDY_HD LaneTimes of(const Problem<Spec>& problem, int place, LaunchLane) const {
        return problem.times.of_table_row(table_row_[place]);
    }

  private:
    std::ptrdiff_t table_row_[Spec::num_places] = {};  // (place)
};
/// A thread of a device has no registers for it, and finds it anew.
template <class Spec>
struct PlaceTimes<Spec, false> {
    EDDY_HD static void assign(const Problem<Spec>&, int, LaunchLane) {}
    [[nodiscard]] EDDY_HD static LaneTimes of(const Problem<Spec>& problem, int, LaunchLane lane) {
        return problem.times_of(lane);
    }
};

}  // namespace eddy::inline v0::detail
