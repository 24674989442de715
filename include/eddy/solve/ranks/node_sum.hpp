#pragma once
// A sum over lanes of which parts come in any order: aligned subtrees of leaves of 64 lanes (lane/lane_sums.hpp), as
// ranks that take work from each other have them. Two that are siblings become one, so that the whole has the bits
// of one machine.
// Test: tests/solve/stealing.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <vector>

namespace eddy::inline v0::detail {

class EDDY_EXPORT NodeSum {
  public:
    /// The sum of leaves [first, first + 2^level).
    struct Node {
        std::int64_t first = 0;
        std::int32_t level = 0;
        std::vector<double> values;

        static void members(auto& self, const auto& visit) {
            visit(self.first, self.level, self.values);
        }
    };

    NodeSum() = default;
    /// Of numbers that are added in `float`, or not.
    explicit NodeSum(bool is_float) : is_float_(is_float) {}

    /// Its subtree is in no other one.
    void add(Node node);
    void append(const NodeSum& other);
    [[nodiscard]] std::int64_t num_nodes() const {
        return static_cast<std::int64_t>(nodes_.size());
    }
    /// The sum of all leaves, all of which have come; what is left over at the end joins from the right. Of none: {}.
    [[nodiscard]] std::vector<double> total() const;

  private:
    void add_to(std::vector<double>& sum, const std::vector<double>& next) const;

    bool is_float_ = false;
    std::vector<Node> nodes_;  // from left to right; no two are siblings

  public:
    /// What is sent of it.
    static void members(auto& self, const auto& visit) { visit(self.is_float_, self.nodes_); }
};

}  // namespace eddy::inline v0::detail
