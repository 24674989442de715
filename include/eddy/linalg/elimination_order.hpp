#pragma once
// In which order the unknowns of a sparse system are eliminated, so that little is filled in: at each
// step the diagonal entry whose row and column are the shortest of what is left, argmin (r − 1)(c − 1)
// (Markowitz 1957, Manag. Sci. 3(3), 255–269, restricted to the diagonal). Ties go to the smaller
// r + c, then to the smaller index: the order depends on the pattern alone. A long system that is not filled in
// as it stands, such as a chain, keeps its order: there is none better, and looking for it takes compilers seconds.
// Test: tests/linalg/lu_plan.cpp

#include <eddy/linalg/square_pattern.hpp>

namespace eddy::inline v0 {

namespace detail {

/// Entries off the diagonal in the row and in the column of an unknown, among those left.
struct Degrees {
    int row = 0;
    int column = 0;

    [[nodiscard]] constexpr bool precede(const Degrees& other) const {
        const int most = row * column, most_of_other = other.row * other.column;
        return most < most_of_other ||
               (most == most_of_other && row + column < other.row + other.column);
    }
};

/// What is left of a system while its unknowns are eliminated: its rows and columns, without diagonal
/// entries, and of each pair of unknowns, pair of pairs and so on the one to be eliminated first.
class UnknownsLeft {
  public:
    constexpr explicit UnknownsLeft(const SquarePattern& pattern)
        : rows_(at(pattern.size())), columns_(at(pattern.size())), first_(2 * rows_.size(), -1) {
        for (const MatrixEntry& entry : pattern.entries()) {
            if (entry.row == entry.column) continue;
            rows_[at(entry.row)].push_back(entry.column);
            columns_[at(entry.column)].push_back(entry.row);
        }
        for (int i = 0; i < pattern.size(); ++i) first_[rows_.size() + at(i)] = i;
        for (std::size_t node = rows_.size(); node-- > 1;) decide(node);
    }
    /// The unknown to be eliminated; −1: none is left.
    [[nodiscard]] constexpr int first() const { return first_[1]; }
    [[nodiscard]] constexpr const List<int>& row(int i) const { return rows_[at(i)]; }
    [[nodiscard]] constexpr const List<int>& column(int i) const { return columns_[at(i)]; }

    /// Takes an unknown out, and puts in what its elimination fills in.
    constexpr void eliminate(int unknown) {
        const List<int> row = std::move(rows_[at(unknown)]),
                        column = std::move(columns_[at(unknown)]);
        for (const int i : column) unite(rows_[at(i)], row, i, unknown);
        for (const int i : row) unite(columns_[at(i)], column, i, unknown);
        first_[rows_.size() + at(unknown)] = -1;
        decide_above(unknown);
        for (const int i : row) decide_above(i);
        for (const int i : column) decide_above(i);
    }

  private:
    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

    /// list becomes (list ∪ more) \ {self, gone}; all in order.
    static constexpr void unite(List<int>& list, const List<int>& more, int self, int gone) {
        List<int> both;
        std::size_t j = 0;
        for (const int i : list) {
            for (; j < more.size() && more[j] < i; ++j) {
                if (more[j] != self) both.push_back(more[j]);
            }
            if (j < more.size() && more[j] == i) ++j;
            if (i != gone) both.push_back(i);
        }
        for (; j < more.size(); ++j) {
            if (more[j] != self) both.push_back(more[j]);
        }
        list = std::move(both);
    }
    [[nodiscard]] constexpr Degrees degrees(int i) const {
        return {static_cast<int>(row(i).size()), static_cast<int>(column(i).size())};
    }
    constexpr void decide(std::size_t node) {
        const int a = first_[2 * node], b = first_[2 * node + 1];
        const bool is_tie =
            a >= 0 && b >= 0 && !degrees(a).precede(degrees(b)) && !degrees(b).precede(degrees(a));
        const bool takes_a = b < 0 || (a >= 0 && (is_tie ? a < b : degrees(a).precede(degrees(b))));
        first_[node] = takes_a ? a : b;
    }
    constexpr void decide_above(int unknown) {
        for (std::size_t node = (rows_.size() + at(unknown)) / 2; node > 0; node /= 2) decide(node);
    }

    List<List<int>> rows_, columns_;
    List<int> first_;  // a tree: of node k the children are 2k and 2k + 1, its leaves unknowns
};

}  // namespace detail

/// An order of elimination, and the entries of L and U that it leads to.
struct Elimination {
    List<int> order;  // order[k]: the unknown whose diagonal entry is the k-th pivot
    SquarePattern filled;
    int num_steps = 0;  // of the factorisation: a reciprocal for each pivot, products, differences
};

namespace detail {

/// Unknowns of a system that keeps its order where that fills nothing in.
inline constexpr int fewest_unknowns_kept = 64;

/// The operations of an elimination in the order in which the unknowns are numbered; −1: it fills something in.
constexpr int steps_without_fill(const SquarePattern& pattern) {
    List<std::size_t> right_of(static_cast<std::size_t>(pattern.size()));  // the diagonal
    int num_steps = pattern.size();
    for (int i = 0; i < pattern.size(); ++i) {
        const List<int>& row = pattern.row(i);
        const int* const columns = row.data();
        std::size_t k = 0;
        for (; columns[k] < i; ++k) {
            const List<int>& pivot_row = pattern.row(columns[k]);
            const int* const of_pivot = pivot_row.data();
            std::size_t j = k;
            for (std::size_t p = right_of[static_cast<std::size_t>(columns[k])];
                 p < pivot_row.size(); ++p) {
                while (j < row.size() && columns[j] < of_pivot[p]) ++j;
                if (j == row.size() || columns[j] != of_pivot[p]) return -1;
                ++num_steps;
            }
            ++num_steps;
        }
        right_of[static_cast<std::size_t>(i)] = k + 1;
    }
    return num_steps;
}

}  // namespace detail

/// The elimination of a pattern whose diagonal is part of it. It takes compilers time by the entries of L and U.
[[nodiscard]] constexpr Elimination eliminate(const SquarePattern& pattern) {
    if (pattern.size() >= detail::fewest_unknowns_kept) {
        const int num_steps = detail::steps_without_fill(pattern);
        if (num_steps >= 0) {
            List<int> order(static_cast<std::size_t>(pattern.size()));
            for (int i = 0; i < pattern.size(); ++i) order[static_cast<std::size_t>(i)] = i;
            return {std::move(order), pattern, num_steps};
        }
    }
    detail::UnknownsLeft left(pattern);
    Elimination elimination{{}, pattern};
    for (int k = 0; k < pattern.size(); ++k) {
        const int pivot = left.first();
        for (const int column : left.row(pivot)) elimination.filled.insert(pivot, column);
        for (const int row : left.column(pivot)) elimination.filled.insert(row, pivot);
        elimination.num_steps +=
            1 + static_cast<int>(left.column(pivot).size() * (1 + left.row(pivot).size()));
        left.eliminate(pivot);
        elimination.order.push_back(pivot);
    }
    return elimination;
}

}  // namespace eddy::inline v0
