#include "table_rows.hpp"
#include <eddy/trace/tables.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Real>
void read_at(Real* to, int rows, const TableOfRows<Real>& table, const Real* place, int width) {
    for (int lane = 0; lane < width; ++lane) {
        const int first = place_of(place[lane], table.length, rows);
        for (int k = 0; k < rows; ++k) {
            const int at = first + k;
            to[k * width + lane] = 0 <= at && at < table.length
                                       ? table(at, lane)
                                       : std::numeric_limits<Real>::quiet_NaN();
        }
    }
}

template <class Real>
void scatter(const SumOfRows<Real>& to, const Real* place, const Real* added, int size, int width,
             const int* lanes, int count) {
    for (int l = 0; l < count; ++l) {
        const int lane = lanes ? lanes[l] : l, first = place_of(place[lane], to.length, size);
        for (int k = 0; k < size; ++k) {
            const int at = first + k;
            if (0 <= at && at < to.length)
                to.first[at * to.component_step + lane * to.lane_step] += added[k * width + lane];
        }
    }
}

template <class Real>
void add_at(Real* to, const TableOfRows<Real>& table, const Real* place, const Real* added,
            int size, int width) {
    for (int component = 0; component < table.length; ++component)
        for (int lane = 0; lane < width; ++lane)
            to[component * width + lane] = table(component, lane);
    scatter({to, table.length, width, 1}, place, added, size, width, nullptr, width);
}

template <class Real>
void find_knots(Real* to, const TableOfRows<Real>& table, const Real* x, bool is_even, int width) {
    for (int lane = 0; lane < width; ++lane)
        to[lane] =
            knots_below(x[lane], table.length, is_even, [&](int k, int) { return table(k, lane); });
}

template void read_at(double*, int, const TableOfRows<double>&, const double*, int);
template void read_at(float*, int, const TableOfRows<float>&, const float*, int);
template void add_at(double*, const TableOfRows<double>&, const double*, const double*, int, int);
template void add_at(float*, const TableOfRows<float>&, const float*, const float*, int, int);
template void scatter(const SumOfRows<double>&, const double*, const double*, int, int, const int*,
                      int);
template void scatter(const SumOfRows<float>&, const float*, const float*, int, int, const int*,
                      int);
template void find_knots(double*, const TableOfRows<double>&, const double*, bool, int);
template void find_knots(float*, const TableOfRows<float>&, const float*, bool, int);

}  // namespace eddy::inline v0::detail
