#pragma once
// Which row of a matrix is given to which column, so that no diagonal entry is structurally zero once
// rows are put in that order: a matching of rows and columns by augmenting paths (Kuhn 1955, Naval
// Res. Logist. Q. 2(1–2), 83–97). Rows stay where they are as long as that does no harm.
// Test: tests/linalg/dense_lu.cpp

#include <eddy/linalg/square_pattern.hpp>

namespace eddy::inline v0 {

namespace detail {

class RowMatching {
  public:
    constexpr explicit RowMatching(int size)
        : column_of_(static_cast<std::size_t>(size), -1),
          row_of_(static_cast<std::size_t>(size), -1) {}

    /// Gives columns to the rows that have none, by entries of the pattern.
    constexpr void match(const SquarePattern& pattern) {
        for (int i = 0; i < pattern.size(); ++i) {
            if (pattern.has(i, i) && column_of_[at(i)] < 0 && row_of_[at(i)] < 0) join(i, i);
        }
        for (int row = 0; row < pattern.size(); ++row) {
            if (column_of_[at(row)] >= 0) continue;
            List<char> is_seen(column_of_.size(), 0);
            (void)augment(pattern, row, is_seen);
        }
    }
    [[nodiscard]] constexpr const List<int>& columns() const { return column_of_; }

  private:
    [[nodiscard]] static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
    constexpr void join(int row, int column) {
        column_of_[at(row)] = column;
        row_of_[at(column)] = row;
    }
    /// Finds a column for a row, if need be by moving other rows.
    constexpr bool augment(const SquarePattern& pattern, int row, List<char>& is_seen) {
        for (const int column : pattern.row(row)) {
            if (is_seen[at(column)]) continue;
            is_seen[at(column)] = 1;
            if (row_of_[at(column)] >= 0 && !augment(pattern, row_of_[at(column)], is_seen))
                continue;
            join(row, column);
            return true;
        }
        return false;
    }

    List<int> column_of_, row_of_;
};

}  // namespace detail

/// (row): the column that it is given, by an entry of `preferred` where it can be, which is a part of
/// `pattern`; −1: none is left, and every matrix of this pattern is singular.
[[nodiscard]] constexpr List<int> transversal(const SquarePattern& preferred,
                                              const SquarePattern& pattern) {
    detail::RowMatching matching(pattern.size());
    matching.match(preferred);
    matching.match(pattern);
    return matching.columns();
}

}  // namespace eddy::inline v0
