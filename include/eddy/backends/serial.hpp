#pragma once
// The reference backend: one lane at a time, in plain numbers, on the calling thread. Short,
// obvious, never tuned: what every other backend is tested against.

#include <cstddef>

namespace eddy {

struct Serial {
    struct backend_tag {};

    /// The type of number that lanes of `Real` are computed in.
    template <class Real>
    using Lanes = Real;

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t) const { return 1; }

    /// Calls work(worker, group) for every group.
    template <class Work>
    void for_each_group(std::ptrdiff_t num_groups, Work&& work) const {
        for (std::ptrdiff_t group = 0; group < num_groups; ++group) work(0, group);
    }
};

}  // namespace eddy
