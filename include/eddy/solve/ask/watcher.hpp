#pragma once
// Who wants to know how far a call is. A call only counts; what is made of the counts, such as a bar
// on a terminal (interop/progress.hpp), is up to those who watch.
// Test: tests/interop/progress.cpp

#include <atomic>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// What has been done so far. Any thread may add and read, as often as it likes: relaxed atomics.
class CallCounts {
  public:
    void add(std::int64_t lanes_done, std::int64_t accepted, std::int64_t rejected) noexcept {
        lanes_done_.fetch_add(lanes_done, std::memory_order_relaxed);
        accepted_.fetch_add(accepted, std::memory_order_relaxed);
        rejected_.fetch_add(rejected, std::memory_order_relaxed);
    }
    /// A lane that was cancelled, or that another method has yet to solve, is not done, but its steps
    /// were made.
    void add(const LaneOutcome& outcome) noexcept {
        const bool is_left = outcome.method != 0 && outcome.result != Result::success;
        const bool is_done = outcome.result != Result::cancelled && !is_left;
        add(is_done ? 1 : 0, outcome.accepted, outcome.rejected);
    }
    [[nodiscard]] std::int64_t lanes_done() const noexcept {
        return lanes_done_.load(std::memory_order_relaxed);
    }
    /// Steps.
    [[nodiscard]] std::int64_t accepted() const noexcept {
        return accepted_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t rejected() const noexcept {
        return rejected_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::int64_t> lanes_done_{0}, accepted_{0}, rejected_{0};
};

/// A running call, as a progress watcher receives it.
struct WatchedCall {
    const char* title;         ///< "solve", "value_and_gradient", …
    std::int64_t num_lanes;    ///< number of trajectories of the call
    const CallCounts* counts;  ///< its progress; any thread may read it
    /// True if the call has a `poll` function, which handles Ctrl-C itself.
    bool has_poll;
    /// The argument of `stop`. Any thread may call stop(call), which cancels the trajectories that
    /// have not ended.
    void* call;
    void (*stop)(void* call);  ///< cancels the call: see `call`
};

/// Watches calls: what it returns lives until the call ends; nothing, where it does not care.
class EDDY_EXPORT Watcher {
  public:
    /// True: a bar on standard error.
    Watcher(bool bar = false) {
        if (bar) show_bar();
    }
    /// begin(call) is called when a call begins.
    template <class Begin>
    requires std::is_invocable_r_v < std::shared_ptr<void>,
    const Begin&, const WatchedCall& > Watcher(Begin begin) : begin_(std::move(begin)) {}

    Watcher(const Watcher&);
    Watcher(Watcher&&) noexcept;
    Watcher& operator=(const Watcher&);
    Watcher& operator=(Watcher&&) noexcept;
    ~Watcher();

    [[nodiscard]] std::shared_ptr<void> begin(const WatchedCall& call) const {
        return begin_ ? begin_(call) : nullptr;
    }

  private:
    void show_bar();  // beside the bar, so that it is linked where it is asked for

    std::function<std::shared_ptr<void>(const WatchedCall&)> begin_;
};

}  // namespace eddy::inline v0
