#pragma once
// Where a square matrix may be non-zero, as a value: what orderings and plans are made of, at compile
// time or at run time.
// Test: tests/linalg/lu_plan.cpp

#include <cstddef>
#include <vector>

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
    explicit constexpr SquarePattern(int size)
        : size_(size), has_(static_cast<std::size_t>(size * size), 0) {}

    [[nodiscard]] constexpr int size() const { return size_; }
    [[nodiscard]] constexpr bool has(int row, int column) const { return has_[at(row, column)]; }
    constexpr void insert(int row, int column) { has_[at(row, column)] = 1; }

    [[nodiscard]] constexpr int num_entries() const {
        int count = 0;
        for (const char is_there : has_) count += is_there;
        return count;
    }
    /// Row by row.
    [[nodiscard]] constexpr std::vector<MatrixEntry> entries() const {
        std::vector<MatrixEntry> list;
        for (int row = 0; row < size_; ++row) {
            for (int column = 0; column < size_; ++column) {
                if (has(row, column)) list.push_back({row, column});
            }
        }
        return list;
    }

  private:
    [[nodiscard]] constexpr std::size_t at(int row, int column) const {
        return static_cast<std::size_t>(row * size_ + column);
    }
    int size_;
    std::vector<char> has_;
};

}  // namespace eddy::inline v0
