#pragma once
// Threads that work on the groups of a call, kept from call to call. The calling thread begins
// alone; others are called in while it works, once the call has taken as long as calling them
// costs: small calls never pay for threads. Which thread takes a group depends on chance.
// Test: tests/backends/backends.cpp, tests/backends/processor_limits.cpp

#include <cstddef>
#include <eddy/backends/cpu/group_call.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <memory>

namespace eddy::inline v0 {

class EDDY_EXPORT KeptThreads {
  public:
    KeptThreads() noexcept;
    /// Waits for no work: between calls there is none.
    ~KeptThreads();
    /// A copy begins without threads.
    KeptThreads(const KeptThreads&) noexcept;
    KeptThreads(KeptThreads&&) noexcept;
    KeptThreads& operator=(KeptThreads) noexcept;

    /// Calls work(worker, group) for every group; a worker, one of `most_workers`, takes one group
    /// at a time. Where work.attends(), the calling thread calls work.attend() now and then while it
    /// waits for the others. The first exception ends the call once all workers have stopped. A thread that
    /// cannot be started is done without.
    template <class Work>
    void for_each_group(std::ptrdiff_t num_groups, std::ptrdiff_t most_workers, Work& work) {
        if (num_groups <= 1 || most_workers <= 1) {
            for (std::ptrdiff_t group = 0; group < num_groups; ++group) work(0, group);
            return;
        }
        run(num_groups, most_workers, detail::GroupCall(work));
    }

    /// May be called from within the work, now and then: others are called in if it is time. Cheap.
    void call_others() noexcept;
    /// Would `call_others` have any effect?
    [[nodiscard]] bool may_call_others() const noexcept;

    /// Threads that have been started, besides the caller's.
    [[nodiscard]] std::ptrdiff_t num_started() const;

    /// As many threads as this process may run at once: the processors of its affinity, at most the quota of its control
    /// groups, at most OMP_NUM_THREADS. Asked once, when it is first needed.
    [[nodiscard]] static std::ptrdiff_t num_available();

  private:
    void run(std::ptrdiff_t num_groups, std::ptrdiff_t most_workers, const detail::GroupCall& call);

    class Crew;
    std::unique_ptr<Crew> crew_;  // null until a call has more than one group
};

namespace detail {

/// `threads` of a backend: at least 1, or 0 for as many as this process may run at once.
inline void require_threads(int threads, const char* backend, const char* where) {
    require_argument(threads >= 0,
                     "{}: {} with threads = {}; give at least 1, or 0 for as many as this "
                     "process may run at once",
                     where, backend, threads);
}
/// How many of the threads work on so many groups.
[[nodiscard]] inline std::ptrdiff_t workers_of_threads(int threads, std::ptrdiff_t num_groups) {
    if (num_groups <= 1 || threads == 1) return 1;
    const std::ptrdiff_t wanted = threads > 0 ? threads : KeptThreads::num_available();
    return wanted < num_groups ? wanted : num_groups;
}

}  // namespace detail
}  // namespace eddy::inline v0
