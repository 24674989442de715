#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <eddy/backends/kept_threads.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "processor_limits.hpp"

namespace eddy::inline v0 {

namespace {

using Clock = std::chrono::steady_clock;

// Others are called in when a call has taken this long, and further threads are started at this
// interval: what waking and starting them costs where the machine is busy. Calls that are shorter
// would gain little, and lose much whenever another process holds the processor of a helper.
constexpr auto worth_waking = std::chrono::microseconds(50);
constexpr auto worth_starting = std::chrono::microseconds(200);
// How long the caller spins for the end of the others' work before it sleeps.
constexpr auto time_to_spin = std::chrono::microseconds(50);
constexpr auto time_between_attending = std::chrono::milliseconds(25);

/// Waits a little for `condition`, without going to sleep: others may have the processor meanwhile.
template <class Condition>
void spin_until(Condition condition) {
    const auto end = Clock::now() + time_to_spin;
    while (!condition() && Clock::now() < end) std::this_thread::yield();
}

}  // namespace

class KeptThreads::Crew {
  public:
    ~Crew() {
        {
            const std::lock_guard lock(mutex_);
            is_leaving_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    void run(std::ptrdiff_t num_groups, std::ptrdiff_t most_helpers,
             const detail::GroupCall& call) {
        {
            const std::lock_guard lock(mutex_);
            call_ = call;
            num_groups_ = num_groups;
            next_.store(0, std::memory_order_relaxed);
            failure_ = nullptr;
            most_helpers_ = std::min(most_helpers, num_groups - 1);
            num_called_ = num_entered_ = 0;
            is_open_ = true;
            begin_ = Clock::now();
            may_call_.store(true, std::memory_order_relaxed);
        }
        work_on_groups(0);
        {
            const std::lock_guard lock(mutex_);
            is_open_ = false;
            may_call_.store(false, std::memory_order_relaxed);
        }
        // Whoever was called but has not come is not waited for.
        const auto are_done = [this] { return num_active_.load(std::memory_order_acquire) == 0; };
        spin_until(are_done);
        if (!are_done()) {
            std::unique_lock lock(mutex_);
            if (!call.attends()) done_.wait(lock, are_done);
            while (!done_.wait_for(lock, time_between_attending, are_done)) {
                lock.unlock();
                call.attend();
                lock.lock();
            }
        }
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    [[nodiscard]] bool may_call_others() const noexcept {
        return may_call_.load(std::memory_order_relaxed);
    }

    void call_others() noexcept {
        if (!may_call_others()) return;
        const auto elapsed = Clock::now() - begin_;
        if (elapsed < worth_waking) return;
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock() || !is_open_) return;
        const std::ptrdiff_t left =
            std::max<std::ptrdiff_t>(0, num_groups_ - next_.load(std::memory_order_relaxed));
        const std::ptrdiff_t wanted = std::min(most_helpers_, num_entered_ + left);
        start_threads(std::min<std::ptrdiff_t>(wanted, elapsed / worth_starting));
        const std::ptrdiff_t there = std::min(wanted, num_threads());
        for (; num_called_ < there; ++num_called_) wake_.notify_one();
        if (num_called_ >= wanted) may_call_.store(false, std::memory_order_relaxed);
    }

    [[nodiscard]] std::ptrdiff_t num_started() {
        const std::lock_guard lock(mutex_);
        return num_threads();
    }

  private:
    [[nodiscard]] std::ptrdiff_t num_threads() const {
        return static_cast<std::ptrdiff_t>(threads_.size());
    }

    // The next two with the mutex held.

    void start_threads(std::ptrdiff_t wanted) noexcept {
        try {
            while (num_threads() < wanted) threads_.emplace_back([this] { help(); });
        } catch (...) {
            most_helpers_ = num_threads();  // the system has no more to give
        }
    }
    [[nodiscard]] bool has_place() const {
        return is_open_ && num_entered_ < num_called_ &&
               next_.load(std::memory_order_relaxed) < num_groups_;
    }

    /// What a thread does as long as it lives.
    void help() {
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [this] { return is_leaving_ || has_place(); });
            if (is_leaving_) return;
            const std::ptrdiff_t worker = ++num_entered_;
            num_active_.fetch_add(1, std::memory_order_relaxed);
            lock.unlock();
            work_on_groups(worker);
            lock.lock();
            if (num_active_.fetch_sub(1, std::memory_order_release) == 1) done_.notify_one();
        }
    }

    void work_on_groups(std::ptrdiff_t worker) {
        try {
            for (std::ptrdiff_t group;
                 (group = next_.fetch_add(1, std::memory_order_relaxed)) < num_groups_;) {
                call_(worker, group);
                call_others();
            }
        } catch (...) {
            next_.store(num_groups_, std::memory_order_relaxed);
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    bool is_leaving_ = false;

    // The call that is being worked on. What is not atomic changes only while no one works.
    detail::GroupCall call_;
    std::ptrdiff_t num_groups_ = 0;
    Clock::time_point begin_;
    std::atomic<std::ptrdiff_t> next_{0};  // the first group that no one has taken
    std::atomic<bool> may_call_{false};
    std::atomic<std::ptrdiff_t> num_active_{0};  // threads at work, without the caller's
    // With the mutex held:
    bool is_open_ = false;
    std::ptrdiff_t most_helpers_ = 0, num_called_ = 0, num_entered_ = 0;
    std::exception_ptr failure_;
};

KeptThreads::KeptThreads() noexcept = default;
KeptThreads::~KeptThreads() = default;
KeptThreads::KeptThreads(const KeptThreads&) noexcept {}
KeptThreads::KeptThreads(KeptThreads&&) noexcept = default;
KeptThreads& KeptThreads::operator=(KeptThreads other) noexcept {
    crew_ = std::move(other.crew_);
    return *this;
}

void KeptThreads::run(std::ptrdiff_t num_groups, std::ptrdiff_t most_workers,
                      const detail::GroupCall& call) {
    if (!crew_) crew_ = std::make_unique<Crew>();
    crew_->run(num_groups, most_workers - 1, call);
}
void KeptThreads::call_others() noexcept {
    if (crew_) crew_->call_others();
}
bool KeptThreads::may_call_others() const noexcept { return crew_ && crew_->may_call_others(); }
std::ptrdiff_t KeptThreads::num_started() const { return crew_ ? crew_->num_started() : 0; }

std::ptrdiff_t KeptThreads::num_available() {
    static const std::ptrdiff_t available = detail::threads_of_this_process();
    return available;
}

}  // namespace eddy::inline v0
