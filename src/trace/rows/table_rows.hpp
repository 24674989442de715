#pragma once
// Operations on vectors at a place that each lane computes. Nothing but copies, comparisons and single sums: they have
// the same bits on all levels, so that no engine compiles them.

#include <cstddef>
#include <eddy/trace/rows/program_code.hpp>

namespace eddy::inline v0::detail {

/// A vector of each lane, or numbers that all lanes share.
template <class Real>
struct TableOfRows {
    const Real* first;
    int length;
    std::ptrdiff_t component_step, lane_step;

    [[nodiscard]] Real operator()(int component, int lane) const {
        return first[component * component_step + lane * lane_step];
    }
};

/// `rows` components from floor(place) on; NaN where there is none.
template <class Real>
void read_at(Real* to, int rows, const TableOfRows<Real>& table, const Real* place, int width);
/// The table, with `size` rows added from floor(place) on, as far as there are any.
template <class Real>
void add_at(Real* to, const TableOfRows<Real>& table, const Real* place, const Real* added,
            int size, int width);
/// A vector of each lane, or one that lanes share, to which is added.
template <class Real>
struct SumOfRows {
    Real* first;
    int length;
    std::ptrdiff_t component_step, lane_step;
};
/// `size` rows of `count` lanes, in order, are added from floor(place) on, as far as there are any. No `lanes`: the first.
template <class Real>
void scatter(const SumOfRows<Real>& to, const Real* place, const Real* added, int size, int width,
             const int* lanes, int count);
/// The interval that holds x, of a table of knots.
template <class Real>
void find_knots(Real* to, const TableOfRows<Real>& table, const Real* x, bool is_even, int width);

}  // namespace eddy::inline v0::detail
