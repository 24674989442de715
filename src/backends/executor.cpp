#include <atomic>
#include <chrono>
#include <condition_variable>
#include <eddy/backends/cpu/executor.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace eddy::inline v0 {

namespace {

/// A call whose groups workers take as they come. They get their numbers here, so that an executor
/// that runs one of them twice, or late, does no harm: what it holds outlives the call.
class SharedGroups {
  public:
    SharedGroups(std::ptrdiff_t num_groups, std::ptrdiff_t num_workers,
                 const detail::GroupCall& call)
        : num_groups_(num_groups), num_workers_(num_workers), call_(&call) {}

    /// One worker, from its beginning to its end. The calling thread sees the others out, for it may
    /// have something to do meanwhile.
    void work() noexcept {
        const std::ptrdiff_t worker = enter();
        if (worker < 0) return;
        take_groups(worker);
        leave();
        if (std::this_thread::get_id() == caller_) wait_for_others();
    }
    /// What is left is not to be done.
    void abandon() noexcept { next_.store(num_groups_, std::memory_order_relaxed); }
    /// For the calling thread, in the end: nobody works on a group any more.
    void finish() {
        work();
        wait_for_others();
        // Handed over, not shared: a worker may outlive the call, and what was thrown must not.
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    /// The number of a worker, or −1 where there are enough.
    std::ptrdiff_t enter() {
        const std::lock_guard lock(mutex_);
        if (num_entered_ == num_workers_) return -1;
        ++num_active_;
        return num_entered_++;
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        --num_active_;
        done_.notify_all();
    }
    void wait_for_others() {
        const auto are_done = [this] { return num_active_ == 0; };
        std::unique_lock lock(mutex_);
        if (!call_->attends()) return done_.wait(lock, are_done);
        while (!done_.wait_for(lock, std::chrono::milliseconds(25), are_done)) {
            lock.unlock();
            call_->attend();
            lock.lock();
        }
    }
    void take_groups(std::ptrdiff_t worker) {
        try {
            for (std::ptrdiff_t group;
                 (group = next_.fetch_add(1, std::memory_order_relaxed)) < num_groups_;)
                (*call_)(worker, group);
        } catch (...) {
            abandon();
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    const std::ptrdiff_t num_groups_, num_workers_;
    const detail::GroupCall* const call_;  // as long as there are groups left
    const std::thread::id caller_ = std::this_thread::get_id();
    std::atomic<std::ptrdiff_t> next_{0};  // the first group that no one has taken
    std::mutex mutex_;
    std::condition_variable done_;
    std::ptrdiff_t num_entered_ = 0, num_active_ = 0;
    std::exception_ptr failure_;
};

}  // namespace

void Executor::for_each_group(std::ptrdiff_t num_groups, std::ptrdiff_t num_workers,
                              const detail::GroupCall& call) const {
    const auto groups = std::make_shared<SharedGroups>(num_groups, num_workers, call);
    try {
        (*run_)(num_workers, [groups](std::ptrdiff_t) { groups->work(); });
    } catch (...) {
        groups->abandon();
        groups->finish();
        throw;
    }
    groups->finish();
}

}  // namespace eddy::inline v0
