#pragma once
// In which order the unknowns of a sparse system are eliminated, so that little is filled in: at each
// step the diagonal entry whose row and column are the shortest of what is left, argmin (r − 1)(c − 1)
// (Markowitz 1957, Manag. Sci. 3(3), 255–269, restricted to the diagonal). Ties go to the smaller
// r + c, then to the smaller index: the order depends on the pattern alone.
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

constexpr Degrees degrees_of(const SquarePattern& pattern, const std::vector<char>& is_left,
                             int unknown) {
    Degrees degrees;
    for (int other = 0; other < pattern.size(); ++other) {
        if (other == unknown || !is_left[static_cast<std::size_t>(other)]) continue;
        degrees.row += pattern.has(unknown, other) ? 1 : 0;
        degrees.column += pattern.has(other, unknown) ? 1 : 0;
    }
    return degrees;
}

/// Adds to the pattern what the elimination of an unknown fills in.
constexpr void fill_in(SquarePattern& pattern, const std::vector<char>& is_left, int unknown) {
    for (int row = 0; row < pattern.size(); ++row) {
        if (!is_left[static_cast<std::size_t>(row)] || !pattern.has(row, unknown)) continue;
        for (int column = 0; column < pattern.size(); ++column) {
            if (is_left[static_cast<std::size_t>(column)] && pattern.has(unknown, column))
                pattern.insert(row, column);
        }
    }
}

}  // namespace detail

/// An order of elimination, and the entries of L and U that it leads to.
struct Elimination {
    std::vector<int> order;  // order[k]: the unknown whose diagonal entry is the k-th pivot
    SquarePattern filled;
};

/// The elimination of a pattern whose diagonal is part of it. Degrees are counted once, and again only where a
/// pivot's row or column reaches: counting all of them for each pivot took compilers most of the time that they had for
/// a hundred states.
[[nodiscard]] constexpr Elimination eliminate(SquarePattern pattern) {
    const int size = pattern.size();
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    std::vector<char> is_left(at(size), 1);
    std::vector<detail::Degrees> degrees(at(size));
    for (int i = 0; i < size; ++i) degrees[at(i)] = detail::degrees_of(pattern, is_left, i);
    std::vector<int> order;
    for (int k = 0; k < size; ++k) {
        int best = -1;
        for (int i = 0; i < size; ++i) {
            if (is_left[at(i)] && (best < 0 || degrees[at(i)].precede(degrees[at(best)]))) best = i;
        }
        is_left[at(best)] = 0;
        detail::fill_in(pattern, is_left, best);
        for (int i = 0; i < size; ++i) {
            if (is_left[at(i)] && (pattern.has(i, best) || pattern.has(best, i)))
                degrees[at(i)] = detail::degrees_of(pattern, is_left, i);
        }
        order.push_back(best);
    }
    return {order, pattern};
}

}  // namespace eddy::inline v0
