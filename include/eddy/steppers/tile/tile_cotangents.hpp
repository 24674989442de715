#pragma once
// Where the cotangents of parameters go that a program on a tile hands over. Shared weights get one sum
// over all lanes that take part, as a matrix product; few parameters get a sum for each lane, which lanes
// then hand out in their order.
// Test: tests/solve/tiles_oracle.cpp

#include <eddy/core/tile/outer.hpp>
#include <eddy/trace/tile/tile_tables.hpp>

namespace eddy::inline v0::detail {

/// One sum for all lanes that take part, (component).
template <class Real>
struct SumOverTile {
    Real* sum;
    const TileLanes& lanes;
    OuterSums<Real>& outer;

    /// What follows is of evaluation `index` of `count`.
    void begin(int index, int count) const { outer.begin(index, count, lanes); }
    void add(int begin, int size, const TileVector<Real>& x) const {
        add_over_lanes(sum + begin, size, x, lanes);
    }
    void add_outer(int begin, int rows, int columns, const TileVector<Real>& u,
                   const TileVector<Real>& v) const {
        outer.add({sum + begin, columns, 1, rows, columns}, u, v);
    }
    /// The lanes in their order.
    void add_at(int begin, const AddedAt<Real>& what) const {
        for (int k = 0; k < lanes.count; ++k)
            what.for_lane(lanes.are_all ? k : lanes.lane[k],
                          [&](int c, Real number) { sum[begin + c] = sum[begin + c] + number; });
    }
};

/// A sum for each lane, in rows.
template <class Real>
struct SumOfLanes {
    Real* sum;  // (component, lane)
    int width;

    void begin(int, int) const {}
    void add(int begin, int size, const TileVector<Real>& x) const {
        add_rows(begin, size, [&](int c, int lane) EDDY_INLINE { return x.load(c, lane); });
    }
    void add_outer(int begin, int rows, int columns, const TileVector<Real>& u,
                   const TileVector<Real>& v) const {
        add_rows(begin, rows * columns, [&](int flat, int lane) EDDY_INLINE {
            return u.load(flat / columns, lane) * v.load(flat % columns, lane);
        });
    }

    void add_at(int begin, const AddedAt<Real>& what) const {
        add_rows_at(sum + static_cast<std::ptrdiff_t>(begin) * width, width, what);
    }

  private:
    template <class Value>
    void add_rows(int begin, int size, const Value& value) const {
        Real* const to = sum + static_cast<std::ptrdiff_t>(begin) * width;
        fill_rows(to, size, width, [&](int c, int lane) EDDY_INLINE {
            const Real* const at = to + static_cast<std::ptrdiff_t>(c) * width + lane;
            return TilePack<Real>::load(at) + value(c, lane);
        });
    }
};

}  // namespace eddy::inline v0::detail
