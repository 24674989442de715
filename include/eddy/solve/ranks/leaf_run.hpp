#pragma once
// A sum over all lanes of several processes, in the shape that it has on one machine (lane/lane_sums.hpp): leaves
// of 64 lanes in the order of the lanes, then pairs, pairs of pairs. A process holds a run of lanes. Of it is known
// what does not depend on the other lanes: sums of aligned subtrees that lie inside it, the beginning of the leaf that
// it ends in, and, lane by lane, the rest of a leaf that began before it, since that is added to what the process before
// has of the leaf. Two neighbouring runs make one; all runs together have the bits of one machine, however the
// lanes are divided. Of G leaves a run keeps less than 2 log2(G) + 2 sums and 64 lanes.
// Where rows lie on a device, a run consists of their names, and what would be added is written down (row_carrier.hpp).
// Test: tests/solve/ranks.cpp, tests/solve/row_carriers.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// What rows of a run consist of: columns, of which the last ones may be added in single precision.
struct LeafShape {
    std::int64_t lanes_per_leaf = 64;
    std::int64_t num_columns = 0;
    std::int64_t num_in_double = 0;  // the columns before; the others are in `float` where is_float
    bool is_float = false;

    friend bool operator==(const LeafShape&, const LeafShape&) = default;
};

/// Row `to` becomes row `to` + row `from`.
struct RowAdd {
    std::int32_t to, from;
};

class EDDY_EXPORT LeafRun {
  public:
    LeafRun() = default;
    LeafRun(const LeafShape& shape, std::int64_t first_lane)
        : shape_(shape), first_(first_lane), end_(first_lane) {}

    // What comes next, a row of numbers.

    void add_lane(const double* row);
    /// The sum of the next lanes of a leaf that begins here: all of it, or its beginning.
    void add_leaf(const double* sum, std::int64_t num_lanes);
    /// Appends another run, which begins where this one ends.
    void append(const LeafRun& next);

    /// The sum of all, of a run that begins with the first lane.
    [[nodiscard]] std::vector<double> total() const;

    [[nodiscard]] const LeafShape& shape() const { return shape_; }
    [[nodiscard]] std::int64_t num_lanes() const { return end_ - first_; }
    /// How many rows the run keeps.
    [[nodiscard]] std::int64_t num_rows() const;

    /// All of its rows, one after another.
    [[nodiscard]] std::vector<double> rows() const;
    /// A run of the names of its rows, which are numbers from `first` on. What is added from now on goes into `adds`.
    [[nodiscard]] LeafRun named(std::int64_t first, std::vector<RowAdd>& adds) const;

  private:
    /// The sum of leaves [first, first + 2^level).
    struct Node {
        std::int64_t first;
        int level;
    };
    [[nodiscard]] std::size_t row(std::size_t index) const {
        return index * static_cast<std::size_t>(shape_.num_columns);
    }
    void add_to(double* sum, const double* next) const;
    void push(std::int64_t leaf, int level, const double* sum);

    LeafShape shape_;
    std::int64_t first_ = 0, end_ = 0;
    std::vector<double> head_;    // (lane, column) of a leaf that began before
    std::vector<Node> nodes_;     // from left to right
    std::vector<double> values_;  // (node, column)
    std::vector<double> tail_;  // (column) of the leaf that begins here and does not end; or empty
    std::vector<RowAdd>* adds_ = nullptr;  // of names; null: rows are numbers

  public:
    /// What is sent of a run.
    static void members(auto& self, const auto& visit) {
        visit(self.shape_, self.first_, self.end_, self.head_, self.nodes_, self.values_,
              self.tail_);
    }
};

}  // namespace eddy::inline v0::detail
