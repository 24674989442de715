#pragma once
// Threads of the caller's that a call may work on.
// Test: tests/backends/executor.cpp

#include <concepts>
#include <cstddef>
#include <eddy/backends/cpu/group_call.hpp>
#include <eddy/core/export.hpp>
#include <functional>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// Has work(0), …, work(num_workers − 1) called on threads of its own, or by the calling thread, in
/// any order: a team of OpenMP, an arena of oneTBB, a thread pool. It may wait for them or return at
/// once: the calling thread then takes what is left, and waits for those that have begun. `work` may
/// be copied, throws nothing, and does nothing once the call has ended.
template <class E>
concept RunsWorkers = requires(const E& executor, std::ptrdiff_t num_workers,
                               const std::function<void(std::ptrdiff_t)>& work) {
    executor(num_workers, work);
};

/// Any of them; empty: none. An empty one is a constant, so that `constexpr Cpu cpu{.threads = 4};`
/// may be written.
class EDDY_EXPORT Executor {
  public:
    constexpr Executor() = default;
    template <class Run>
    requires(!std::same_as<std::remove_cvref_t<Run>, Executor> && RunsWorkers<Run>)
        Executor(Run run)
        : run_(copy_of(std::move(run))) {}
    constexpr Executor(const Executor& other) {
        if (other.run_) run_ = copy_of(*other.run_);
    }
    constexpr Executor(Executor&& other) noexcept : run_(std::exchange(other.run_, nullptr)) {}
    constexpr Executor& operator=(Executor other) noexcept {
        std::swap(run_, other.run_);
        return *this;
    }
    constexpr ~Executor() {
        if (run_) release(run_);
    }

    [[nodiscard]] constexpr explicit operator bool() const { return run_ != nullptr; }

    /// Calls the work on every group, and returns when all are done; the first exception is thrown
    /// then. Where call.attends(), the calling thread attends while it waits for the others.
    void for_each_group(std::ptrdiff_t num_groups, std::ptrdiff_t num_workers,
                        const detail::GroupCall& call) const;

  private:
    using Callable =
        std::function<void(std::ptrdiff_t, const std::function<void(std::ptrdiff_t)>&)>;

    static const Callable* copy_of(Callable run) { return new Callable(std::move(run)); }
    static void release(const Callable* run) { delete run; }

    const Callable* run_ = nullptr;
};

}  // namespace eddy::inline v0
