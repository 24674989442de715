#pragma once
// Operations on vectors at a place that each lane computes. Nothing but copies, comparisons and single sums: they have
// the same bits on all levels, so that no engine compiles them.

#include <cstddef>
#include <eddy/trace/rows/program_code.hpp>

namespace eddy::inline v0::detail {

/// A vector of each lane, or numbers that all lanes share.
struct TableOfRows {
    const double* first;
    int length;
    std::ptrdiff_t component_step, lane_step;

    [[nodiscard]] double operator()(int component, int lane) const {
        return first[component * component_step + lane * lane_step];
    }
};

/// `rows` components from floor(place) on; NaN where there is none.
void read_at(double* to, int rows, const TableOfRows& table, const double* place, int width);
/// The table, with `size` rows added from floor(place) on, as far as there are any.
void add_at(double* to, const TableOfRows& table, const double* place, const double* added,
            int size, int width);
/// The interval that holds x, of a table of knots.
void find_knots(double* to, const TableOfRows& table, const double* x, bool is_even, int width);

}  // namespace eddy::inline v0::detail
