#pragma once
// The CPU: lanes in SIMD packs, groups of lanes over threads. Which thread works on a group depends
// on chance; what comes out does not.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <eddy/core/error.hpp>
#include <eddy/core/pack.hpp>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace eddy {

struct Cpu {
    struct backend_tag {};

    int threads = 0;  ///< 0: as many as the machine runs at once

    /// The type of number that lanes of `Real` are computed in: one native vector. Wider packs run
    /// out of registers.
    template <class Real>
    using Lanes = Pack<Real, native_lanes<Real>>;

    void require_valid(const char* where) const {
        require_argument(threads >= 0, [&] {
            return std::string(where) + ": Cpu with threads = " + std::to_string(threads) +
                   "; give at least 1, or 0 for as many as the machine runs at once";
        });
    }

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        if (num_groups <= 1 || threads == 1) return 1;
        // Asked only where it matters: the C library reads a file for it, which takes longer than
        // one small trajectory.
        const auto available = static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
        const std::ptrdiff_t wanted = threads > 0 ? threads : available;
        return std::max<std::ptrdiff_t>(1, std::min(wanted, num_groups));
    }

    /// Calls work(worker, group) for every group; a worker takes one group at a time. The first
    /// exception ends the call once all workers have stopped.
    template <class Work>
    void for_each_group(std::ptrdiff_t num_groups, Work&& work) const {
        std::atomic<std::ptrdiff_t> next{0};
        std::exception_ptr failure;
        std::mutex failing;
        const auto run = [&](std::ptrdiff_t worker) {
            try {
                for (std::ptrdiff_t group; (group = next.fetch_add(1)) < num_groups;)
                    work(worker, group);
            } catch (...) {
                next.store(num_groups);
                const std::lock_guard lock(failing);
                if (!failure) failure = std::current_exception();
            }
        };
        {
            std::vector<std::jthread> others;
            const std::ptrdiff_t workers = num_workers(num_groups);
            if (workers > 1) others.reserve(static_cast<std::size_t>(workers - 1));
            for (std::ptrdiff_t worker = 1; worker < workers; ++worker)
                others.emplace_back(run, worker);
            run(0);
        }
        if (failure) std::rethrow_exception(failure);
    }
};

}  // namespace eddy
