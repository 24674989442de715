#pragma once
// Which samples a step of training takes: each epoch all of them once, in an order of its own. The batch of
// a step is a function of seed and step alone, so that a training that is taken up again meets the same.
// Test: tests/interop/train.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <span>
#include <vector>

namespace eddy::inline v0::train {

/// The samples of each step: a shuffled order for each epoch, which depends only on seed and step.
class EDDY_EXPORT Minibatches {
  public:
    /// Batches of `batch_size` of so many samples; those of an epoch's end that fill no batch are left out.
    Minibatches(std::ptrdiff_t num_samples, std::ptrdiff_t batch_size, std::uint64_t seed);

    /// The number of batches in one epoch.
    [[nodiscard]] std::int64_t per_epoch() const {
        return static_cast<std::int64_t>(order_.size()) / batch_size_;
    }
    /// The samples of a step; valid until the next call.
    [[nodiscard]] std::span<const std::ptrdiff_t> operator()(std::int64_t step);

  private:
    void shuffle(std::int64_t epoch);

    std::ptrdiff_t batch_size_;
    std::uint64_t seed_;
    std::int64_t epoch_ = -1;
    std::vector<std::ptrdiff_t> order_;
};

}  // namespace eddy::inline v0::train
