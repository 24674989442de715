#pragma once
// What threads keep to work with, and their work on the groups of a launch.
// Test: tests/backends/backends.cpp

#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/backends/cpu/group_stores.hpp>
#include <eddy/backends/cpu/thread_team.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/group/gradient_memory.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// What one thread works with.
struct ThreadWorker {
    ArenaMemory memory;
    GroupStores stores;
};

/// The stores of the placement, (worker).
struct StoresOfThreads {
    ThreadWorker* workers = nullptr;

    [[nodiscard]] GroupStores& operator()(std::ptrdiff_t worker) const {
        return workers[worker].stores;
    }
};

/// Kept from call to call; a copy begins empty.
class EDDY_EXPORT ThreadWorkers {
  public:
    ThreadWorkers() noexcept;
    ThreadWorkers(const ThreadWorkers&) noexcept;
    ThreadWorkers(ThreadWorkers&&) noexcept;
    ThreadWorkers& operator=(ThreadWorkers other) noexcept;
    ~ThreadWorkers();

    [[nodiscard]] ThreadWorker* at_least(std::ptrdiff_t count);
    [[nodiscard]] StoresOfThreads stores(const GradientPlan& plan, std::ptrdiff_t count);

  private:
    std::vector<ThreadWorker> workers_;
};

/// The work on one group.
template <class Kernel>
struct ThreadWork {
    using Team = ThreadTeamFor<typename Kernel::Spec>;

    const LaunchPlan& plan;
    const Kernel& kernel;
    ThreadLink link;
    ThreadWorker* workers;  // (worker)
    std::size_t num_bytes = arena_bytes<Team>(kernel);

    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group) const {
        Team team(link, plan, worker, group);
        kernel(team, workers[worker].memory.arena(num_bytes));
    }
    /// Has the calling thread something to do while it waits for the others, about every 50 ms?
    [[nodiscard]] bool attends() const { return link.call->has_poll(); }
    void attend() const { link.call->poll(); }
};

}  // namespace eddy::inline v0::detail
