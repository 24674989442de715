#pragma once
// The CPU: lanes in SIMD packs, groups of lanes over threads. Which thread works on a group depends
// on chance; what comes out does not.

#include <algorithm>
#include <cstddef>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/pack.hpp>
#include <string>

namespace eddy {

struct Cpu {
    struct backend_tag {};

    int threads = 0;  ///< 0: as many as the machine runs at once

    /// The type of number that lanes of `Real` are computed in: one native vector. Wider packs run
    /// out of registers.
    template <class Real>
    using Lanes = Pack<Real, native_lanes<Real>>;

    void require_valid(const char* where) const {
        require_argument(threads >= 0,
                         "{}: Cpu with threads = {}; give at least 1, or 0 for as many as the "
                         "machine runs at once",
                         where, threads);
    }

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        if (num_groups <= 1 || threads == 1) return 1;
        const std::ptrdiff_t wanted = threads > 0 ? threads : KeptThreads::num_available();
        return std::min(wanted, num_groups);
    }

    /// What a solver object keeps for its calls.
    using Threads = KeptThreads;

    /// Calls work(worker, group) for every group: see kept_threads.hpp.
    template <class Work>
    void for_each_group(KeptThreads& kept, std::ptrdiff_t num_groups, Work&& work) const {
        kept.for_each_group(num_groups, num_workers(num_groups), work);
    }
};

}  // namespace eddy
