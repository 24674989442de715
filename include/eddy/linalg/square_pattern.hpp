#pragma once
// Where a square matrix may be non-zero, as a value: what orderings and plans are made of, at compile
// time or at run time. Lists of rows: what is made of it takes time by entries, not by pairs of rows.
// Test: tests/linalg/lu_plan.cpp

#include <algorithm>
#include <cstddef>
#include <eddy/core/list.hpp>

namespace eddy::inline v0 {

/// An entry of a matrix that may be non-zero.
struct MatrixEntry {
    int row = 0;
    int column = 0;

    friend constexpr bool operator==(const MatrixEntry&, const MatrixEntry&) = default;
};

/// The entries of a square matrix that may be non-zero.
class SquarePattern {
  public:
    explicit constexpr SquarePattern(int size) : rows_(static_cast<std::size_t>(size)) {}

    [[nodiscard]] constexpr int size() const { return static_cast<int>(rows_.size()); }
    /// The columns of a row, in order.
    [[nodiscard]] constexpr const List<int>& row(int i) const {
        return rows_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] constexpr bool has(int row, int column) const {
        const List<int>& columns = rows_[static_cast<std::size_t>(row)];
        return std::binary_search(columns.begin(), columns.end(), column);
    }
    constexpr void insert(int row, int column) {
        List<int>& columns = rows_[static_cast<std::size_t>(row)];
        std::size_t place = columns.size();  // most come in order
        while (place > 0 && columns[place - 1] > column) --place;
        if (place > 0 && columns[place - 1] == column) return;
        columns.push_back(column);  // a vector's own `insert` takes compilers five times as long
        int* const row_columns = columns.data();
        for (std::size_t k = columns.size() - 1; k > place; --k)
            row_columns[k] = row_columns[k - 1];
        row_columns[place] = column;
    }

    [[nodiscard]] constexpr int num_entries() const {
        std::size_t count = 0;
        for (const List<int>& columns : rows_) count += columns.size();
        return static_cast<int>(count);
    }
    /// Row by row.
    [[nodiscard]] constexpr List<MatrixEntry> entries() const {
        List<MatrixEntry> list;
        for (int i = 0; i < size(); ++i) {
            for (const int column : row(i)) list.push_back({i, column});
        }
        return list;
    }

  private:
    List<List<int>> rows_;
};

}  // namespace eddy::inline v0
