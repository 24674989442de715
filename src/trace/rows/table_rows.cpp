#include "table_rows.hpp"
#include <eddy/trace/tables.hpp>
#include <limits>

namespace eddy::inline v0::detail {

void read_at(double* to, int rows, const TableOfRows& table, const double* place, int width) {
    for (int lane = 0; lane < width; ++lane) {
        const int first = place_of(place[lane], table.length, rows);
        for (int k = 0; k < rows; ++k) {
            const int at = first + k;
            to[k * width + lane] = 0 <= at && at < table.length
                                       ? table(at, lane)
                                       : std::numeric_limits<double>::quiet_NaN();
        }
    }
}

void add_at(double* to, const TableOfRows& table, const double* place, const double* added,
            int size, int width) {
    for (int component = 0; component < table.length; ++component)
        for (int lane = 0; lane < width; ++lane)
            to[component * width + lane] = table(component, lane);
    for (int lane = 0; lane < width; ++lane) {
        const int first = place_of(place[lane], table.length, size);
        for (int k = 0; k < size; ++k) {
            const int at = first + k;
            if (0 <= at && at < table.length) to[at * width + lane] += added[k * width + lane];
        }
    }
}

void find_knots(double* to, const TableOfRows& table, const double* x, bool is_even, int width) {
    for (int lane = 0; lane < width; ++lane)
        to[lane] =
            knots_below(x[lane], table.length, is_even, [&](int k, int) { return table(k, lane); });
}

}  // namespace eddy::inline v0::detail
