// Waiting for what a call has left running.

#include <eddy/solve/call/unfinished.hpp>
#include <mutex>

namespace eddy::inline v0::detail {
namespace {

/// A result is finished within another's: a gradient's, that of its backend.
std::recursive_mutex& one_waits() {
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace

void Unfinished::wait_once() const {
    const std::lock_guard lock(one_waits());
    if (is_waiting_.load(std::memory_order_relaxed)) finish();
}

void Unfinished::wait() const {
    if (finish_ == nullptr) return;
    const std::lock_guard lock(one_waits());
    finish();
}

void Unfinished::finish() const {
    finish_(of_);
    is_waiting_.store(false, std::memory_order_release);
}

}  // namespace eddy::inline v0::detail
