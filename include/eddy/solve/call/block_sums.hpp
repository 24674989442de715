#pragma once
// Between the sums of blocks of lanes and their totals: whatever is added over lanes, the loss and the
// gradients of shared parameters, passes here, so that processes which share the lanes can put
// their blocks together (SolveOptions::gather_sums).
// Test: tests/solve/processes.cpp

#include <cstddef>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// (block, column), in double: a sum of floats is one exactly.
class BlockSums {
  public:
    [[nodiscard]] const double* row(std::ptrdiff_t block) const {
        return values_.data() + block * num_columns_;
    }
    [[nodiscard]] std::ptrdiff_t num_rows() const {
        return num_columns_ == 0 ? 0 : std::ssize(values_) / num_columns_;
    }
    void reset(std::ptrdiff_t num_blocks, std::ptrdiff_t num_columns) {
        num_columns_ = num_columns;
        values_.assign(static_cast<std::size_t>(num_blocks * num_columns), 0.);
    }
    [[nodiscard]] double& operator()(std::ptrdiff_t block, std::ptrdiff_t column) {
        return values_[static_cast<std::size_t>(block * num_columns_ + column)];
    }
    /// Blocks of other processes come in, where there are any.
    void gather(const GatherSums& gather, const char* where) {
        if (!gather) return;
        const bool had_some = !values_.empty();
        gather(values_, num_columns_);
        require_argument(
            !had_some || !values_.empty(),
            "{}: gather_sums has left nothing; leave this process's blocks among those "
            "of all",
            where);
        require_argument(values_.size() % static_cast<std::size_t>(num_columns_) == 0,
                         "{}: gather_sums has left {} numbers in rows of {}; give whole rows",
                         where, values_.size(), num_columns_);
    }
    /// The sum over the blocks of a column, in the shape of sum_over_lanes.
    template <class Real>
    [[nodiscard]] Real total(std::ptrdiff_t column) const {
        const auto step = static_cast<std::size_t>(num_columns_);
        auto at = static_cast<std::size_t>(column);
        if (values_.size() == step) return static_cast<Real>(values_[at]);  // no pairs to prepare
        PairwiseSum<Real> sum;
        for (; at < values_.size(); at += step) sum.add(static_cast<Real>(values_[at]));
        return sum.total();
    }

  private:
    std::vector<double> values_;
    std::ptrdiff_t num_columns_ = 0;
};

}  // namespace eddy::inline v0::detail
